// Follows a warp through a launch.
//
// Loops run once, in their middle iteration, and count as often as the middle
// block has iterations; branches run for the lanes that take them.  Where data
// decides: DATA_TRIPS iterations, and each side of a branch half the time; a loop that goes
// on until something is found finds it at once, as the second of two looks.

#include "passes/model/warp.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/model/expansion.h"
#include "passes/model/until.h"

#include <math.h>

enum {
    DATA_TRIPS = 16,
    UNTIL_TRIPS = 2,
    BARRIER_CLOCKS = 30,
    CLUSTER_CLOCKS = 300, // of a barrier of a cluster
    UNROLLED = 4,
    SCHEDULERS = 4 // of an SM
};

// How often a loop runs.
struct trips {
    double mean, most; // over all blocks; of the block that has most
};

void warp_hold(struct warp *w, enum model_limit pipe, double clocks)
{
    w->work->pipe[pipe] += clocks * w->warps * w->times;
    w->since.pipe[pipe] += clocks * w->warps;
}

void warp_pass(struct warp *w, double clocks)
{
    w->path += clocks;
}

void warp_spend(struct warp *w, enum model_limit pipe, double instructions,
                double lanes)
{
    double clocks = instructions * WARP_LANES / lanes;
    double alone = clocks * SCHEDULERS;
    warp_hold(w, pipe, clocks);
    warp_hold(w, MODEL_issue, instructions / SCHEDULERS);
    warp_pass(w, alone > instructions ? alone : instructions);
}

double warp_latency(const struct warp *w)
{
    return w->place.device->latency * w->place.device->clock;
}

void warp_serial(struct warp *w, double clocks)
{
    w->path += clocks;
    w->path_serial += clocks;
}

void warp_settle(struct warp *w)
{
    w->path = w->ready > w->path ? w->ready : w->path;
    w->ready = 0;
}

// Return the clocks in which an SM gets what was loaded. Where there are fewer blocks
// than SMs, each has a larger share of what all of them get, as far as its own way to the
// L2 cache goes.
static double loading(const struct warp *w)
{
    const struct model_device *d = w->place.device;
    double blocks = (double)w->work->blocks, sms = d->sms;
    double sharing = d->clock * (blocks < sms ? blocks : sms);
    double near = d->l2 / sharing, far = d->dram / sharing;
    near = near < MODEL_L2_BYTES ? near : MODEL_L2_BYTES;
    far = far < near ? far : near;
    double clocks = w->since.loaded / near, cold = w->since.fetched / far;
    return clocks > cold ? clocks : cold;
}

double warp_transfer(struct warp *w)
{
    struct stretch s = w->since;
    double most = loading(w);
    for (int i = 0; i < MODEL_LIMITS; i++)
        most = s.pipe[i] > most ? s.pipe[i] : most;
    return s.began + most;
}

// Begin another stretch of code.
static void begin(struct warp *w)
{
    w->since = (struct stretch){.began = w->path};
    w->epoch++;
}

// Wait for copies that no later iteration waits for.
static void settle_copies(struct warp *w)
{
    w->path = w->copied > w->path ? w->copied : w->path;
    w->copied = 0;
}

static void run_stmt(struct warp *w, const struct ir_stmt *s);

void warp_run(struct warp *w, const struct ir_block *body)
{
    for (size_t i = 0; i < body->n; i++)
        run_stmt(w, body->at[i]);
}

// ---- Branches -------------------------------------------------------------

// Return the lanes, of those that are active, in which a condition holds.
static uint32_t lanes_where(const struct warp *w, const struct lanes *c)
{
    uint32_t r = 0;
    for (int i = 0; i < WARP_LANES; i++)
        r |= (uint32_t)(lanes_at(c, i) != 0) << i;
    return r & w->active;
}

// Follow one side of a branch for some lanes, for a part of the times.
static void run_side(struct warp *w, const struct ir_block *side,
                     uint32_t lanes, double part)
{
    uint32_t active = w->active;
    double times = w->times, path = w->path;
    if (!lanes || !side->n)
        return;
    w->active = lanes;
    w->times *= part;
    warp_run(w, side);
    w->active = active;
    w->times = times;
    w->path = path + (w->path - path) * part;
}

