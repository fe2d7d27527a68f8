// The loop nest at a directive: the schedule that holds it is cut off behind it, and runs
// on a copy of its kernel.

#include "tools/lsp/lsp.h"

#include "ir/copy.h"
#include "ir/text.h"
#include "passes/schedule/schedule.h"
#include "tools/ingot/isolated.h"
#include "tools/libingot/compile.h"

#include <string.h>

enum { SHARED = 1 << 20, SECONDS = 10 };

// What the child is given, and what it fills.
struct question {
    const struct lsp_document *document;
    size_t at;
    uint64_t n;
    char text[];
};

// Cut a block off behind the statement that holds a byte.  Returns whether one does.
static bool cut(struct sched_block *block, size_t at)
{
    for (size_t i = 0; i < block->n; i++) {
        struct sched_stmt *s = block->at[i];
        bool is_inner = cut(&s->body, at) || cut(&s->otherwise, at);
        if (is_inner || (s->span.from <= at && at <= s->span.to)) {
            block->n = i + 1;
            return true;
        }
    }
    return false;
}

// Return the schedule that has a directive at a byte, cut off behind it, or NULL.
static struct sched_item *find_schedule(struct program *p, const char *name,
                                        size_t at)
{
    for (size_t i = 0; i < p->schedules.schedules.n; i++) {
        struct sched_item *s = p->schedules.schedules.at[i];
        if (!s->rule && s->span.source &&
            strcmp(s->span.source->name, name) == 0 && cut(&s->body, at))
            return s;
    }
    return NULL;
}

// Return the first kernel that a schedule is for, or NULL.
static const struct ir_kernel *kernel_of(const struct program *p,
                                         const struct sched_item *s)
{
    for (size_t i = 0; i < p->kernels.n; i++)
        if (sched_is_for(s, p->kernels.at[i]))
            return p->kernels.at[i];
    return NULL;
}

// Append the kernel after the directive.
static void print_nest(struct compilation *c, const struct question *q,
                       struct buf *out)
{
    struct sched_item *s = find_schedule(&c->program, q->document->name, q->at);
    const struct ir_kernel *kernel = s ? kernel_of(&c->program, s) : NULL;
    struct diag_list quiet = {.arena = &c->arena, .is_brief = true};
    if (!kernel)
        return;
    struct pass p = {.kernel = ir_copy_kernel(&c->arena, kernel),
                     .arena = &c->arena,
                     .scratch = &c->scratch,
                     .names = &c->names,
                     .diags = &quiet};
    if (schedule_apply(&p, &c->program.schedules, s, NULL, 0, NULL))
        ir_print_kernel(out, p.kernel);
}

// Compile the document and leave the nest in the answer.
static void answer(void *context)
{
    struct question *q = context;
    const struct lsp_document *d = q->document;
    struct compilation c;
    struct buf out = {0};
    compile_start(&c);
    if (compile_add(&c, d->name, d->text.n ? d->text.data : "", d->text.n))
        print_nest(&c, q, &out);
    if (out.n < SHARED - sizeof *q) {
        memcpy(q->text, out.n ? out.data : "", out.n);
        q->n = out.n;
    }
}

void lsp_nest(const struct lsp_document *d, size_t at, struct buf *out)
{
    struct isolated_result end;
    struct question *q = isolated_alloc(SHARED);
    if (!q)
        return;
    q->document = d;
    q->at = at;
    struct isolated what = {
        .work = answer, .context = q, .progress = &q->n, .seconds = SECONDS};
    isolated_run(&what, &end);
    buf_bytes(out, q->text, q->n);
    isolated_free(q, SHARED);
}
