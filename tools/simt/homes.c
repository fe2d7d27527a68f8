// Which array an access is meant for: the one that its address is computed
// from.  An address that leaves it is out of bounds wherever it leads.

#include "tools/simt/code.h"

enum { VALUES_MOST = 64 };

// A search through what an address is computed from.
struct search {
    struct rewriter *w;
    LLVMValueRef seen[VALUES_MOST];
    unsigned n;
    LLVMValueRef origin; // the only one so far, or NULL
    bool is_lost;        // there are several, or one that is not known
};

// Return whether a value is a step from one address to another: its first
// operand is the address that it begins with.
static bool is_step(LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v) && !LLVMIsAConstantExpr(v))
        return false;
    LLVMOpcode op = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v)
                                          : LLVMGetConstOpcode(v);
    return op == LLVMGetElementPtr || op == LLVMBitCast ||
           op == LLVMAddrSpaceCast || op == LLVMIntToPtr;
}

// Note an array, or what may be one.
static void found(struct search *s, LLVMValueRef v)
{
    s->is_lost |= s->origin && s->origin != v;
    s->origin = v;
}

// Follow a value to the arrays that it may point into.
static void follow(struct search *s, LLVMValueRef v)
{
    while (is_step(v))
        v = LLVMGetOperand(v, 0);
    if (!LLVMIsAPHINode(v) && !LLVMIsASelectInst(v)) {
        found(s, v);
        return;
    }
    for (unsigned i = 0; i < s->n; i++)
        if (s->seen[i] == v)
            return;
    if (s->n == VALUES_MOST) {
        s->is_lost = true;
        return;
    }
    s->seen[s->n++] = v;
    bool is_phi = LLVMIsAPHINode(v);
    unsigned n = is_phi ? LLVMCountIncoming(v) : 2;
    for (unsigned i = 0; i < n && !s->is_lost; i++)
        follow(s,
               is_phi ? LLVMGetIncomingValue(v, i) : LLVMGetOperand(v, i + 1));
}

// Return the number of a parameter of the entry, or -1.
static int parameter_of(const struct rewriter *w, LLVMValueRef v)
{
    unsigned n = w->entry ? LLVMCountParams(w->entry) : 0;
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetParam(w->entry, i) == v)
            return (int)i;
    return -1;
}

void code_find_home(struct rewriter *w, struct site *s, LLVMValueRef address)
{
    struct search search = {.w = w};
    struct machine *m = w->code->machine;
    follow(&search, address);
    if (search.is_lost)
        return;
    LLVMValueRef v = search.origin;
    int parameter = parameter_of(w, v);
    struct region *r = map_get(&w->locals, v);
    if (LLVMIsAConstantInt(v))
        r = region_of(m, (void *)(uintptr_t)LLVMConstIntGetZExtValue(v));
    if (parameter >= 0)
        vec_push(w->code->arena, &w->code->homes,
                 (struct code_home){s, (unsigned)parameter});
    else if (r != &m->regions[0])
        s->home = r;
}

void code_settle_homes(struct simt_code *code)
{
    const struct ir_kernel *k = code->kernel;
    for (size_t i = 0; i < code->homes.n; i++) {
        const struct code_home *home = &code->homes.at[i];
        size_t arrays = 0;
        for (unsigned p = 0; p < home->parameter; p++)
            arrays += p >= k->params.n || k->params.at[p].buffer;
        home->site->home = &code->machine->regions[code->n_regions + arrays];
    }
}
