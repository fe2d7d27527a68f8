// A scan that threads share, while it is lowered.

#ifndef PASSES_LOWER_SCANS_H
#define PASSES_LOWER_SCANS_H

#include "ir/base/map.h"
#include "ir/walk.h"
#include "passes/analysis/scan.h"

enum {
    SCAN_LEVELS = 12,
    SCAN_HELD_MOST = 256, // elements of a thread
    SCAN_KEPT = 4
};

// A level of a scan: what it does to the elements of the levels inside.
enum scan_level_kind {
    SCAN_SERIAL, // a thread holds those of each iteration
    SCAN_LANES,  // neighbours in a warp exchange by shuffles
    SCAN_WARPS,  // warps of a block exchange through shared memory
};
struct scan_level {
    enum scan_level_kind kind;
    struct ir_stmt *loop;   // serial
    struct ir_expr *number; // lanes, warps: which of them the thread is of
    int64_t extent;
    struct ir_buffer *before[REDUCER_ARRAYS]; // lanes, warps: what is in front
                                              // of this one, for each iteration
                                              // of the serial levels around
};

// What is known of a tile: what it has, or what all tiles up to it have.
enum scan_state { SCAN_SUM = 1, SCAN_FRONT = 2 };

// What blocks exchange: arrays with an element for each tile of each row, in
// the workspace, and what a block hands to its threads.
struct scan_exchange {
    bool is_packed;                           // states hold the values, too
    struct ir_buffer *ticket;                 // of each row: the next tile
    struct ir_buffer *states[REDUCER_ARRAYS]; // 0 until something is known
    size_t n;                                 // of these: packed, one a value
    struct ir_buffer *sums[REDUCER_ARRAYS];   // what the tile has
    struct ir_buffer *fronts[REDUCER_ARRAYS]; // what all up to it have
    struct ir_buffer *who;                    // shared: the block's tile
    struct ir_buffer *handed[REDUCER_ARRAYS]; // shared: what is in front of it
};

// What a thread knows of a tile of other blocks.
struct scan_states {
    struct ir_expr *is_none, *tile;
    struct ir_var *at[REDUCER_ARRAYS];
};

// What each element loads both for what it combines and for what it stores: in
// between, it stays in registers.
struct scan_kept {
    struct ir_expr *load;    // of the stage
    struct ir_buffer *array; // with an element for each of the thread's own
};

// A scan that is shared.
struct scanning {
    struct pass *pass;
    struct ir_stmt *stage;
    struct ir_path path; // down to the stage
    uint32_t first;      // outermost loop of the scan on the path
    struct scan scan;
    struct ir_block outer;   // loops over threads around; those of lanes that
                             // have a scan each may be inside of that of blocks
    struct ir_stmt *blocks;  // the scan's loop over blocks; or NULL
    struct ir_block carried; // its serial loops outside of threads
    struct ir_block threads; // its loops over threads
    struct scan_level levels[SCAN_LEVELS]; // what a tile consists of, outermost
                                           // first
    uint32_t n;                            // of them
    int64_t held;                          // elements of a thread
    struct scan_kept kept[SCAN_KEPT];
    uint32_t n_kept;
    // The totals over level k and those inside, for each iteration of the
    // serial levels around; those of level n are the elements themselves.
    struct ir_buffer *totals[SCAN_LEVELS + 1][REDUCER_ARRAYS];
    struct map values;    // of the iteration variables that select rows
    struct ir_expr *tile; // blocks: the number of the tile that the block takes
    struct scan_exchange exchange; // blocks
    struct ir_block shared;        // declarations of shared arrays
};

// One value each for the values of a partial result.
struct scan_values {
    struct reducer_place at[REDUCER_ARRAYS];
};

// ---- Parts (scans_parts.c)

// Append a statement that stands for the stage; returns it.
struct ir_stmt *scan_add(const struct scanning *c, struct ir_block *to,
                         struct ir_stmt *s);
