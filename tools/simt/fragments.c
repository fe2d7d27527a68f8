// Registers of WGMMAs, which are asynchronous: from a WGMMA to the wait
// for it, only WGMMAs of its shape may access its results, and nothing its
// operand in registers.  A value that a WGMMA may still write goes with the
// number of that WGMMA; where it is used otherwise, a hook asks whether the
// WGMMA is complete.

#include "tools/simt/code.h"
#include "tools/simt/matrix.h"

#define FUNCTION(f) ((void (*)(void))(f))

// A value, or an element of one that is a struct.
struct result {
    LLVMValueRef value;
    unsigned at;
};

// Where results of a WGMMA meet others: those that come with one number over
// the same edge share one there.
struct meeting {
    LLVMBasicBlockRef at, from;
    LLVMValueRef number, met;
};

// What follows results through a function.
struct tracker {
    struct rewriter *w;
    struct map programs; // of inline instructions, parsed
    struct map numbers;  // value -> of each of its elements, the number of the
                         // WGMMA that wrote it last
    struct map hooks;    // instruction -> the last number that a hook before it
                         // asks for
    struct VEC(struct meeting) meetings;
    struct VEC(struct result) work;
};

// ---- Instructions ---------------------------------------------------------

// Return the program of an inline instruction of warpgroups, or of an empty one
// that values go through, or NULL.
static const struct ptx_program *program_of(struct tracker *t, LLVMValueRef i)
{
    struct arena *a = t->w->code->arena;
    size_t text_n, list_n;
    if (!LLVMIsACallInst(i) || !LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
        return NULL;
    LLVMValueRef called = LLVMGetCalledValue(i);
    if (!map_has(&t->programs, i)) {
        const char *text = LLVMGetInlineAsmAsmString(called, &text_n);
        const char *list = LLVMGetInlineAsmConstraintString(called, &list_n);
        map_set(&t->programs, i,
                ptx_parse(a, arena_copy(a, text, text_n),
                          arena_copy(a, list, list_n)));
    }
    const struct ptx_program *p = map_get(&t->programs, i);
    return p && (p->has_products || !p->steps.n) ? p : NULL;
}

// Return the step of a program that multiplies, or NULL.
static const struct ptx_step *product_of(const struct ptx_program *p)
{
    for (size_t i = 0; p && i < p->steps.n; i++)
        if (p->steps.at[i].run == ptx_matrix)
            return &p->steps.at[i];
    return NULL;
}

// Return the result that an operand of an inline instruction begins as, or
// OPERANDS_MOST.
static unsigned tie_of(const struct ptx_program *p, unsigned operand)
{
    return p->ties[p->results + operand];
}

// Return whether an instruction only moves values: a vector goes with the number
// of the element that came first.
static bool is_move(LLVMValueRef i)
{
    switch ((int)LLVMGetInstructionOpcode(i)) {
    case LLVMBitCast:
    case LLVMFreeze:
    case LLVMInsertElement:
    case LLVMExtractElement:
    case LLVMShuffleVector: return true;
    }
    return false;
}

// Have a hook before an instruction: it accesses what the WGMMA of a number may
// still write or read, as a WGMMA if `as` is not NULL.
static void add_hook(struct tracker *t, LLVMValueRef before,
                     LLVMValueRef number, const struct ptx_step *as)
{
    struct rewriter *w = t->w;
    if (map_get(&t->hooks, before) == number)
        return;
    map_set(&t->hooks, before, number);
    LLVMPositionBuilderBefore(w->builder, before);
    LLVMValueRef args[] = {code_address(w, w->code->machine), number,
                           code_address(w, as),
                           code_address(w, code_site(w, before))};
    code_call(w, FUNCTION(product_access), NULL, args, 4);
}

// ---- Results --------------------------------------------------------------

// Return the number of values that a value consists of.
static unsigned elements_of(LLVMValueRef v)
{
    LLVMTypeRef type = LLVMTypeOf(v);
    return LLVMGetTypeKind(type) == LLVMStructTypeKind
               ? LLVMCountStructElementTypes(type)
               : 1;
}

// Return the number that goes with a result, NULL if none does.
static LLVMValueRef number_of(const struct tracker *t, struct result r)
{
    LLVMValueRef *numbers = map_get(&t->numbers, r.value);
    return numbers ? numbers[r.at] : NULL;
}

// Have a number go with a result from now on.
static void follow(struct tracker *t, struct result r, LLVMValueRef number)
{
    struct arena *a = t->w->code->arena;
    if (!map_has(&t->numbers, r.value))
        map_set(&t->numbers, r.value,
                arena_array(a, LLVMValueRef, elements_of(r.value)));
    LLVMValueRef *numbers = map_get(&t->numbers, r.value);
    if (numbers[r.at])
        return;
    numbers[r.at] = number;
    vec_push(a, &t->work, r);
}

// Return the edge over which a value comes to a phi.
static LLVMBasicBlockRef edge_of(LLVMValueRef phi, LLVMValueRef v)
{
    unsigned i = 0;
    while (LLVMGetIncomingValue(phi, i) != v)
        i++;
    return LLVMGetIncomingBlock(phi, i);
}

// Follow a result into an instruction where paths meet.
static void follow_phi(struct tracker *t, struct result r, LLVMValueRef phi)
{
    struct result here = {phi, r.at};
    struct meeting m = {.at = LLVMGetInstructionParent(phi),
                        .from = edge_of(phi, r.value),
                        .number = number_of(t, r)};
    if (number_of(t, here))
        return;
    for (size_t i = 0; i < t->meetings.n && !m.met; i++) {
        const struct meeting *old = &t->meetings.at[i];
        if (old->at == m.at && old->from == m.from && old->number == m.number)
            m.met = old->met;
    }
    if (!m.met) {
        LLVMPositionBuilderBefore(t->w->builder, phi);
        m.met = LLVMBuildPhi(t->w->builder, t->w->half, "");
        vec_push(t->w->code->arena, &t->meetings, m);
    }
    follow(t, here, m.met);
}

// Follow a result into an inline instruction of warpgroups.
static void follow_inline(struct tracker *t, struct result r, LLVMValueRef user,
                          const struct ptx_program *p)
{
    LLVMValueRef number = number_of(t, r);
    const struct ptx_step *product = product_of(p);
    for (unsigned i = 0; i < LLVMGetNumArgOperands(user); i++) {
        if (LLVMGetOperand(user, i) != r.value)
            continue;
        unsigned tie = tie_of(p, i);
        if (tie == OPERANDS_MOST || product)
            add_hook(t, user, number, tie == OPERANDS_MOST ? NULL : product);
        else
            follow(t, (struct result){user, tie}, number);
    }
}

// Follow a result into an instruction that uses it.
static void follow_use(struct tracker *t, struct result r, LLVMValueRef user)
{
    const struct ptx_program *p = program_of(t, user);
    LLVMValueRef number = number_of(t, r);
    bool is_part = LLVMIsAExtractValueInst(user);
    if (LLVMIsAPHINode(user))
        follow_phi(t, r, user);
    else if (is_move(user) || (is_part && *LLVMGetIndices(user) == r.at))
        follow(t, (struct result){user, 0}, number);
    else if (p)
        follow_inline(t, r, user, p);
    else if (!is_part)
        add_hook(t, user, number, NULL);
}

// Give a number where results meet those that a phi's values come with; of no
// WGMMA where they do not agree.
static void fill(struct tracker *t, LLVMValueRef phi, unsigned at)
{
    LLVMValueRef met = number_of(t, (struct result){phi, at});
    LLVMValueRef none = LLVMConstInt(t->w->half, 0, false);
    bool is_new = LLVMCountIncoming(met) == 0;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        struct result from = {LLVMGetIncomingValue(phi, i), at};
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef in = number_of(t, from);
        in = in ? in : none;
        if (is_new)
            LLVMAddIncoming(met, &in, &block, 1);
        for (unsigned k = 0; k < LLVMCountIncoming(met); k++)
            if (LLVMGetIncomingBlock(met, k) == block &&
                LLVMGetIncomingValue(met, k) != in)
                LLVMSetOperand(met, k, none);
    }
}

