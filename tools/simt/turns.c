// Loops that may wait for others: those that a branch leaves before their
// count is up.  Their heads show the executor the state of the loop, the values
// that an iteration hands to the next, so that it sees a loop that gets nowhere.

#include "tools/simt/code.h"

#define FUNCTION(f) ((void (*)(void))(f))
#define FACTOR      UINT64_C(0x9e3779b97f4a7c15)

enum { WORD_BITS = 64, VALUE_BITS_MOST = 512, CONDITION_DEPTH = 4, FOLD = 29 };

// A loop with its blocks.
struct body {
    const struct code_loop *loop;
    struct map blocks;
};

// The loops of a function.
struct bodies {
    struct arena *arena;
    struct map before; // block -> struct code_loop, of which edges lead to it
    struct VEC(struct body *) all;
};

// ---- Blocks of loops ------------------------------------------------------

// Note the blocks in front of each block.
static void find_before(struct bodies *s, LLVMValueRef function)
{
    LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function);
    for (; b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        unsigned n = end ? LLVMGetNumSuccessors(end) : 0;
        for (unsigned i = 0; i < n; i++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
            struct code_loop *in = map_get(&s->before, to);
            struct code_edge e = {b, false};
            if (!in) {
                in = arena_new(s->arena, struct code_loop);
                map_set(&s->before, to, in);
            }
            vec_push(s->arena, &in->edges, e);
        }
    }
}

// Add a block and those in front of it, up to the head.
static void add_blocks(struct bodies *s, struct body *body, LLVMBasicBlockRef b)
{
    struct VEC(LLVMBasicBlockRef) open = {0};
    vec_push(s->arena, &open, b);
    while (open.n) {
        LLVMBasicBlockRef one = open.at[--open.n];
        if (map_has(&body->blocks, one))
            continue;
        map_set(&body->blocks, one, one);
        const struct code_loop *in = map_get(&s->before, one);
        for (size_t i = 0; in && i < in->edges.n; i++)
            vec_push(s->arena, &open, in->edges.at[i].from);
    }
}

// Return the blocks of a loop.
static struct body *body_of(struct bodies *s, const struct code_loop *loop)
{
    struct body *body = arena_new(s->arena, struct body);
    body->loop = loop;
    body->blocks.arena = s->arena;
    map_set(&body->blocks, loop->head, loop->head);
    for (size_t i = 0; i < loop->edges.n; i++)
        if (loop->edges.at[i].is_back)
            add_blocks(s, body, loop->edges.at[i].from);
    return body;
}

// Return whether a value does not change while a loop runs.
static bool is_fixed(const struct body *body, LLVMValueRef v)
{
    return !LLVMIsAInstruction(v) ||
           !map_has(&body->blocks, LLVMGetInstructionParent(v));
}

// ---- Counters -------------------------------------------------------------

// Return whether a branch leaves a loop, one way.
static bool is_exit(const struct body *body, LLVMValueRef branch)
{
    unsigned n = LLVMGetNumSuccessors(branch), out = 0;
    for (unsigned i = 0; i < n; i++)
        out += !map_has(&body->blocks, LLVMGetSuccessor(branch, i));
    return out > 0;
}

// Return whether a condition is for nothing but leaving a loop.
static bool is_for_exit(const struct body *body, LLVMValueRef condition,
                        int depth)
{
    LLVMUseRef use = LLVMGetFirstUse(condition);
    for (; use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool is_branch = LLVMIsABranchInst(user);
        bool is_logic = LLVMIsASelectInst(user) || LLVMIsABinaryOperator(user);
        if (is_branch
                ? !is_exit(body, user)
                : !is_logic || !depth || !is_for_exit(body, user, depth - 1))
            return false;
    }
    return true;
}