// Follow a branch.
static void run_branch(struct warp *w, const struct ir_stmt *s)
{
    struct lanes c;
    lanes_of(&w->place, s->u.branch.cond, &c);
    warp_value(w, s->u.branch.cond);
    bool known = c.trust == LANES_EXACT;
    uint32_t yes = known ? lanes_where(w, &c) : w->active;
    uint32_t no = known ? w->active & ~yes : w->active;
    run_side(w, &s->u.branch.then, yes, known ? 1 : 0.5);
    run_side(w, &s->u.branch.otherwise, no, known ? 1 : 0.5);
}

// ---- Loops ----------------------------------------------------------------

// Return the iterations between two numbers.
static int64_t count(int64_t from, int64_t to, int64_t step)
{
    int64_t n;
    bool runs = to > from && step > 0 && num_sub(to, from, &n);
    return runs ? (n - 1) / step + 1 : 0;
}

// Return where a loop begins in the first active lane of another block.
static int64_t from_in_block(struct warp *w, const struct ir_for *loop, int d,
                             int64_t block)
{
    struct lanes from;
    int64_t here[3];
    memcpy(here, w->place.block, sizeof here);
    memset(w->place.block, 0, sizeof here);
    w->place.block[d] = block;
    lanes_of(&w->place, loop->from, &from);
    memcpy(w->place.block, here, sizeof here);
    return lanes_at(&from, __builtin_ctz(w->active));
}

// Set the iterations of a loop over tiles: blocks begin `apart` from each other,
// and take steps over all of them.
static struct trips tiles(struct warp *w, const struct ir_for *loop, int64_t to,
                          int64_t step)
{
    uint32_t cluster = w->place.launch->cluster[0];
    int64_t width = cluster ? cluster : 1, starts = w->work->grid[0] / width;
    int64_t first = from_in_block(w, loop, 0, 0);
    int64_t apart = from_in_block(w, loop, 0, width) - first;
    int64_t n = to - first;
    if (apart <= 0 || n <= 0 || starts < 1)
        return (struct trips){(double)count(first, to, step),
                              (double)count(first, to, step)};
    int64_t side = step / apart < starts ? step / apart : starts;
    int64_t rest = count(0, n % step, apart);
    int64_t all = n / step * side + (rest < side ? rest : side);
    double each = (double)n / (double)apart / (double)starts;
    w->work->alternates |= first > 0;
    if (w->work->uneven == 0)
        w->work->uneven = each > 1 ? ceil(each) / each : 1;
    return (struct trips){(double)all / (double)starts,
                          (double)count(0, n, step)};
}

// Return how often a loop runs: of the lanes, that one counts that takes longest.
static struct trips trips_of(struct warp *w, const struct ir_for *loop,
                             const struct lanes *from, const struct lanes *step)
{
    struct lanes to;
    int64_t most = 0;
    if (until_is_found(loop))
        return (struct trips){UNTIL_TRIPS, UNTIL_TRIPS};
    lanes_of(&w->place, loop->to, &to);
    if (from->trust || to.trust || step->trust)
        return (struct trips){DATA_TRIPS, DATA_TRIPS};
    if ((from->on & ON_X) && step->same && step->at[0] > 1 && w->depth == 0)
        return tiles(w, loop, to.at[0], step->at[0]);
    for (int i = 0; i < WARP_LANES; i++) {
        int64_t n =
            count(lanes_at(from, i), lanes_at(&to, i), lanes_at(step, i));
        if (w->active >> i & 1 && n > most)
            most = n;
    }
    return (struct trips){(double)most, (double)most};
}

// Set the variable of a loop to what it is in the middle.
static void set_counter(struct warp *w, const struct ir_for *loop,
                        const struct lanes *from, const struct lanes *step,
                        struct trips n, bool is_whole)
{
    struct lanes value = *from;
    value.same &= step->same;
    for (int i = 0; i < (value.same ? 1 : WARP_LANES); i++)
        value.at[i] =
            (int64_t)((uint64_t)lanes_at(from, i) +
                      (uint64_t)(n.mean / 2) * (uint64_t)lanes_at(step, i));
    value.depth = w->depth + 1;
    value.turns = is_whole ? 0 : warp_turns(w) + 1;
    value.step = step->at[0];
    value.drifts = step->trust != LANES_EXACT;
    lanes_set(&w->place, loop->var, &value);
}

