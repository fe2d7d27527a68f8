// One run: all blocks of all launches.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "tools/simt/run.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "tools/simt/trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { STACK_BYTES = 64 * 1024, SLOT_BYTES = 8 };
#define STEPS_MOST UINT64_C(10000000000)
#define GRID_MOST  INT64_C(0x7fffffff)

// Forget where accesses were: arrays come and go.
static void forget_windows(struct simt_code *code)
{
    for (size_t i = 0; i < code->sites.n; i++)
        code->sites.at[i]->window = (struct window){.base = NULL};
}

// Return whether an expression asks how many blocks are resident.
static bool asks_resident(const struct ir_expr *root)
{
    ir_foreach_expr(x, root)
        if (x->op == OP_resident)
            return true;
    return false;
}

// Return whether all blocks of a launch are resident at a time on any GPU: its
// grid says so, or is a small number.
static bool is_resident(const struct ir_launch *l)
{
    int64_t all = 1, n;
    bool asks = false, is_number = true;
    for (int d = 0; d < 3; d++) {
        asks |= asks_resident(l->grid[d]);
        is_number &=
            ir_int_value(l->grid[d], &n) && n > 0 && n <= RESIDENT_MOST;
        all *= is_number ? n : 1;
    }
    return asks || (is_number && all <= RESIDENT_MOST);
}

// Return how many blocks of a launch are to run at a time.
static uint32_t resident(const struct running *r, const struct code_entry *e)
{
    uint32_t asked = r->run->resident ? r->run->resident : 1;
    bool is_alone = !e->meets_blocks || e->has_clocks ||
                    e->cluster[0] * e->cluster[1] * e->cluster[2] > 1;
    if (is_alone || r->code->resident == 1)
        return 1;
    return is_resident(e->launch) || asked > RESIDENT_MOST ? RESIDENT_MOST
                                                           : asked;
}

// Prepare the machine for a launch.  False if its grid has no value, or one
// that no GPU takes.
static bool prepare(struct running *r, const struct code_entry *e)
{
    struct machine *m = r->m;
    m->entry = e->launch->name;
    m->body = e->run;
    m->threads = 1;
    uint32_t blocks_of_cluster = 1;
    for (int d = 0; d < 3; d++) {
        int64_t blocks;
        if (!ir_eval_int(r->code->kernel, r->arguments, e->launch->grid[d],
                         &blocks) ||
            blocks > GRID_MOST)
            return false;
        m->grid[d] = blocks > 0 ? (uint32_t)blocks : 0;
        m->block[d] = e->launch->block[d];
        m->threads *= m->block[d];
        m->cluster[d] = e->cluster[d];
        blocks_of_cluster *= m->cluster[d];
        if (m->grid[d] % m->cluster[d])
            return false;
    }
    m->n_fibers = m->threads * blocks_of_cluster;
    m->registers = e->registers;
    m->has_agents = e->has_clocks;
    m->has_order = e->has_fences || (m->assumed && e->has_answers);
    m->has_clocks = m->has_agents || m->has_order;
    m->may_wait = e->may_wait && r->code->is_checked;
    m->resident = resident(r, e);
    m->min_blocks = e->launch->min_blocks;
    forget_windows(r->code);
    if (r->code->dynamic) {
        struct region *dynamic = r->code->dynamic;
        dynamic->part = (size_t)shared_dynamic(e->shared);
        dynamic->bytes = dynamic->copy ? dynamic->bytes : dynamic->part;
        dynamic->parts = e->shared;
    }
    return m->threads <= THREADS_MOST && m->n_fibers <= FIBERS_MOST;
}

// Run all launches.
static bool run_launches(struct running *r)
{
    for (size_t i = 0; i < r->code->entries.n && !r->m->is_stopped; i++) {
        const struct code_entry *e = &r->code->entries.at[i];
        if (!prepare(r, e)) {
            diag_error(r->diags, r->code->kernel->span, D_simt_no_grid,
                       e->launch->name);
            return false;
        }
        if (r->m->grid[0] && r->m->grid[1] && r->m->grid[2])
            blocks_run(r->m);
    }
    return true;
}

// ---- The run --------------------------------------------------------------