// Return what a number is more than another value by a constant; NULL: by none.
static LLVMValueRef step_of(LLVMValueRef v, LLVMValueRef than)
{
    bool adds =
        LLVMIsABinaryOperator(v) && (LLVMGetInstructionOpcode(v) == LLVMAdd ||
                                     LLVMGetInstructionOpcode(v) == LLVMOr);
    if (!adds || LLVMGetOperand(v, 0) != than ||
        !LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
        return NULL;
    return LLVMGetOperand(v, 1);
}

// Return whether a number of a loop, and what is counted on from it, is for
// nothing but leaving the loop.
static bool is_for_count(const struct body *body, LLVMValueRef phi,
                         LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool is_compare = LLVMIsAICmpInst(user);
        bool is_step = v == phi && step_of(user, phi);
        if (user == phi ||
            (is_compare && is_for_exit(body, user, CONDITION_DEPTH)) ||
            (is_step && is_for_count(body, phi, user)))
            continue;
        return false;
    }
    return true;
}

// Return whether a value of the head counts iterations: from each to the next
// it grows by a constant.
static bool is_counter(const struct body *body, LLVMValueRef phi)
{
    if (LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind)
        return false;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef v = LLVMGetIncomingValue(phi, i);
        LLVMValueRef step = step_of(v, phi);
        if (map_has(&body->blocks, LLVMGetIncomingBlock(phi, i)) &&
            (!step || !LLVMConstIntGetSExtValue(step)))
            return false;
    }
    return true;
}

// Return the value that a comparison of a counter, or of its next value, is
// with, or NULL.
static LLVMValueRef limit_in(const struct body *body, LLVMValueRef compare,
                             LLVMValueRef phi)
{
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef v = LLVMGetOperand(compare, i);
        LLVMValueRef other = LLVMGetOperand(compare, 1 - i);
        if ((v == phi || step_of(v, phi)) && is_fixed(body, other))
            return other;
    }
    return NULL;
}

// Return what a counter goes up or down to, as a branch out of the loop says,
// or NULL; `*exits` counts the branches out.
static LLVMValueRef limit_of(const struct body *body, LLVMValueRef function,
                             LLVMValueRef phi, unsigned *exits)
{
    LLVMValueRef limit = NULL;
    LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function);
    *exits = 0;
    for (; b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (!map_has(&body->blocks, b) || !is_exit(body, end))
            continue;
        ++*exits;
        LLVMValueRef c = LLVMIsABranchInst(end) && LLVMIsConditional(end)
                             ? LLVMGetCondition(end)
                             : NULL;
        if (c && phi && LLVMIsAICmpInst(c) && !limit)
            limit = limit_in(body, c, phi);
    }
    return limit;
}

// ---- States ---------------------------------------------------------------

// Return a value as a number of 64 bits that differs where it does, NULL if it
// has too many.
static LLVMValueRef as_word(struct rewriter *w, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(w->builder, v, w->word, "");
    if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind)
        return NULL;
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(w->module);
    unsigned bits = (unsigned)LLVMSizeOfTypeInBits(layout, type);
    if (bits > VALUE_BITS_MOST)
        return NULL;
    LLVMTypeRef number = LLVMIntTypeInContext(w->context, bits);
    v = LLVMBuildBitCast(w->builder, v, number, "");
    LLVMValueRef all = LLVMBuildIntCast2(w->builder, v, w->word, false, "");
    for (unsigned from = WORD_BITS; from < bits; from += WORD_BITS) {
        LLVMValueRef by = LLVMConstInt(number, from, false);
        LLVMValueRef part = LLVMBuildLShr(w->builder, v, by, "");
        LLVMValueRef factor = LLVMConstInt(w->word, FACTOR, false);
        all = LLVMBuildMul(w->builder, all, factor, "");
        part = LLVMBuildIntCast2(w->builder, part, w->word, false, "");
        all = LLVMBuildXor(w->builder, all, part, "");
    }
    return all;
}