// Return how many iterations of the loop around load together.  LLVM expands one that it
// does not expand as a whole until it is so long, as it is already with several loads.
static double expanded(const struct warp *w)
{
    if (w->unrolled)
        return w->expanded;
    return w->loads <= 1 ? UNROLLED : fmax(UNROLLED / w->loads, 1);
}

// Return the clocks of an iteration that began at `path`: what it loads for the
// next ones goes on behind it, and short loops are unrolled.  Of copies that run ahead,
// as many as there are slots arrive in the time that one takes to come.  Copies that it
// does not wait for are those of the loop around.
static double iteration(struct warp *w, double path, bool meets)
{
    double alone = loading(w);
    double until = warp_transfer(w);
    double busy = w->path - path;
    double loads = w->ready - w->path > 0 ? w->ready - w->path : 0;
    bool copies = w->copied > 0 && w->waits;
    double together = expanded(w);
    double r = busy + (meets ? loads : loads / together);
    r = until - path > r ? until - path : r;
    double arrival = warp_latency(w) + (w->only_copies ? r : alone);
    double copying = copies ? arrival / w->copies_ahead : 0;
    w->path_ring += copying;
    w->ready = 0;
    w->copied = copies ? 0 : w->copied;
    return copying > r ? copying : r;
}

// What a loop keeps of the one around it.
struct around {
    double path, times, trips, ahead, serial, ring, loads, expanded;
    const void *loop;
    bool waits;
    unsigned unrolled;
    struct stretch since;
};

// Begin an iteration that stands for all of a loop.
static struct around enter(struct warp *w, const struct ir_for *loop,
                           struct trips n, bool is_whole)
{
    struct around r = {w->path,         w->times,       w->trips,
                       w->copies_ahead, w->path_serial, w->path_ring,
                       w->loads,        w->expanded,    w->loop,
                       w->waits,        w->unrolled,    w->since};
    w->depth++;
    w->times *= n.mean;
    w->trips = n.mean;
    w->copies_ahead = 1;
    w->loop = loop;
    w->waits = false;
    w->loads = 0;
    w->unrolled = is_whole ? w->unrolled + 1 : 0;
    w->expanded = is_whole ? n.most * w->expanded : 1;
    begin(w);
    return r;
}

// End it: all iterations have run.
static void leave(struct warp *w, const struct ir_for *loop,
                  const struct around *r, struct trips n)
{
    double each = iteration(w, r->path, ir_has_meeting(&loop->body));
    w->path = r->path + each * n.most;
    w->path_serial = r->serial + (w->path_serial - r->serial) * n.most;
    w->path_ring = r->ring + (w->path_ring - r->ring) * n.most;
    w->copied = w->copied > 0 ? w->path + warp_latency(w) : 0;
    w->depth--;
    w->times = r->times;
    w->trips = r->trips;
    w->loads = r->loads + w->loads * (w->unrolled ? n.most : 1);
    w->copies_ahead =
        w->waits || r->ahead > w->copies_ahead ? r->ahead : w->copies_ahead;
    w->loop = r->loop;
    w->waits = r->waits;
    w->unrolled = r->unrolled;
    w->expanded = r->expanded;
    w->since = r->since;
    w->epoch++;
}

// Follow a loop.
static void run_loop(struct warp *w, const struct ir_for *loop)
{
    struct lanes from, step;
    lanes_of(&w->place, loop->from, &from);
    lanes_of(&w->place, loop->step, &step);
    struct trips n = trips_of(w, loop, &from, &step);
    if (n.mean <= 0)
        return;
    bool is_whole = expansion_is_whole(w->arena, loop, n.most);
    set_counter(w, loop, &from, &step, n, is_whole);
    struct around around = enter(w, loop, n, is_whole);
    if (!w->unrolled)
        warp_spend(w, MODEL_integer, 2, w->place.device->integer);
    warp_run(w, &loop->body);
    leave(w, loop, &around, n);
}

// ---- Statements -----------------------------------------------------------

// Return whether a value that a loop inside of another computes from indices is
// the same in all iterations of the loop around: it is computed before that.
static bool is_before_loop(const struct warp *w, const struct ir_expr *x,
                           const struct lanes *value)
{
    return type_is_integer(x->type) && ir_is_stable(x) &&
           value->turns < warp_turns(w);
}