// Give the machine stacks, once.
static bool make_stacks(const struct simt_code *code)
{
    struct machine *m = code->machine;
    if (m->stacks)
        return true;
    m->stack_bytes = (STACK_BYTES + code->locals + 4095) & ~(size_t)4095;
    void *p = mmap(NULL, m->stack_bytes * FIBERS_MOST, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    m->stacks = p == MAP_FAILED ? NULL : p;
    return m->stacks;
}

// Return what arrays of a block are made of at first, a byte over and over: as
// floating numbers NaN, large and least, so that neither a sum nor a maximum
// hides it everywhere.
static uint64_t poison_of(enum simt_policy policy)
{
    static const unsigned char bytes[] = {0xff, 0x4b, 0xcb};
    return bytes[policy % sizeof bytes] * (UINT64_MAX / 0xff);
}

// When what is asynchronous happens, by policy.
static const enum arrival arrivals[] = {
#define POLICY(name, spelling, arrival, meaning) ARRIVAL_##arrival,
#include "tools/simt/policies.def"
#undef POLICY
};

// Begin a run.
static void begin(struct simt_code *code, const struct simt_run *run,
                  struct simt_result *out)
{
    struct machine *m = code->machine;
    *out = (struct simt_result){0};
    m->result = out;
    m->sites = code->sites.at;
    m->policy = run->policy;
    m->arrival = arrivals[run->policy];
    m->poison = poison_of(run->policy);
    m->random = run->seed;
    m->most_blocks = run->most_blocks;
    m->steps = m->moved = 0;
    m->most_steps = run->most_steps ? run->most_steps : STEPS_MOST;
    m->is_stopped = false;
    m->pending.is_active = false;
    m->current = NULL;
}

// Put faults before notes.
static int by_severity(const void *a, const void *b)
{
    const struct simt_finding *x = a, *y = b;
    int first =
        (int)simt_fault_severity(y->fault) - (int)simt_fault_severity(x->fault);
    return first ? first : (int)x->fault - (int)y->fault;
}

// Return the seconds since some moment.
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint32_t simt_resident_most(const struct simt_code *code)
{
    return code->resident > 1 ? RESIDENT_USUAL : 1;
}

// Run all launches once: arguments in, findings out; results stay in the
// arena.
static bool run_once(struct running *r, const struct simt_run *run,
                     struct simt_result *out, enum simt_missing assumed)
{
    begin(r->code, run, out);
    r->m->assumed = assumed;
    r->m->printed = assumed ? NULL : run->printed;
    r->m->parameters = r->slots;
    r->n_slots = 0;
    search_begin(r->m, !run->choice && !assumed, run->choice);
    bool traces = run->trace && !assumed && trace_open(r->m, run->trace);
    bool ok = arguments_set(r) && run_launches(r);
    if (traces)
        trace_close(r->m);
    search_end(r->m);
    if (ok && r->code->is_checked && !r->m->is_stopped && !run->most_blocks)
        arguments_note_unwritten(r);
    out->accesses = r->m->steps;
    out->steps = r->m->steps + r->m->moved;
    out->is_stopped = r->m->is_stopped;
    return ok;
}

// Forget the arrays of a run.
static void end(struct running *r)
{
    regions_drop(r->m, r->code->n_regions);
    free(r->maps);
    r->maps = NULL;
}

// Run again, only to see what is found.
static bool run_again(struct running *r, struct simt_result *out,
                      enum simt_missing assumed)
{
    bool ok = run_once(r, r->run, out, assumed);
    end(r);
    return ok;
}

bool simt_run(struct simt_code *code, const struct eval_argument *arguments,
              const struct simt_run *run, struct simt_result *out,
              struct diag_list *diags)
{
    size_t n = code->kernel->params.n + code->kernel->body.n +
               code->kernel->maps.n + 1;
    struct running r = {.code = code,
                        .m = code->machine,
                        .run = run,
                        .arguments = arguments,
                        .diags = diags,
                        .slots = calloc(n, SLOT_BYTES),
                        .regions = calloc(n, sizeof *r.regions)};
    double began = now();
    *out = (struct simt_result){0};
    bool ok = r.slots && r.regions && make_stacks(code);
    if (!ok)
        diag_error(diags, (struct span){0}, D_simt_no_memory);
    ok = ok && run_once(&r, run, out, SIMT_MISSING_nothing);
    void **kept = ok && missing_is_open(&r, out) ? arguments_keep(&r) : NULL;
    if (ok && !kept)
        arguments_read(&r);
    end(&r);
    if (kept) {
        missing_find(&r, out, run_again);
        arguments_give(&r, kept);
    }
    qsort(out->findings, out->n, sizeof *out->findings, by_severity);
    out->seconds = now() - began;
    free(r.slots);
    free(r.regions);
    return ok;
}
