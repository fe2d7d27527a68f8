// The loops of a function: heads that a branch goes back to, by a walk over its
// blocks.

#include "tools/simt/code.h"

enum { UNSEEN, OPEN, CLOSED };

// A walk over the blocks of a function.
struct walk {
    struct arena *arena;
    struct map state; // block -> a `char` of these
    struct map loops; // head -> struct code_loop
    char states[3];   // what the map points to
};

// Note a branch back to the head of a loop.
static void add_back(struct walk *walk, LLVMBasicBlockRef from,
                     LLVMBasicBlockRef head)
{
    struct code_loop *loop = map_get(&walk->loops, head);
    if (!loop) {
        loop = arena_new(walk->arena, struct code_loop);
        loop->head = head;
        map_set(&walk->loops, head, loop);
    }
    struct code_edge e = {from, true};
    vec_push(walk->arena, &loop->edges, e);
}

// Visit a block and those behind it; a branch back to one that is open closes
// a loop.
static void visit(struct walk *walk, LLVMBasicBlockRef b)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    unsigned n = end ? LLVMGetNumSuccessors(end) : 0;
    map_set(&walk->state, b, &walk->states[OPEN]);
    for (unsigned i = 0; i < n; i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
        const char *state = map_get(&walk->state, to);
        if (!state)
            visit(walk, to);
        else if (state == &walk->states[OPEN])
            add_back(walk, b, to);
    }
    map_set(&walk->state, b, &walk->states[CLOSED]);
}

// Return whether a branch is back to the head.
static bool is_back(const struct code_loop *loop, LLVMBasicBlockRef from)
{
    for (size_t i = 0; i < loop->edges.n; i++)
        if (loop->edges.at[i].is_back && loop->edges.at[i].from == from)
            return true;
    return false;
}

// Note the ways into loops from a block.
static void enter(struct walk *walk, LLVMBasicBlockRef b)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    unsigned n = end ? LLVMGetNumSuccessors(end) : 0;
    for (unsigned i = 0; i < n; i++) {
        struct code_loop *loop =
            map_get(&walk->loops, LLVMGetSuccessor(end, i));
        struct code_edge e = {b, false};
        if (loop && !is_back(loop, b))
            vec_push(walk->arena, &loop->edges, e);
    }
}

struct code_loops code_loops(struct rewriter *w, LLVMValueRef function)
{
    struct code_loops all = {0};
    struct arena *a = w->code->arena;
    struct walk walk = {.arena = a, .state = {.arena = a}};
    walk.loops.arena = a;
    LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(function), b;
    visit(&walk, LLVMGetEntryBasicBlock(function));
    for (b = first; b; b = LLVMGetNextBasicBlock(b))
        enter(&walk, b);
    for (b = first; b; b = LLVMGetNextBasicBlock(b))
        if (map_has(&walk.loops, b))
            vec_push(a, &all, map_get(&walk.loops, b));
    return all;
}

void code_each_loop(struct rewriter *w, LLVMValueRef function,
                    void (*see)(struct rewriter *w,
                                const struct code_loop *loop))
{
    struct code_loops all = code_loops(w, function);
    for (size_t i = 0; i < all.n; i++)
        see(w, all.at[i]);
}
