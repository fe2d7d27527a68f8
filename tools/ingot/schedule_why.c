// Why a variant does not take some sizes.
//
//   // s4 gemm_sm90(acc, C, [64, 128], 8, 2): not K <= 2048 (4096, 2048)

#include "tools/ingot/schedule_why.h"

#include "ir/text.h"
#include "tools/ingot/dispatch.h"

#include <string.h>

// The most characters of a text in a comment.
enum { TEXT_MOST = 70 };

// Append the first line of a text, or as much as there is room for.
static void print_short(const char *text, size_t n, struct buf *out)
{
    const char *end = memchr(text, '\n', n);
    size_t line = end ? (size_t)(end - text) : n;
    bool is_cut = line > TEXT_MOST;
    buf_bytes(out, text, is_cut ? TEXT_MOST : line);
    buf_text(out, is_cut ? " ..." : "");
}

void schedule_directive_print(const struct sched_item *item, struct buf *out)
{
    const struct sched_block *body = &item->body;
    if (!body->n)
        return;
    struct span span = body->at[body->n - 1]->span;
    buf_text(out, " ");
    print_short(span.source->text + span.from, span.to - span.from, out);
}

// Append the numbers that a comparison compares.
static void print_numbers(struct arena *a, const struct problem *p,
                          const struct variant *v, struct ir_expr *x,
                          struct buf *out)
{
    int64_t left, right;
    if (x->n != 2 || !dispatch_value(a, p, v->kernel, x->args[0], &left) ||
        !dispatch_value(a, p, v->kernel, x->args[1], &right))
        return;
    buf_printf(out, " (%lld, %lld)", (long long)left, (long long)right);
}

// Append the text of a condition, as a file has it: `sms` for the blocks that a
// device runs, one on each.
static void print_condition(const struct ir_expr *x, struct buf *out)
{
    static const char one_each[] = "resident(1)";
    struct buf text = {0}, read = {0};
    ir_print_expr(&text, x);
    for (const char *p = text.data; *p;) {
        bool is_sms = strncmp(p, one_each, sizeof one_each - 1) == 0;
        buf_bytes(&read, is_sms ? "sms" : p, is_sms ? 3 : 1);
        p += is_sms ? sizeof one_each - 1 : 1;
    }
    print_short(read.data, read.n, out);
    buf_free(&text);
    buf_free(&read);
}

void schedule_refusal_print(struct arena *a, const struct problem *p,
                            const struct variant *v, struct ir_expr *refusal,
                            struct buf *out)
{
    buf_text(out, "not ");
    print_condition(refusal, out);
    print_numbers(a, p, v, refusal, out);
}

// Append which case of which rule cannot be applied, and why.
static void print_left_out(const struct refused_case *r, struct buf *out)
{
    const struct sched_expr *by = r->item->by;
    struct span at = r->item->span;
    buf_printf(out, "rule %s(", by->name);
    for (size_t i = 0; i < by->args.n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", by->args.at[i]->name);
    buf_printf(out, "), case %zu (%s:%u): %s\n", r->number, at.source->name,
               source_line(at.source, at.from).number,
               r->why ? r->why : "it cannot be applied");
}

void schedule_left_out_print(const struct compilation *c,
                             const struct ir_kernel *kernel, const char *lead,
                             struct buf *out)
{
    vec_foreach(r, &c->refused) {
        if (r->kernel != kernel)
            continue;
        buf_text(out, lead);
        print_left_out(r, out);
    }
}

void schedule_why_print(struct arena *a, const struct problem *p,
                        const struct variant *v, struct ir_expr *refusal,
                        struct buf *out)
{
    buf_printf(out, "// %s", v->kernel->variant);
    if (v->schedule)
        schedule_directive_print(v->schedule, out);
    buf_text(out, ": ");
    schedule_refusal_print(a, p, v, refusal, out);
    buf_text(out, "\n");
}
