// What iterations leave to one another, and stages to stages.

#include "passes/schedule/depend/access.h"

// Return whether two accesses are what a question is about.
static bool is_asked(const struct depend_flow *f, const struct depend_access *x,
                     const struct depend_access *y)
{
    bool counts = !f->aside || (x->stage != f->aside && y->stage != f->aside);
    return counts && x->buffer == f->written && x->writes &&
           y->buffer == f->used && y->writes == f->rewrites;
}

// Return what is known of two accesses that conflict.
static struct depend_conflict meeting_of(const struct depend_access *x,
                                         const struct depend_access *y,
                                         const char *example)
{
    return (struct depend_conflict){.name = x->buffer->name,
                                    .first = {x->stmt, x->span, x->writes},
                                    .second = {y->stmt, y->span, y->writes},
                                    .example = example};
}

bool depend_flows(struct pass *p, struct ir_stmt *loop,
                  const struct depend_flow *flow, struct depend_conflict *out)
{
    struct depend_nest w;
    struct depend_question q = {.loops = &loop, .n = 1};
    bool is_exact;
    depend_walk(&w, p, loop, AXIS_serial, false);
    vec_foreach(x, &w.accesses) {
        for (size_t j = 0; j < w.accesses.n && x->writes; j++) {
            const struct depend_access *y = &w.accesses.at[j];
            if (!is_asked(flow, x, y) || !depend_meets(&w, &q, x, y, &is_exact))
                continue;
            *out = meeting_of(x, y, depend_example(&w, &q, x, y));
            out->is_exact = is_exact;
            return true;
        }
    }
    return false;
}

// Return whether an array may flow as asked: what isl could still deny.
static bool may_flow(struct pass *p, struct ir_stmt *loop,
                     const struct depend_flow *flow)
{
    struct depend_nest w;
    struct depend_known known;
    struct depend_question q = {.loops = &loop, .n = 1};
    depend_walk(&w, p, loop, AXIS_serial, false);
    vec_foreach(x, &w.accesses)
        vec_foreach(y, &w.accesses)
            if (is_asked(flow, x, y) && depend_is_open(&w, &q, x, y, &known))
                return true;
    return false;
}

static bool changes(struct pass *p, struct ir_stmt *loop,
                    const struct ir_buffer *buffer, struct map *seen);

// Return whether all iterations of the loop of a nest store the same to an array.
static bool stores_same(struct depend_nest *w, struct ir_stmt *loop,
                        const struct ir_buffer *buffer, struct map *seen)
{
    if (!depend_repeats(w, buffer))
        return false;
    vec_foreach(x, &w->accesses)
        vec_foreach(y, &w->accesses)
            if (x->buffer == buffer && x->writes && y->stage == x->stage &&
                !y->writes && changes(w->pass, loop, y->buffer, seen))
                return false;
    return true;
}

// Return whether iterations of a loop store different values to an element of
// an array; one in `seen` is taken to change.  isl is asked last.
static bool changes(struct pass *p, struct ir_stmt *loop,
                    const struct ir_buffer *buffer, struct map *seen)
{
    struct depend_nest w;
    struct depend_conflict ignored;
    struct depend_flow flow = {buffer, buffer, true, NULL};
    if (!may_flow(p, loop, &flow))
        return false;
    if (map_has(seen, buffer))
        return depend_flows(p, loop, &flow, &ignored);
    map_set(seen, buffer, loop);
    depend_walk(&w, p, loop, AXIS_serial, false);
    return !stores_same(&w, loop, buffer, seen) &&
           depend_flows(p, loop, &flow, &ignored);
}

bool depend_changes(struct pass *p, struct ir_stmt *loop,
                    const struct ir_buffer *buffer)
{
    struct map seen = {.arena = p->scratch};
    return changes(p, loop, buffer, &seen);
}

// Return whether an access is a statement's.
static bool is_of(const struct depend_access *x, const struct ir_stmt *s)
{
    return x->stage == s || x->stmt == s;
}

bool depend_conflicts(struct pass *p, const struct ir_stmt *writer,
                      const struct ir_stmt *reader,
                      const struct ir_buffer *buffer,
                      struct depend_conflict *out)
{
    struct depend_nest w;
    struct depend_question q = {.any = true};
    depend_walk_all(&w, p);
    vec_foreach(x, &w.accesses) {
        vec_foreach(y, &w.accesses) {
            if (x->buffer != buffer || y->buffer != buffer ||
                !is_of(x, writer) || !is_of(y, reader) || !x->writes ||
                y->writes)
                continue;
            const char *example = depend_example(&w, &q, x, y);
            *out = meeting_of(x, y, example);
            out->is_exact = true;
            if (example)
                return true;
        }
    }
    return false;
}

// Return how many conditions there are around an access.
static size_t conditions_around(const struct depend_access *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->path.n; i++)
        n += !x->path.at[i].stmt;
    return n;
}

bool depend_reads_written(struct pass *p, const struct ir_stmt *stage,
                          const struct ir_buffer *buffer)
{
    struct depend_nest w;
    struct depend_question q = {.any = true};
    depend_walk_all(&w, p);
    vec_foreach(x, &w.accesses)
        if (x->stage == stage && x->buffer == buffer && !x->writes &&
            !depend_is_covered(&w, &q, x))
            return false;
    return true;
}

bool depend_is_filled(struct pass *p, const struct ir_stmt *stage,
                      const struct ir_buffer *buffer)
{
    struct depend_nest w;
    size_t conditions = 0;
    bool always = false;
    depend_walk_all(&w, p);
    vec_foreach(x, &w.accesses)
        if (x->stage == stage && x->writes)
            conditions = conditions_around(x);
    vec_foreach(x, &w.accesses)
        if (x->stage == stage && x->buffer == buffer)
            always |= conditions_around(x) <= conditions;
    return always && depend_reads_written(p, stage, buffer);
}
