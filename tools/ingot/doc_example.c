// The example of a primitive: what the compiler makes of it.
//
// docs/examples/NAME.ing has a kernel and a schedule that calls the primitive.
// The schedule is run up to that statement, and then with it; a first line
// `// lower PASS` asks for what lowering makes of it, too.

#include "tools/ingot/doc.h"

#include "ir/copy.h"
#include "ir/text.h"
#include "passes/schedule/schedule.h"
#include "tools/ingot/cli.h"
#include "tools/libingot/library.h"

#include <stdio.h>
#include <string.h>

// Return the text of an example, or NULL.
static const char *find_text(const char *primitive)
{
    char name[128];
    snprintf(name, sizeof name, "examples/%s.ing", primitive);
    for (const struct library_file *f = doc_examples; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->text;
    return NULL;
}

// Return whether an expression has a call of that name.
static bool calls(const struct sched_expr *x, const char *name)
{
    if (x && x->kind == SCHED_call && strcmp(x->name, name) == 0)
        return true;
    for (size_t i = 0; x && i < x->args.n; i++)
        if (calls(x->args.at[i], name))
            return true;
    return false;
}

// Return whether a statement has one, or a statement in it.
static bool stmt_calls(const struct sched_stmt *s, const char *name)
{
    if (calls(s->value, name))
        return true;
    for (size_t i = 0; i < s->body.n; i++)
        if (stmt_calls(s->body.at[i], name))
            return true;
    return false;
}

// Return how many statements of a schedule are before the first call.
static size_t statements_before(const struct sched_item *s, const char *name)
{
    size_t n = 0;
    while (n < s->body.n && !stmt_calls(s->body.at[n], name))
        n++;
    return n;
}

// Append the kernel after the first `n` statements of its schedule.
static bool print_after(struct compilation *c, size_t n, struct buf *out)
{
    struct sched_item part = *c->program.schedules.schedules.at[0];
    struct pass p = {.arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &c->diags};
    part.body.n = n;
    p.kernel = ir_copy_kernel(&c->arena, c->program.kernels.at[0]);
    if (!schedule_apply(&p, &c->program.schedules, &part, NULL, 0, NULL))
        return false;
    ir_print_kernel(out, p.kernel);
    return true;
}

// Return where the body of a printed kernel begins.
static const char *body_of(const char *kernel)
{
    const char *brace = strstr(kernel, "\n{\n");
    return brace ? brace + 3 : kernel;
}

// Append a line of code of `n` characters, its end included: broken at spaces, and
// indented further, where it is too long.
static void show_line(struct buf *out, const char *line, size_t n)
{
    enum { COLUMNS = 120, MORE = 8 };
    size_t indent = strspn(line, " "), most = COLUMNS;
    while (n > most + 1) {
        size_t at = most;
        while (at > indent && line[at] != ' ')
            at--;
        if (at <= indent)
            break;
        buf_printf(out, "%.*s\n%*s", (int)at, line, (int)(indent + MORE), "");
        line += at + 1;
        n -= at + 1;
        most = COLUMNS - MORE - indent;
    }
    buf_bytes(out, line, n);
}

// Append the body of a printed kernel as code; it is indented already.
static void show_body(struct buf *out, const char *kernel)
{
    const char *line = body_of(kernel);
    const char *end = line + strlen(line) - strlen("}\n");
    while (line < end) {
        size_t n = strcspn(line, "\n") + 1;
        show_line(out, line, n);
        line += n;
    }
}

// Two lines side by side of two texts.
struct lines {
    const char *a, *b; // where the next ones begin
    size_t n, m;       // their lengths, with the newline
    bool differ;
};

// Go on to the next lines; false behind the end of either text.
static bool next_lines(struct lines *l)
{
    l->a += l->n;
    l->b += l->m;
    l->n = strcspn(l->a, "\n") + 1;
    l->m = strcspn(l->b, "\n") + 1;
    l->differ = l->n != l->m || memcmp(l->a, l->b, l->n) != 0;
    return *l->a && *l->b;
}

// Return whether two texts are long, have as many lines, and differ in few.
static bool differ_little(const char *a, const char *b)
{
    enum { LONG = 16, SHARE = 8 };
    size_t n = 0, changed = 0;
    struct lines l = {a, b, 0, 0, false};
    while (next_lines(&l)) {
        n++;
        changed += l.differ;
    }
    return !*l.a && !*l.b && n > LONG && changed * SHARE <= n;
}

// Append the lines of the second text that differ from those of the first.
static void show_changes(struct buf *out, const char *a, const char *b)
{
    struct lines l = {a, b, 0, 0, false};
    while (next_lines(&l))
        if (l.differ)
            show_line(out, l.b, l.m);
}

// Append two printed kernels: their bodies, unless the heads differ.
static void show_both(struct buf *out, const char *primitive,
                      const char *before, const char *after)
{
    size_t head = (size_t)(body_of(before) - before);
    bool is_same = head == (size_t)(body_of(after) - after) &&
                   memcmp(before, after, head) == 0;
    bool is_little = is_same && differ_little(before, after);
    void (*show)(struct buf *, const char *) = is_same ? show_body : doc_code;
    buf_printf(out, "\nBefore `%s`:\n\n", primitive);
    show(out, before);
    buf_printf(out, "\nAfter%s:\n\n",
               is_little ? ", where only this is different" : "");
    if (is_little)
        show_changes(out, before, after);
    else
        show(out, after);
}

// Append what lowering up to a pass makes of the whole example.
static bool show_lowered(struct compilation *c, const char *pass,
                         struct buf *out)
{
    struct buf text = {0};
    struct compile_options o = {.passes = {.stop_after = pass}};
    if (!compile_lower(c, &o))
        return false;
    ir_print_kernel(&text, c->variants.at[0].kernel);
    buf_printf(out, "\nWhat lowering makes of it, up to the pass `%s`:\n\n",
               pass);
    show_body(out, text.data);
    buf_free(&text);
    return true;
}

// Append the example in all its forms.
static bool show(struct compilation *c, const char *primitive, const char *pass,
                 struct buf *out)
{
    struct buf before = {0}, after = {0};
    const struct sched_item *s = c->program.schedules.schedules.at[0];
    size_t n = statements_before(s, primitive);
    bool ok = n < s->body.n && print_after(c, n, &before) &&
              print_after(c, n + 1, &after);
    if (ok)
        show_both(out, primitive, before.data, after.data);
    buf_free(&before);
    buf_free(&after);
    return ok && (!pass || show_lowered(c, pass, out));
}

bool doc_example(const char *primitive, struct buf *out)
{
    static const char lower[] = "// lower ";
    const char *text = find_text(primitive), *pass = NULL;
    struct compilation c;
    if (!text) {
        fprintf(stderr, "ingot doc: `%s` has no example\n", primitive);
        return false;
    }
    compile_start(&c);
    if (strncmp(text, lower, strlen(lower)) == 0) {
        size_t n = strcspn(text, "\n");
        pass = arena_copy(&c.arena, text + strlen(lower), n - strlen(lower));
        text += n + 1;
    }
    buf_text(out, "\nExample:\n\n");
    doc_code(out, text);
    bool ok = compile_add(&c, primitive, text, strlen(text)) &&
              show(&c, primitive, pass, out);
    cli_report(&c.diags);
    if (!ok)
        fprintf(stderr, "ingot doc: the example of `%s` does not run\n",
                primitive);
    compile_end(&c);
    return ok;
}
