// Prints machine code.

#include "tools/ingot/sass_print.h"

#include "tools/ingot/json.h"

#include <stdio.h>
#include <string.h>

// The sources that instructions come from.
struct text {
    const char *file;
    struct buf bytes; // empty if it cannot be read
};
struct printing {
    struct arena *arena;
    struct VEC(struct text) texts;
    struct sass_places last; // that were printed
    struct buf *out;
};

// ---- Sources --------------------------------------------------------------

// Return the text of a file, which is read once; empty if it cannot be read.
static const struct buf *text_of(struct printing *p, const char *file)
{
    for (size_t i = 0; i < p->texts.n; i++) {
        if (p->texts.at[i].file == file)
            return &p->texts.at[i].bytes;
    }
    struct text text = {.file = file};
    char chunk[4096];
    FILE *stream = fopen(file, "r");
    size_t n;
    while (stream && (n = fread(chunk, 1, sizeof chunk, stream)) > 0)
        buf_bytes(&text.bytes, chunk, n);
    if (stream)
        fclose(stream);
    vec_push(p->arena, &p->texts, text);
    return &p->texts.at[p->texts.n - 1].bytes;
}

// Append a line of a source, without the blanks that it begins with.
static void print_line(struct printing *p, const struct sass_place *place)
{
    const struct buf *text = text_of(p, place->file);
    const char *at = text->data, *end = at + text->n;
    for (uint32_t i = 1; i < place->line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at += at != NULL;
    }
    const char *slash = strrchr(place->file, '/');
    buf_printf(p->out, "      // %s:%u", slash ? slash + 1 : place->file,
               place->line);
    if (!at || at >= end)
        return;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    buf_printf(p->out, "  %.*s", (int)((newline ? newline : end) - at), at);
}

// Append the places of an instruction unless they were printed last.
static void print_places(struct printing *p, const struct sass_places *places)
{
    bool is_same = places->n == p->last.n;
    for (size_t i = 0; i < places->n && is_same; i++)
        is_same = places->at[i].file == p->last.at[i].file &&
                  places->at[i].line == p->last.at[i].line;
    for (size_t i = 0; i < places->n && !is_same; i++) {
        print_line(p, &places->at[i]);
        buf_char(p->out, '\n');
    }
    p->last = *places;
}

// ---- Text -----------------------------------------------------------------

void sass_print(struct arena *a, const struct sass_kernel *kernel,
                const struct sass_loop *loop, struct buf *out)
{
    struct printing p = {.arena = a, .out = out};
    for (size_t i = 0; i < kernel->code.n; i++) {
        const struct sass_instr *one = &kernel->code.at[i];
        if (loop && !loop->in[i])
            continue;
        print_places(&p, &one->places);
        buf_printf(out, "%04x  %-8s  %s\n", one->at,
                   sass_class_info(one->class)->name, one->text);
    }
    for (size_t i = 0; i < p.texts.n; i++)
        buf_free(&p.texts.at[i].bytes);
}

// Count the instructions of each class.
static void count(const struct sass_kernel *kernel,
                  const struct sass_loop *loop, size_t counts[SASS_CLASSES])
{
    memset(counts, 0, SASS_CLASSES * sizeof *counts);
    for (size_t i = 0; i < kernel->code.n; i++)
        counts[kernel->code.at[i].class] += loop->in[i];
}

void sass_print_counts(const struct sass_kernel *kernel,
                       const struct sass_loop *loop, struct buf *out)
{
    size_t counts[SASS_CLASSES];
    count(kernel, loop, counts);
    for (int i = 0; i < SASS_CLASSES; i++) {
        const struct sass_class_info *info =
            sass_class_info((enum sass_class)i);
        if (counts[i])
            buf_printf(out, "  %5zu  %-8s  %s\n", counts[i], info->name,
                       info->meaning);
    }
}

// ---- JSON -----------------------------------------------------------------

// Return an instruction; its place is the innermost one.
static json_t *instr_json(const struct sass_instr *one)
{
    json_t *object = json_pack(
        "{s:I, s:o, s:s}", "address", (json_int_t)one->at, "text",
        json_text(one->text), "class", sass_class_info(one->class)->name);
    if (!one->places.n)
        return object;
    json_object_set_new(object, "file", json_text(one->places.at[0].file));
    json_object_set_new(object, "line", json_integer(one->places.at[0].line));
    return object;
}

json_t *sass_loop_json(const struct sass_kernel *kernel,
                       const struct sass_loop *loop)
{
    size_t counts[SASS_CLASSES];
    json_t *classes = json_object(), *code = json_array();
    count(kernel, loop, counts);
    for (int i = 0; i < SASS_CLASSES; i++)
        json_object_set_new(classes, sass_class_info((enum sass_class)i)->name,
                            json_integer((json_int_t)counts[i]));
    for (size_t i = 0; i < kernel->code.n; i++) {
        if (loop->in[i])
            json_array_append_new(code, instr_json(&kernel->code.at[i]));
    }
    return json_pack("{s:I, s:o, s:o}", "instructions", (json_int_t)loop->n,
                     "classes", classes, "code", code);
}