// Make a variable.
struct ir_var *scan_var(const struct scanning *c, const char *name,
                        struct type type, enum var_kind kind);
// Name a value, or declare a variable that has it; returns that.
struct ir_var *scan_let(const struct scanning *c, struct ir_block *to,
                        const char *name, struct ir_expr *value,
                        enum var_kind kind);
// Return the type of a value, and the name of something of it.
struct type scan_type(const struct scanning *c, size_t value);
const char *scan_name(const struct scanning *c, size_t value, const char *what);
// Make an array for a value.
struct ir_buffer *scan_array(const struct scanning *c, size_t value,
                             const char *what, enum space space, uint32_t rank,
                             struct ir_expr **shape);

// Set `x` to the identity, or to what is in places.
void scan_identity(const struct scanning *c, struct ir_expr **x);
void scan_read(const struct scanning *c, const struct scan_values *from,
               struct ir_expr **x);
// Declare a variable for each value.
struct scan_values scan_declare_values(const struct scanning *c,
                                       struct ir_block *to, const char *what,
                                       struct ir_expr *const *initial);
// Store values.
void scan_write(const struct scanning *c, struct ir_block *to,
                const struct scan_values *at, struct ir_expr *const *x);
// Combine what is in places with what comes behind it.
void scan_combine(const struct scanning *c, struct ir_block *to,
                  const struct scan_values *at, struct ir_expr *const *right);
// Put what comes in front of it to what is in places, if a condition holds;
// NULL: always.
void scan_precede(const struct scanning *c, struct ir_block *to,
                  struct ir_expr *condition, const struct scan_values *at,
                  struct ir_expr *const *left);
// Exchange values: `x` is those of another lane.
void scan_shuffle(const struct scanning *c, struct ir_block *to, enum ir_op op,
                  const struct scan_values *at, struct ir_expr *lane,
                  struct ir_expr **x);
// Let each of `width` lanes have what is up to it.
void scan_lanes(const struct scanning *c, struct ir_block *to,
                const struct scan_values *at, struct ir_expr *lane,
                int64_t width);
// Return the number of the lane of the thread; NULL if lanes share nothing:
// each has a scan of its own.
struct ir_expr *scan_lane(const struct scanning *c);
// Return a comparison of a number with a constant.
struct ir_expr *scan_compare(const struct scanning *c, enum ir_op op,
                             struct ir_expr *x, int64_t with);

// ---- What is loaded once (scans_kept.c)

// Find what is loaded both for what elements combine and for what they store.
void kept_find(struct scanning *c);
// Return whether branches store the elements, and what they combine is computed
// from what is kept alone: then it can be computed again.
bool kept_is_all(const struct scanning *c);
// Return an expression of the stage that reads element `index` of what is kept,
// where it loads that; the same of a block, in place.
struct ir_expr *kept_read(const struct scanning *c, struct ir_expr *x,
                          struct ir_expr *const *index);
void kept_read_in(const struct scanning *c, struct ir_block *block,
                  struct ir_expr *const *index);

// ---- Loops over elements (scans_nest.c)

// Loops over the serial levels outside of one, and what stands in them.
struct scan_nest {
    struct ir_block *body;
    struct map vars; // the stage's loops to these
    uint32_t n;
    struct ir_expr *index[SCAN_LEVELS]; // their variables
};

// Append a loop like that of a serial level.
void nest_enter(const struct scanning *c, struct scan_nest *nest, uint32_t k,
                bool keeps_vector);
// Begin without loops.
struct scan_nest nest_at(const struct scanning *c, struct ir_block *to);
// Append loops over the serial ones of the first `k` levels.
struct scan_nest nest_open(const struct scanning *c, struct ir_block *to,
                           uint32_t k, bool keeps_vector);
// Return the places in arrays that belong to an iteration.
struct scan_values nest_values(const struct scanning *c,
                               struct ir_buffer *const *arrays,
                               const struct scan_nest *nest);