// Return whether an expression is the next number of a counter, which one thread of each
// block takes.
static bool is_ticket(const struct warp *w, const struct ir_expr *x)
{
    int64_t one;
    return x->op == OP_atomic_add && type_is_integer(x->type) && !w->depth &&
           __builtin_popcount(w->active) == 1 &&
           ir_int_value(x->args[x->n - 1], &one) && one == 1;
}

// Set the number that a block takes: its own, though others may come first.
static void take_ticket(const struct warp *w, struct lanes *out)
{
    w->work->tickets++;
    const int64_t *at = w->place.block, *grid = w->work->grid;
    lanes_number(at[0] + grid[0] * (at[1] + grid[1] * at[2]), out);
    out->on = ON_X;
}

// Keep what a variable is now.  An index is computed where it is used first.
static void set_var(struct warp *w, const struct ir_stmt *s)
{
    struct lanes value;
    const struct ir_expr *x = s->u.let.value;
    bool is_index = s->kind == STMT_let && type_is_index(x->type) &&
                    warp_is_index(x) && ir_is_stable(x);
    if (type_is_float(s->u.let.var->type)) {
        warp_value(w, x);
        return;
    }
    lanes_of(&w->place, x, &value);
    if (!is_index && !(s->kind == STMT_let && is_before_loop(w, x, &value)))
        warp_value(w, x);
    if (is_ticket(w, x))
        take_ticket(w, &value);
    value.owed = is_index && x->n ? x : NULL;
    lanes_set(&w->place, s->u.let.var, &value);
}

// Wait where threads wait for each other, which takes so many clocks.
static void meet(struct warp *w, double clocks)
{
    double until = warp_transfer(w);
    warp_settle(w);
    w->path = (until > w->path ? until : w->path) + clocks;
    warp_hold(w, MODEL_issue, 1.0 / SCHEDULERS);
    begin(w);
}

// Follow what orders or waits.
static void run_sync(struct warp *w, const struct ir_stmt *s)
{
    uint32_t n = s->u.sync.n;
    w->waits |= s->u.sync.kind == SYNC_async_wait;
    if (s->u.sync.kind == SYNC_async_wait && n == 0)
        settle_copies(w);
    else if (s->u.sync.kind == SYNC_async_wait && n + 1 > w->copies_ahead)
        w->copies_ahead = n + 1;
    else if (s->u.sync.kind == SYNC_cluster_wait)
        meet(w, CLUSTER_CLOCKS);
    else if (sync_threads(s->u.sync.kind) > 0)
        meet(w, BARRIER_CLOCKS);
}

// Add a store.
static void run_store(struct warp *w, const struct ir_stmt *s)
{
    uint32_t last = s->u.store.n ? s->u.store.n - 1 : 0;
    warp_value(w, s->u.store.value);
    if (!s->u.store.n)
        return;
    if (s->u.store.buffer->space == SPACE_shared && w->active) {
        struct lanes value;
        lanes_of(&w->place, s->u.store.value, &value);
        lanes_keep(&w->place, s->u.store.buffer, &value,
                   __builtin_ctz(w->active));
    }
    warp_index(w, s->u.store.index[last]);
    warp_access(w, MOVE_write, s->u.store.buffer, s->u.store.index[last],
                s->u.store.value->type);
}

// Follow a statement.
static void run_stmt(struct warp *w, const struct ir_stmt *s)
{
    switch ((int)s->kind) {
    case STMT_for: run_loop(w, &s->u.loop); return;
    case STMT_if: run_branch(w, s); return;
    case STMT_let:
    case STMT_var:
    case STMT_assign: set_var(w, s); return;
    case STMT_store: run_store(w, s); return;
    case STMT_eval: warp_value(w, s->u.value); return;
    case STMT_barrier:
        meet(w, s->u.of_cluster ? CLUSTER_CLOCKS : BARRIER_CLOCKS);
        return;
    case STMT_sync: run_sync(w, s); return;
    case STMT_matrix: warp_matrix(w, s); return;
    case STMT_copy: warp_copy(w, &s->u.copy); return;
    default: return;
    }
}