// Give all numbers where results meet what they are.
static void fill_meetings(struct tracker *t)
{
    for (size_t i = 0; i < t->work.n; i++)
        if (LLVMIsAPHINode(t->work.at[i].value))
            fill(t, t->work.at[i].value, t->work.at[i].at);
}

// ---- Writes ---------------------------------------------------------------

// Return whether a result goes into a WGMMA or a wait.
static bool is_kept(struct tracker *t, struct result r)
{
    for (LLVMUseRef u = LLVMGetFirstUse(r.value); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        struct result next = {user, 0};
        if (LLVMIsAPHINode(user) || program_of(t, user))
            return true;
        if (LLVMIsAExtractValueInst(user) && *LLVMGetIndices(user) == r.at &&
            is_kept(t, next))
            return true;
        if (is_move(user) && is_kept(t, next))
            return true;
    }
    return false;
}

// Have a WGMMA noted of which some registers get other values before any wait
// has them.
static void watch_writes(struct tracker *t, LLVMValueRef product,
                         LLVMValueRef number)
{
    unsigned n = elements_of(product), kept = 0;
    for (unsigned i = 0; i < n; i++)
        kept += is_kept(t, (struct result){product, i});
    if (kept && kept < n)
        add_hook(t, LLVMGetNextInstruction(number), number, NULL);
}