// Mix a value into a state.  Returns NULL if it cannot be.
static LLVMValueRef mix(struct rewriter *w, LLVMValueRef state, LLVMValueRef v)
{
    LLVMValueRef word = state ? as_word(w, v) : NULL;
    if (!word)
        return NULL;
    state = LLVMBuildXor(w->builder, state, word, "");
    state = LLVMBuildMul(w->builder, state,
                         LLVMConstInt(w->word, FACTOR, false), "");
    LLVMValueRef high = LLVMBuildLShr(w->builder, state,
                                      LLVMConstInt(w->word, FOLD, false), "");
    return LLVMBuildXor(w->builder, state, high, "");
}

// Mix the values of a head into a state, but for one.
static LLVMValueRef mix_head(struct rewriter *w, LLVMValueRef state,
                             LLVMBasicBlockRef head, LLVMValueRef but)
{
    LLVMValueRef i = LLVMGetFirstInstruction(head);
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        state = i == but ? state : mix(w, state, i);
    return state;
}

// Return how far a counter is from its limit, all bits set if there is none.
static LLVMValueRef distance(struct rewriter *w, LLVMValueRef counter,
                             LLVMValueRef limit)
{
    if (!limit)
        return LLVMConstInt(w->word, UINT64_MAX, false);
    LLVMValueRef a = LLVMBuildIntCast2(w->builder, limit, w->word, true, "");
    LLVMValueRef b = LLVMBuildIntCast2(w->builder, counter, w->word, true, "");
    LLVMValueRef up = LLVMBuildSub(w->builder, a, b, "");
    LLVMValueRef down = LLVMBuildSub(w->builder, b, a, "");
    LLVMValueRef is_up = LLVMBuildICmp(w->builder, LLVMIntSGT, a, b, "");
    return LLVMBuildSelect(w->builder, is_up, up, down, "");
}

// Return the counter of a loop, or NULL.
static LLVMValueRef counter_of(const struct body *body, LLVMValueRef function)
{
    LLVMValueRef i = LLVMGetFirstInstruction(body->loop->head);
    unsigned exits;
    for (; i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        if (is_counter(body, i) && limit_of(body, function, i, &exits))
            return i;
    return NULL;
}

// Have the head of a loop show its state, if it may wait for others.  Returns
// whether it does.
static bool show(struct rewriter *w, const struct bodies *s,
                 const struct body *body, LLVMValueRef function)
{
    LLVMBasicBlockRef head = body->loop->head;
    LLVMValueRef counter = counter_of(body, function), at;
    unsigned exits;
    LLVMValueRef limit = limit_of(body, function, counter, &exits);
    if (counter && exits == 1)
        return false;
    for (at = LLVMGetFirstInstruction(head); LLVMIsAPHINode(at);)
        at = LLVMGetNextInstruction(at);
    LLVMPositionBuilderBefore(w->builder, at);
    bool is_left_out = counter && is_for_count(body, counter, counter);
    LLVMValueRef state = mix_head(w, LLVMConstInt(w->word, 1, false), head,
                                  is_left_out ? counter : NULL);
    for (size_t i = 0; i < s->all.n; i++) {
        const struct body *around = s->all.at[i];
        if (around != body && map_has(&around->blocks, head))
            state = mix_head(w, state, around->loop->head, NULL);
    }
    if (!state)
        return false;
    struct site *site = code_site(w, at);
    LLVMValueRef args[] = {code_address(w, w->code->machine),
                           code_address(w, site), state,
                           distance(w, counter, limit)};
    code_call(w, FUNCTION(simt_turn), NULL, args, 4);
    code_may_wait(w);
    return true;
}

void code_watch_loops(struct rewriter *w, LLVMValueRef function)
{
    struct bodies s = {.arena = w->code->arena};
    s.before.arena = s.arena;
    struct code_loops loops = code_loops(w, function);
    if (loops.n)
        find_before(&s, function);
    for (size_t i = 0; i < loops.n; i++)
        vec_push(s.arena, &s.all, body_of(&s, loops.at[i]));
    for (size_t i = 0; i < s.all.n; i++)
        if (!show(w, &s, s.all.at[i], function))
            code_watch_loop(w, s.all.at[i]->loop);
}
