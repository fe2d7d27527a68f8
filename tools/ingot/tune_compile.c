// Compiles a way in a process of its own: one that crashes, hangs or takes too much
// memory loses itself alone.  What agents do, and what a build takes, goes before candidates
// that are compiled ahead.

#include "tools/ingot/tune.h"
#include "tools/libingot/contracts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

// A few bytes that are spilled cost nothing that shows.
enum { MEMORY_MOST_GIB = 24, LIMIT_MS = 120000, SPILLS_FEW = 32, NICE = 5 };

// What a process compiles, and whether others go first.
struct work_of_child {
    struct tune_problem *p;
    const struct way *way;
    bool can_wait;
};

// Limit the memory of this process; not under sanitizers, which reserve much.
static void limit_memory(void)
{
#if !defined __SANITIZE_ADDRESS__
    struct rlimit most = {(rlim_t)MEMORY_MOST_GIB << 30,
                          (rlim_t)MEMORY_MOST_GIB << 30};
    setrlimit(RLIMIT_AS, &most);
#endif
}

// Compile a way to a cubin, and predict its time by that, where anything is predicted.
// Returns false after reporting.
static bool make_cubin(struct compilation *c, struct tune_problem *p,
                       const struct way *way, struct tune_prediction *said)
{
    struct compile_options o = p->options->compile.options;
    struct toolchain tools;
    struct ptxas tool;
    const char *wrong = NULL;
    toolchain_start(&tools, p->options->targets.cuda);
    cli_targets_apply(&p->options->targets, &tools, &o);
    way_options(&p->source, way, &o);
    struct ir_kernel *kernel = way_add(c, &p->source, way, &wrong);
    bool ok = kernel && compile_lower(c, &o) && contracts_check_lowered(c) &&
              cli_images(c, &tools, &o, &tool);
    if (ok && p->options->effort != TUNE_EXHAUSTIVE)
        tune_predict(p, c, kernel, said);
    return ok;
}

// Return the bytes that a thread of the kernel that spills most has in local memory
// instead of registers.
static int64_t spills_of(const struct compilation *c)
{
    int64_t most = 0;
    vec_foreach(one, &c->images.at[0].usage)
        most = one->spill_stores > most ? one->spill_stores : most;
    return most;
}

// Compile, and send the code, or why there is none.
static void compile_and_send(struct wire *wire, void *context)
{
    struct work_of_child *w = context;
    struct compilation c;
    json_t *answer = json_object();
    limit_memory();
    if (w->can_wait)
        setpriority(PRIO_PROCESS, 0, NICE);
    compile_start(&c);
    struct tune_prediction said = {0};
    bool ok = make_cubin(&c, w->p, w->way, &said);
    json_object_set_new(answer, "ok", json_boolean(ok));
    if (ok) {
        json_object_set_new(answer, "spills", json_integer(spills_of(&c)));
        json_set_real(answer, "predicted", said.us);
    } else
        json_object_set_new(answer, "why",
                            json_text(diag_first_error(&c.arena, &c.diags)));
    wire_send(wire, answer, ok ? c.images.at[0].bytes : NULL,
              ok ? c.images.at[0].size : 0);
}

// Return the milliseconds that a compilation may use, or do nothing: room for ptxas, if
// that was given a limit.
static int64_t limit_of(const struct tune_problem *p)
{
    int64_t of_ptxas = p->options->targets.ptxas_limit_ms;
    return of_ptxas ? 2 * of_ptxas : LIMIT_MS;
}

bool tune_compile(struct tune_problem *p, const struct tune_trial *t,
                  struct child *out, struct watch *watch)
{
    bool can_wait = t != &p->build && t != &p->plain;
    struct work_of_child w = {p, &t->way, can_wait};
    bool ok = child_fork(out, compile_and_send, &w);
    *watch = watch_start(out->id, limit_of(p));
    return ok;
}

void tune_compiled(struct tune_problem *p, struct tune_trial *t,
                   struct wire_message *m)
{
    const char *why = json_string_value(json_object_get(m->json, "why"));
    t->spills = (size_t)json_integer_value(json_object_get(m->json, "spills"));
    double predicted = json_number_value(json_object_get(m->json, "predicted"));
    t->predicted = predicted > 0 ? predicted : t->predicted;
    if (m->bytes) {
        t->cubin = m->bytes;
        t->n = m->n;
        m->bytes = NULL;
        return;
    }
    t->state = "refused";
    t->why =
        why ? arena_copy(&p->c->arena, why, strlen(why)) : "there is no code";
}

bool tune_put_off(struct tune_problem *p, size_t trial)
{
    struct tune_trial *t = p->trials.at[trial];
    if (t->spills <= SPILLS_FEW || p->search.trials.at[trial].is_late ||
        p->options->effort == TUNE_EXHAUSTIVE)
        return false;
    free(t->cubin);
    t->cubin = NULL;
    t->is_put_off = true;
    t->state = "put off";
    t->why =
        arena_printf(&p->c->arena, "it spills %zu bytes a thread", t->spills);
    search_tell(&p->search, trial, SEARCH_LATER, 0);
    return true;
}
