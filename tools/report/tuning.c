// What `ingot tune` measured at the page's sizes: the lines of NAME.tuned.log.

#include "tools/report/report.h"

#include "tools/ingot/cli.h"

#include <unistd.h>

// Return the path of the log beside the file, or NULL if there is none.
static const char *log_path(struct report *r)
{
    const char *slash = strrchr(r->path, '/');
    const char *dot = strrchr(slash ? slash : r->path, '.');
    size_t n = dot ? (size_t)(dot - r->path) : strlen(r->path);
    const char *path =
        arena_printf(&r->c->arena, "%.*s.tuned.log", (int)n, r->path);
    return strcmp(r->path, "-") == 0 || access(path, R_OK) ? NULL : path;
}

// Return whether a record is of the kernel at these sizes.
static bool is_ours(const struct report *r, const struct record *one)
{
    const struct ir_kernel *k = r->problem->kernel;
    bool same = strcmp(one->kernel, k->name) == 0;
    for (size_t i = 0; i < k->params.n && same; i++)
        vec_foreach(size, &one->sizes)
            if (k->params.at[i].var &&
                strcmp(k->params.at[i].var->name, size->name) == 0)
                same &= r->problem->values[i].scalar.i == size->value;
    return same;
}

// Return which schedule a record is of.
static json_t *origin(const struct record *one)
{
    struct buf text = {0};
    buf_text(&text, one->from == RECORD_BUILD  ? "what a build takes"
                    : one->from == RECORD_RULE ? one->rule
                                               : "schedule");
    if (one->from != RECORD_BUILD)
        buf_printf(&text, " %zu", one->number);
    vec_foreach(set, &one->settings)
        buf_printf(&text, " %s=%lld", set->name, (long long)set->value);
    json_t *out = json_text(text.data);
    buf_free(&text);
    return out;
}

// Return a record.
static json_t *record_json(const struct record *one)
{
    json_t *object = json_object();
    json_object_set_new(object, "schedule", origin(one));
    json_object_set_new(object, "device", json_text(one->device));
    json_object_set_new(object, "arch", json_text(one->arch));
    json_object_set_new(object, "state", json_text(one->state));
    json_object_set_new(object, "build",
                        json_boolean(one->from == RECORD_BUILD));
    if (one->why)
        json_object_set_new(object, "why", json_text(one->why));
    if (one->us > 0)
        json_set_real(object, "us", one->us);
    return object;
}

json_t *report_tuning(struct report *r)
{
    struct buf text = {0};
    struct diag_list quiet = {.arena = &r->c->arena};
    json_t *list = json_array();
    const char *path = log_path(r);
    bool is_read = path && cli_read(path, &text, &quiet) && text.n;
    for (const char *line = text.data; is_read && *line;) {
        struct record one;
        const char *at = line, *end = line + strcspn(line, "\n");
        if (record_read(&r->c->arena, &r->c->names, &at, &one) &&
            is_ours(r, &one))
            json_array_append_new(list, record_json(&one));
        line = end + (*end != '\0');
    }
    buf_free(&text);
    return list;
}