// ---- The operand in registers ---------------------------------------------

// Note the values that share registers with an operand: what the next
// iteration has in its place.
static void add_registers(struct map *held, LLVMValueRef v)
{
    map_set(held, v, v);
    for (unsigned i = 0; LLVMIsAPHINode(v) && i < LLVMCountIncoming(v); i++)
        if (LLVMIsAInstruction(LLVMGetIncomingValue(v, i)))
            map_set(held, LLVMGetIncomingValue(v, i), v);
}

// Return whether an instruction reads or writes some of these registers.
static bool accesses(const struct map *held, LLVMValueRef i)
{
    bool any = map_has(held, i);
    for (int k = 0; k < LLVMGetNumOperands(i); k++)
        any |= map_has(held, LLVMGetOperand(i, (unsigned)k));
    return any;
}

// Have uses of a WGMMA's operand in registers checked, up to the end of its
// block.
static void watch_operand(struct tracker *t, LLVMValueRef product,
                          LLVMValueRef number)
{
    const struct ptx_program *p = program_of(t, product);
    const struct ptx_argument *a = &product_of(p)->argument[MATRIX_A];
    struct map held = {.arena = t->w->code->arena};
    LLVMValueRef next;
    for (unsigned i = 0; a->n > 1 && i < a->n; i++)
        add_registers(&held, LLVMGetOperand(product, a->slot[i] - p->results));
    for (LLVMValueRef i = LLVMGetNextInstruction(number); held.n && i;
         i = next) {
        next = LLVMGetNextInstruction(i);
        if (accesses(&held, i) && !program_of(t, i) && !LLVMIsAPHINode(i))
            add_hook(t, i, number, NULL);
    }
}

// ---- All ------------------------------------------------------------------

// Have the number of a WGMMA read behind it, and its results followed.
static void begin(struct tracker *t, LLVMValueRef product)
{
    struct rewriter *w = t->w;
    LLVMPositionBuilderBefore(w->builder, LLVMGetNextInstruction(product));
    LLVMValueRef args[] = {code_address(w, w->code->machine)};
    LLVMValueRef number =
        code_call(w, FUNCTION(product_number), w->half, args, 1);
    for (unsigned i = 0; i < elements_of(product); i++)
        follow(t, (struct result){product, i}, number);
    watch_writes(t, product, number);
    watch_operand(t, product, number);
}

void code_watch_products(struct rewriter *w, LLVMValueRef function)
{
    struct arena *a = w->code->arena;
    struct tracker t = {.w = w,
                        .programs = {.arena = a},
                        .numbers = {.arena = a},
                        .hooks = {.arena = a}};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
             i = LLVMGetNextInstruction(i))
            if (product_of(program_of(&t, i)))
                begin(&t, i);
    for (size_t i = 0; i < t.work.n; i++) {
        struct result r = t.work.at[i];
        for (LLVMUseRef u = LLVMGetFirstUse(r.value); u; u = LLVMGetNextUse(u))
            follow_use(&t, r, LLVMGetUser(u));
    }
    fill_meetings(&t);
}
