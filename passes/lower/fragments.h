// What the files of the pass `fragments` share.

#ifndef PASSES_LOWER_FRAGMENTS_H
#define PASSES_LOWER_FRAGMENTS_H

#include "ir/base/map.h"
#include "ir/walk.h"
#include "passes/analysis/tensor.h"
#include "passes/pass.h"

// An array in a fragment, and the local array that each thread has of it:
// dimensions `dim` count tiles of an instruction there, and the last one the
// elements that the thread has of a tile. One that has an element for each row
// alone has no columns: each thread has the elements of the rows of which it has
// others.
enum { FRAGMENT_NONE = INT32_MAX }; // no such dimension
struct fragment {
    struct ir_stmt *alloc;
    struct ir_buffer *array, *local;
    const struct ir_stmt *user; // the nest that decides the layout
    struct matrix_layout layout;
    uint32_t dim[2];  // of the rows, of the columns; or FRAGMENT_NONE
    uint32_t tile[2]; // rows and columns of a tile
};

// The pass at work on the threads of one loop.
struct fragments {
    struct pass *p;
    struct VEC(struct fragment) all;
    struct ir_var *lane, *warp; // of this thread; warp: of its warpgroup
};

// Return what is known of an array; NULL if it is no fragment.
struct fragment *fragment_of(struct fragments *f, const struct ir_buffer *b);

// Declare the part that each thread has of an array whose layout is known.
// False if the array is not made of tiles.
bool fragments_declare(struct fragments *f, struct fragment *x);

// Let fragments without an instruction have the layout of those that stages
// use together with them.
void fragments_follow(struct fragments *f);

// Report that a nest is not what its instruction does.  Returns false.
bool fragments_refuse(struct fragments *f, const struct ir_stmt *loop,
                      struct ir_matrix op, const char *why);

// Put the instruction in the place of a nest that is marked with one.
// False after an error.
bool fragments_multiply(struct fragments *f, struct ir_stmt *loop,
                        struct ir_stmt **out);

// Describe an operand of a WGMMA in shared memory.  Returns NULL, or what is
// wrong with how it lies.
const char *fragments_shared(struct fragments *f,
                             const struct tensor_nest *nest,
                             enum matrix_operand which, struct ir_tile *out);

// Return whether a statement consists of instructions of warpgroups and loops.
bool fragments_is_product(struct ir_stmt *s);

// Check that WGMMAs may be in flight from one iteration of a loop to the next;
// false after an error.
bool fragments_check_flight(struct fragments *f, struct ir_stmt *loop);

// Put fences and waits around the instructions of warpgroups in a block; false
// after an error.
bool fragments_order(struct fragments *f, struct ir_block *block);

// Spread the loops around a stage that uses fragments over the threads, below
// the loop over warps; false after an error.
bool fragments_spread(struct fragments *f, struct ir_stmt *group,
                      struct ir_stmt *stage);

// How the loops around a stage count what is inside of a tile.
enum { SPREAD_MOST = 32 };
struct spread_loop {
    struct ir_stmt *loop;
    int side;           // 0 rows, 1 columns, of the part inside of a tile
    int64_t factor;     // of the row or column that one iteration is worth
    int64_t extent;     // of the loop
    int64_t inside;     // iterations inside of a tile; 0: it counts tiles only
    int64_t element;    // of the thread, that one iteration is worth, if the
                        // loop stays around the elements; or 0
    struct ir_var *out; // counts the tiles of a loop that does both ...
    int64_t tiles;      // ... so many at a time
};
struct spread {
    struct fragments *f;
    struct ir_stmt *stage;
    const struct fragment *like; // whose layout the stage follows
    struct matrix_layout layout; // the part of it inside of loops that stay
    struct ir_path path;         // from the loop's body to the stage
    struct spread_loop loops[SPREAD_MOST];
    uint32_t n; // loops of the path
    struct ir_var
        *digit[2 * MATRIX_DIGITS_MOST]; // of the elements, by layout digit
    struct ir_expr *at[2]; // row and column of a tile that this thread is at
    bool reduces;          // it makes an element of the columns of each row
};

// Let those loops stay that count elements of the same thread around others and
// around further statements: what they count leaves the layout.
void spread_keep(struct spread *x);

// Return an expression of the stage over the loops around it.
struct ir_expr *spread_over_loops(struct spread *x, struct ir_expr *e);

// Return the indices of the thread's part for an access to a fragment, and
// the element of a tile.
struct ir_expr **spread_index(struct spread *x, const struct fragment *f,
                              struct ir_expr *const *index,
                              struct ir_expr *element);

// How the elements that a thread has of one fragment lie in another one, whose
// tiles are parts of those of the first (fragment_within.c).

// Return whether the threads that have elements of a stage's fragment have those
// of another one at the same rows and columns.
bool spread_is_within(const struct spread *x, const struct fragment *f);
// Return which tile of the fragment, of those in a tile of the stage's, and which
// element of it, this thread is at.
struct ir_expr *spread_tile_within(struct spread *x, const struct fragment *f,
                                   int side);
struct ir_expr *spread_element_within(struct spread *x,
                                      const struct fragment *f);
// Return what a digit of the stage's layout is in this thread.
struct ir_expr *spread_digit(struct spread *x, int side, uint32_t i);

// Return the layout of an array that has an element for each row: each thread has
// those of its rows (fragment_rows.c).
struct matrix_layout fragments_rows(const struct matrix_layout *of);
// Return whether a stage reduces the columns of its fragment to an element for each
// row, of which each thread combines its share.
bool spread_reduces(const struct spread *x);
// Let the stage accumulate in arrays of the thread. Append what stands in front of
// all columns of a row tile, and what combines the parts of the threads behind them;
// false if the stage cannot be divided so.
bool spread_reduce(struct spread *x, struct ir_block *front,
                   struct ir_block *behind);

// Return what the loops that count inside of tiles are at the thread's place.
struct map spread_values(struct spread *x);

// Append a load of 8 x 8 matrices in the place of a stage that copies shared
// memory to a fragment; false if it is anything else, or lies otherwise.
bool fragments_load(struct spread *x, struct ir_block *out);

// Let a stage, whose loads from fragments are of this thread's part already,
// store to a local array instead of shared memory, and append the array and the
// instructions that store it; false, and nothing is changed, if there are none.
bool fragments_store(struct spread *x, struct ir_block *out);

// Let a stage that rounds to tf32 what it loads from shared memory just load it;
// false if it is no such stage. Append to loads that rounds what they load.
bool fragments_part_rounding(struct spread *x);
void fragments_append_rounding(struct fragments *f, struct ir_block *loads);

// Return which of the elements inside of loops that stay this thread is at.
struct ir_expr *spread_element(struct spread *x);

#endif