// Declare arrays of what each iteration of the first `k` levels has.
void nest_arrays(const struct scanning *c, struct ir_block *to, uint32_t k,
                 const char *what, struct ir_buffer **arrays);
// Append a stage like that of the scan, for one element.
struct ir_stmt *nest_stage(const struct scanning *c,
                           const struct scan_nest *nest, const char *name,
                           struct map *iters);
// Return the condition that the last element of the tile exists: then all do.
// Passes behind prove that, or leave the conditions of the elements.
struct ir_expr *nest_is_whole(const struct scanning *c);
// Return the extents of the serial ones of the first `k` levels.
struct ir_expr **nest_shape(const struct scanning *c, uint32_t k,
                            uint32_t *rank);

// ---- What a thread loads (scans_load.c)

// Load the elements; those that do not exist are the identity.
void load_elements(struct scanning *c, struct ir_block *to);
// Set `x` to what an element combines.
void load_operands(const struct scanning *c, const struct scan_nest *nest,
                   const struct map *iters, struct ir_expr **x);
// Let a thread combine what it holds of a serial level.
void load_total(struct scanning *c, uint32_t k, struct scan_nest *nest);
// Return whether a thread combines what it holds of the innermost level as it
// loads it.  Where elements may not exist there are two ways to load them, and
// what is computed again later would stay in registers behind these.
bool load_is_early(const struct scanning *c);

// ---- The tile of a block (scans_tile.c)

// Append what loads a tile and finds its totals, to totals[0].
void scan_up(struct scanning *c, struct ir_block *to, bool needs_total);
// Return the places of the totals of a tile.
struct scan_values scan_total(const struct scanning *c);

// ---- The way out (scans_store.c)

// Append what stores the elements of a tile, behind those that `run` holds;
// changes `run`.
void scan_down(struct scanning *c, struct ir_block *to,
               const struct scan_values *run);

// ---- What blocks exchange (scans_exchange.c)

// Make an array.
struct ir_buffer *exchange_array(const struct scanning *c, const char *what,
                                 enum type_kind type, enum space space,
                                 uint32_t rank, struct ir_expr **shape);
// Declare the arrays in the workspace.
void exchange_declare(struct scanning *c, struct ir_block *to);
// Append a nest that clears tickets and states.
void exchange_clear(const struct scanning *c, struct ir_block *to);
// Return the place of what is of the block's row and, unless it is NULL, of a
// tile of it.
struct reducer_place exchange_at(const struct scanning *c,
                                 struct ir_buffer *array, struct ir_expr *tile);
// Append a loop that ends once a condition does not hold; returns the block of
// what it does meanwhile.
struct ir_block *exchange_while(const struct scanning *c, struct ir_block *to,
                                const char *name, struct ir_expr *condition);
// Append what publishes values of the block's tile.
void exchange_publish(const struct scanning *c, struct ir_block *to,
                      struct ir_expr *const *x, enum scan_state state);
// Declare what a thread knows of a tile: what it sees if it looks, else nothing
// so far; where there is no tile, all.
struct scan_states exchange_begin(const struct scanning *c, struct ir_block *to,
                                  struct ir_expr *is_none, struct ir_expr *tile,
                                  bool looks);
// Append the wait for a tile, and what reads its values, the identity where
// there is none.  Returns them, and the condition that they are of all tiles up
// to that one.
struct scan_values exchange_read(const struct scanning *c, struct ir_block *to,
                                 const struct scan_states *s,
                                 struct ir_expr **is_front);

// ---- Blocks (scans_lookback.c)

// Declare what blocks exchange, in front of the nest and of its launch.
void lookback_declare(struct scanning *c);
// Append what gives the block its tile, c->tile.
void lookback_take(struct scanning *c, struct ir_block *to);
// Append what publishes the total of the tile and finds what is in front of it;
// returns that.
struct scan_values lookback_find(struct scanning *c, struct ir_block *to);

#endif
