// The steps of the pipeline, and what is asked of their order.

#include "passes/steps.h"

#include "ir/marks.h"
#include "ir/walk.h"

#include <string.h>

enum {
    NOTHING = STEP_NOTHING,
    FRAGMENTS = STEP_FRAGMENTS,
    STAGES = STEP_STAGES,
    VTHREADS = STEP_VTHREADS,
    VECTORS = STEP_VECTORS,
    BOUND = STEP_BOUND,
    DOUBLE = STEP_DOUBLE,
    RINGS = STEP_RINGS,
    DERIVED = STEP_DERIVED
};

static const struct pass_step steps[] = {
#define STEP(name, needs, consumes, why) {PASS_##name, needs, consumes, why},
#include "passes/passes.def"
#undef STEP
};
enum { STEPS = sizeof steps / sizeof *steps };

// The words for what steps consume.
static const struct {
    enum step_consumes what;
    const char *words;
} things[] = {{STEP_FRAGMENTS, "arrays in fragments"},
              {STEP_STAGES, "stages"},
              {STEP_VTHREADS, "loops over virtual threads"},
              {STEP_VECTORS, "vector loops"},
              {STEP_BOUND, "loops over blocks and threads"},
              {STEP_DOUBLE, "arrays marked `double`"},
              {STEP_RINGS, "loops with a ring"},
              {STEP_DERIVED, "launches that say `derive_barriers`"}};
enum { THINGS = sizeof things / sizeof *things };

const struct pass_step *pass_steps(size_t *n)
{
    *n = STEPS;
    return steps;
}

// Return whether a pass is among the first `n` steps.
static bool runs_before(const struct pass_step *all, size_t n,
                        enum pass_name pass)
{
    for (size_t i = 0; i < n; i++)
        if (all[i].pass == pass)
            return true;
    return false;
}

const char *pass_order_fault(struct arena *a, const struct pass_step *all,
                             size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *at = all[i].needs;
        while (*at) {
            enum pass_name pass;
            size_t length = strcspn(at, " ");
            const char *name = arena_copy(a, at, length);
            if (!pass_find(name, &pass))
                return arena_printf(a, "`%s` needs `%s`, which is no pass",
                                    pass_text(all[i].pass), name);
            if (!runs_before(all, i, pass))
                return arena_printf(a,
                                    "`%s` needs `%s`, which does not run "
                                    "before it",
                                    pass_text(all[i].pass), name);
            at += length + (at[length] == ' ');
        }
    }
    return NULL;
}

// Return what of that which steps consume a loop over an axis is.
static unsigned of_axis(enum axis axis)
{
    switch (axis_kind(axis)) {
    case AXIS_VTHREAD: return STEP_VTHREADS;
    case AXIS_VECTOR: return STEP_VECTORS;
    case AXIS_BLOCK:
    case AXIS_THREAD: return STEP_BOUND;
    case AXIS_SERIAL:
    case AXIS_UNROLL: break;
    }
    return 0;
}

// Return what of that which steps consume a statement is.
static unsigned kind_of(const struct ir_stmt *s)
{
    if (s->kind == STMT_stage)
        return STEP_STAGES;
    if (s->kind == STMT_alloc)
        return (s->u.buffer->space == SPACE_fragment ? STEP_FRAGMENTS : 0u) |
               (s->u.buffer->is_double ? STEP_DOUBLE : 0u);
    if (s->kind == STMT_launch)
        return s->u.launch.derives_barriers ? STEP_DERIVED : 0;
    return s->kind == STMT_for
               ? of_axis(s->u.loop.axis) | (s->u.loop.rings.n ? STEP_RINGS : 0u)
               : 0;
}

// Return whether a mark is consumed by a pass.
static bool is_of(enum ir_mark mark, enum pass_name pass)
{
    return mark != MARK_note &&
           strcmp(ir_mark_info(mark)->until, pass_text(pass)) == 0;
}

// Return what of a statement a step should have consumed, or NULL.
static const char *left_of(struct arena *a, struct ir_stmt *s,
                           const struct pass_step *step)
{
    const struct ir_attrs *attrs = ir_attrs_of(s);
    unsigned left = kind_of(s) & step->consumes;
    for (int i = 0; i < THINGS; i++)
        if (left & things[i].what)
            return things[i].words;
    for (size_t i = 0; attrs && i < attrs->n; i++)
        if (is_of(attrs->at[i].mark, step->pass))
            return arena_printf(a, "the mark `@%s`", attrs->at[i].name);
    return NULL;
}

const char *pass_left(struct arena *a, struct ir_kernel *kernel, size_t at)
{
    for (size_t i = at + 1; i < STEPS; i++)
        if (steps[i].pass == steps[at].pass)
            return NULL;
    ir_foreach_stmt(s, &kernel->body) {
        const char *left = left_of(a, s, &steps[at]);
        if (left)
            return left;
    }
    return NULL;
}

void pass_consumes(struct buf *out, const struct pass_step *step)
{
    const char *comma = "";
    for (int i = 0; i < THINGS; i++) {
        if (!(step->consumes & things[i].what))
            continue;
        buf_printf(out, "%s%s", comma, things[i].words);
        comma = ", ";
    }
    for (int i = 0; i < MARK_note; i++) {
        if (!is_of((enum ir_mark)i, step->pass))
            continue;
        buf_printf(out, "%s`@%s`", comma, ir_mark_info((enum ir_mark)i)->name);
        comma = ", ";
    }
}
