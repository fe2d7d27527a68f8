// Makes and prints JSON.

#include "tools/ingot/json.h"

#include "tools/ingot/cli.h"

#include <math.h>
#include <stdlib.h>

json_t *json_text(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    if (value)
        return value;
    struct buf plain = {0};
    for (; *text; text++)
        buf_char(&plain, *text < ' ' || *text > '~' ? '?' : *text);
    value = json_stringn(plain.data, plain.n);
    buf_free(&plain);
    return value;
}

void json_set_place(json_t *object, struct span span)
{
    if (!span.source)
        return;
    struct source_line line = source_line(span.source, span.from);
    json_object_set_new(object, "file", json_text(span.source->name));
    json_object_set_new(object, "line", json_integer(line.number));
    json_object_set_new(object, "column", json_integer(line.column));
}

// Return one diagnostic.
static json_t *diagnostic(const struct diag *d)
{
    json_t *object = json_object(), *notes = json_array();
    json_object_set_new(object, "code", json_text(diag_code_text(d->code)));
    json_object_set_new(object, "severity",
                        json_text(diag_severity_text(d->severity)));
    json_set_place(object, d->span);
    json_object_set_new(object, "text", json_text(d->text));
    if (d->label)
        json_object_set_new(object, "label", json_text(d->label));
    for (size_t i = 0; i < d->notes.n; i++) {
        json_t *note = json_object();
        json_set_place(note, d->notes.at[i].span);
        json_object_set_new(note, d->notes.at[i].is_help ? "help" : "note",
                            json_text(d->notes.at[i].text));
        json_array_append_new(notes, note);
    }
    json_object_set_new(object, "notes", notes);
    return object;
}

json_t *json_diagnostics(const struct diag_list *diags)
{
    json_t *list = json_array();
    for (size_t i = 0; i < diags->all.n; i++)
        json_array_append_new(list, diagnostic(&diags->all.at[i]));
    return list;
}

void json_set_real(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key,
                        isfinite(value) ? json_real(value) : json_null());
}

bool json_print(json_t *value)
{
    struct buf out = {0};
    char *text = json_dumps(value, JSON_INDENT(2));
    buf_text(&out, text ? text : "null");
    buf_char(&out, '\n');
    bool ok = cli_print(&out);
    free(text);
    buf_free(&out);
    json_decref(value);
    return ok;
}
