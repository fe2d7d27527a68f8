// Loops over a tree.
//
//   ir_foreach_stmt(s, &kernel->body) {
//       if (s->kind == STMT_barrier)
//           return true;
//   }
//
// `break`, `continue` and `return` do what they do in any loop.  A body may
// change what it was given and what is below that, but no block around it.

#ifndef IR_FOREACH_H
#define IR_FOREACH_H

#include "ir/ir.h"

// What is being gone through: a block, a statement by itself, the expressions
// of a statement, an expression by itself, or the operands of an expression.
struct ir_step {
    enum { STEP_block, STEP_self, STEP_stmt, STEP_root, STEP_expr } of;
    uint32_t next; // of it
    union {
        struct ir_block *block;
        struct ir_stmt *stmt;
        struct ir_expr *expr;
    } u;
};

// The steps from where a loop began down to where it is.
struct ir_walk {
    uint32_t n, cap;
    struct ir_step *at;   // `here`, or an array of the arena
    struct ir_stmt *stmt; // the last one, when loops go over statements, and
    struct ir_expr *expr; // when over expressions: to be entered, or NULL
    struct arena arena;   // for trees deeper than `here`
    struct ir_step here[20];
};

// Begin with what is below a block, with a statement, with the expressions of a
// statement itself, or with an expression.  Returns the walk.
struct ir_walk *ir_walk_block(struct ir_walk *w, const struct ir_block *block);
struct ir_walk *ir_walk_from(struct ir_walk *w, const struct ir_stmt *s);
struct ir_walk *ir_walk_stmt(struct ir_walk *w, const struct ir_stmt *s);
struct ir_walk *ir_walk_expr(struct ir_walk *w, const struct ir_expr *x);

// Return the next statement or expression; NULL after the last one.
struct ir_stmt *ir_next_stmt(struct ir_walk *w);
struct ir_expr *ir_next_expr(struct ir_walk *w);

// Give back what a walk holds.
static inline void ir_walk_end(struct ir_walk *w)
{
    if (w->arena.chunks)
        arena_reset(&w->arena);
}

// A loop that declares `name`, an outer loop of one iteration around it: so
// its walk ends however it is left.
#define IR_FOREACH(type, name, begin, next, from)                              \
    for (struct ir_walk name##_walk __attribute__((cleanup(ir_walk_end))),     \
         *name##_once = begin(&name##_walk, from);                             \
         name##_once; name##_once = NULL)                                      \
        for (type * name; (name = next(&name##_walk)) != NULL;)

// Every statement below a block, each before what it contains.
#define ir_foreach_stmt(s, block)                                              \
    IR_FOREACH(struct ir_stmt, s, ir_walk_block, ir_next_stmt, block)

// A statement and every one below it, each before what it contains.
#define ir_foreach_stmt_from(s, root)                                          \
    IR_FOREACH(struct ir_stmt, s, ir_walk_from, ir_next_stmt, root)

// An expression and all below it, each before its operands.
#define ir_foreach_expr(x, root)                                               \
    IR_FOREACH(struct ir_expr, x, ir_walk_expr, ir_next_expr, root)

// Every expression of a statement itself: see ir_foreach_place.
#define ir_foreach_expr_of(x, stmt)                                            \
    IR_FOREACH(struct ir_expr, x, ir_walk_stmt, ir_next_expr, stmt)

// Every expression of every statement below a block.
#define ir_foreach_expr_in(x, block)                                           \
    IR_FOREACH(struct ir_expr, x, ir_walk_block, ir_next_expr, block)

// Every expression of a statement and of every one below it.
#define ir_foreach_expr_from(x, stmt)                                          \
    IR_FOREACH(struct ir_expr, x, ir_walk_from, ir_next_expr, stmt)

// Leave out what is below the statement or expression that such a loop is at.
#define ir_skip(name) ((void)(name##_walk.stmt = NULL, name##_walk.expr = NULL))

// The places of the expressions directly inside a statement, in the order of
// the text: bindings, extents and predicates of stages among them, but not
// those of nested statements and not the shapes of arrays.
#define ir_foreach_place(place, s)                                             \
    for (uint32_t place##_next = 0, place##_once = 1; place##_once;            \
         place##_once = 0)                                                     \
        for (struct ir_expr * *place;                                          \
             (place = ir_next_place(s, &place##_next)) != NULL;)

// The places of the arrays that a statement itself declares or accesses, but for
// those of expressions.
#define ir_foreach_buffer(buffer, s)                                           \
    for (uint32_t buffer##_next = 0, buffer##_once = 1; buffer##_once;         \
         buffer##_once = 0)                                                    \
        for (struct ir_buffer * *buffer;                                       \
             (buffer = ir_next_buffer(s, &buffer##_next)) != NULL;)

// The blocks directly inside a statement: bodies, branches, init.
#define ir_foreach_block(block, s)                                             \
    for (uint32_t block##_next = 0, block##_once = 1; block##_once;            \
         block##_once = 0)                                                     \
        for (struct ir_block * block;                                          \
             (block = ir_next_block(s, &block##_next)) != NULL;)

// Set the blocks directly inside a statement; returns how many there are.
enum { IR_BLOCKS_MOST = 2 };
uint32_t ir_stmt_blocks(struct ir_stmt *s, struct ir_block *out[]);

// Give a statement that is a copy of another one places of its own for its
// expressions, where those are arrays.
void ir_own_places(struct arena *a, struct ir_stmt *s);

// Return the array `next` of a statement, and move on; NULL if there are fewer.
struct ir_buffer **ir_next_buffer(struct ir_stmt *s, uint32_t *next);

// Return the block `next` of a statement, and move on; NULL if there are fewer.
struct ir_block *ir_next_block(struct ir_stmt *s, uint32_t *next);

// Return the place `next`, or the first one behind it that holds something, and
// move on; NULL if there is none.
struct ir_expr **ir_next_place(struct ir_stmt *s, uint32_t *next);

#endif
