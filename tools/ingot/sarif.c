// A log has one run: the rules that its results name, and the results.

#include "tools/ingot/sarif.h"

#include "tools/ingot/json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA                                                                 \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"               \
    "sarif-schema-2.1.0.json"

// Return {"text": ...}.
static json_t *message(const char *text)
{
    return json_pack("{s:o}", "text", json_text(text));
}

// Return the place of a span.
static json_t *location(struct span span)
{
    struct source_line from = source_line(span.source, span.from);
    struct source_line to = source_line(span.source, span.to);
    json_t *region =
        json_pack("{s:i, s:i, s:i, s:i}", "startLine", (int)from.number,
                  "startColumn", (int)from.column, "endLine", (int)to.number,
                  "endColumn", (int)to.column);
    return json_pack("{s:{s:{s:o}, s:o}}", "physicalLocation",
                     "artifactLocation", "uri", json_text(span.source->name),
                     "region", region);
}

// Return the text of a diagnostic with the notes that have no place.
static const char *full_text(struct arena *a, const struct diag *d)
{
    const char *text = d->text;
    if (d->label)
        text = arena_printf(a, "%s, %s", text, d->label);
    for (size_t i = 0; i < d->notes.n; i++)
        if (!d->notes.at[i].span.source)
            text = arena_printf(a, "%s\n%s", text, d->notes.at[i].text);
    return text;
}

// Return the other places of a diagnostic.
static json_t *related(const struct diag *d)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->notes.n; i++) {
        if (!d->notes.at[i].span.source)
            continue;
        json_t *one = location(d->notes.at[i].span);
        json_object_set_new(one, "message", message(d->notes.at[i].text));
        json_array_append_new(list, one);
    }
    return list;
}

// Return the steps of one of those who are in a trace; they are numbered over
// all.
static json_t *thread_flow(const struct diag *d, const char *who)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->steps.n; i++) {
        const struct diag_step *step = &d->steps.at[i];
        if (strcmp(step->who, who) != 0)
            continue;
        json_t *one = step->span.source ? location(step->span) : json_object();
        json_object_set_new(one, "message", message(step->what));
        json_array_append_new(list, json_pack("{s:o, s:i}", "location", one,
                                              "executionOrder", (int)i + 1));
    }
    return json_pack("{s:o, s:o}", "id", json_text(who), "locations", list);
}

// Return whether a step is the first by whom it is.
static bool is_first(const struct diag *d, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(d->steps.at[i].who, d->steps.at[at].who) == 0)
            return false;
    return true;
}

// Return the trace of a diagnostic.
static json_t *code_flows(const struct diag *d)
{
    json_t *flows = json_array();
    for (size_t i = 0; i < d->steps.n; i++)
        if (is_first(d, i))
            json_array_append_new(flows, thread_flow(d, d->steps.at[i].who));
    return json_pack("[{s:o, s:o}]", "message", message(d->trace),
                     "threadFlows", flows);
}

void sarif_add(json_t *results, const struct diag_list *diags)
{
    for (size_t i = 0; i < diags->all.n; i++) {
        const struct diag *d = &diags->all.at[i];
        json_t *result = json_object();
        json_object_set_new(result, "ruleId",
                            json_text(diag_code_text(d->code)));
        json_object_set_new(result, "level",
                            json_text(diag_severity_text(d->severity)));
        json_object_set_new(result, "message",
                            message(full_text(diags->arena, d)));
        if (d->span.source)
            json_object_set_new(result, "locations",
                                json_pack("[o]", location(d->span)));
        json_object_set_new(result, "relatedLocations", related(d));
        if (d->trace && d->steps.n)
            json_object_set_new(result, "codeFlows", code_flows(d));
        json_array_append_new(results, result);
    }
}

// Return whether a result is of a rule.
static bool names_rule(json_t *results, const char *rule)
{
    size_t i;
    json_t *one;
    json_array_foreach(
        results, i,
        one) if (strcmp(json_string_value(json_object_get(one, "ruleId")),
                        rule) == 0) return true;
    return false;
}

// Return the rules of which there are results.
static json_t *rules_of(json_t *results)
{
    json_t *rules = json_array();
    for (int code = 0; code < D_COUNT; code++) {
        const char *id = diag_code_text((enum diag_code)code);
        if (!names_rule(results, id))
            continue;
        json_t *text = message(diag_explanation((enum diag_code)code));
        json_array_append_new(
            rules, json_pack("{s:s, s:o}", "id", id, "fullDescription", text));
    }
    return rules;
}

bool sarif_write(json_t *results, const char *path, struct diag_list *diags)
{
    json_t *driver = json_pack("{s:s, s:s, s:o}", "name", "ingot", "version",
                               INGOT_VERSION, "rules", rules_of(results));
    json_t *log =
        json_pack("{s:s, s:s, s:[{s:{s:o}, s:s, s:O}]}", "$schema", SCHEMA,
                  "version", "2.1.0", "runs", "tool", "driver", driver,
                  "columnKind", "unicodeCodePoints", "results", results);
    bool ok = log && json_dump_file(log, path, JSON_INDENT(2)) == 0;
    json_decref(log);
    if (!ok)
        diag_error(diags, (struct span){0}, D_output_failed, path,
                   strerror(errno));
    return ok;
}
