// From a module for NVPTX to one for this machine: arrays in shared memory
// become addresses of the arena, entries take their parameters from memory,
// and what only a GPU has becomes calls.

#include "tools/simt/code.h"

#include "ir/build.h"

#include <stdlib.h>
#include <string.h>

enum { DYNAMIC_MOST = 228 * 1024, SLOT_BYTES = 8, VALUE_BYTES = 32 };

LLVMValueRef code_address(struct rewriter *w, const void *p)
{
    LLVMValueRef number = LLVMConstInt(w->word, (uintptr_t)p, false);
    return LLVMConstIntToPtr(number, w->pointer);
}

LLVMValueRef code_call(struct rewriter *w, void (*function)(void),
                       LLVMTypeRef result, LLVMValueRef *args, unsigned n)
{
    LLVMTypeRef types[8];
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef none = LLVMVoidTypeInContext(w->context);
    LLVMTypeRef type =
        LLVMFunctionType(result ? result : none, types, n, false);
    LLVMValueRef address = LLVMConstInt(w->word, (uintptr_t)function, false);
    return LLVMBuildCall2(w->builder, type,
                          LLVMConstIntToPtr(address, w->pointer), args, n, "");
}

// ---- Arrays of the module -------------------------------------------------

// Return whether the name of a variable is `entry.array`, or that with the
// number that LLVM adds to clashes.
static bool is_named(const char *name, const char *entry, const char *array)
{
    size_t n = strlen(entry), k = strlen(array);
    if (strncmp(name, entry, n) != 0 || name[n] != '.' ||
        strncmp(name + n + 1, array, k) != 0)
        return false;
    const char *rest = name + n + 1 + k;
    return rest[strspn(rest, ".0123456789")] == 0;
}

// Return the array in shared memory that a variable stands for, or NULL if
// it stands for all of an entry.
static const struct ir_buffer *array_of(const struct code_entry *e,
                                        const char *name)
{
    for (size_t i = 0; i < e->shared->places.n; i++) {
        const struct ir_buffer *b = e->shared->places.at[i].buffer;
        if (is_named(name, e->launch->name, b->name))
            return b;
    }
    return NULL;
}

// Describe an array whose extents are numbers.
static void describe(struct region *r, const struct ir_buffer *b)
{
    int64_t strides[SIMT_RANK_MOST] = {0}, row = 1, extent;
    for (uint32_t i = b->rank; i-- > 0 && b->rank <= SIMT_RANK_MOST;) {
        strides[i] = row;
        if (b->strides)
            ir_int_value(b->strides[i], &strides[i]);
        if (ir_int_value(b->shape[i], &extent))
            row *= extent;
    }
    region_describe(r, b, strides);
}

// Return the bytes of the smallest element of an entry's shared arrays.
static size_t least_element(const struct shared_layout *shared)
{
    size_t least = sizeof(uint64_t);
    for (size_t i = 0; i < shared->places.n; i++) {
        size_t bytes = type_bytes(shared->places.at[i].buffer->elem);
        least = bytes < least ? bytes : least;
    }
    return least;
}

// Return the entry whose name a variable begins with, or NULL.
static const struct code_entry *entry_of(struct rewriter *w, const char *name)
{
    size_t n = strcspn(name, ".");
    for (size_t i = 0; i < w->code->entries.n; i++) {
        const struct code_entry *e = &w->code->entries.at[i];
        if (strlen(e->launch->name) == n &&
            strncmp(e->launch->name, name, n) == 0)
            return e;
    }
    return NULL;
}

// Return the bytes of a variable's type, which holds no padding.
static size_t bytes_of(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMArrayTypeKind)
        return (size_t)LLVMGetArrayLength2(type) *
               bytes_of(LLVMGetElementType(type));
    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return 2;
    case LLVMFloatTypeKind: return 4;
    case LLVMDoubleTypeKind: return 8;
    }
    return (LLVMGetIntTypeWidth(type) + 7) / 8;
}

// Return a region for a variable in shared memory, or NULL without room.
static struct region *shared_region(struct rewriter *w, LLVMValueRef variable)
{
    size_t n;
    const char *name =
        arena_printf(w->code->arena, "%s", LLVMGetValueName2(variable, &n));
    const struct code_entry *e = entry_of(w, name);
    const struct ir_buffer *b = e ? array_of(e, name) : NULL;
    size_t bytes = bytes_of(LLVMGlobalGetValueType(variable));
    size_t elem = b ? type_bytes(b->elem) : e ? least_element(e->shared) : 1;
    size_t align = LLVMGetAlignment(variable);
    uint32_t cluster = w->code->cluster, resident = w->code->resident;
    struct region *r =
        region_add_shared(w->code->machine, name, bytes ? bytes : DYNAMIC_MOST,
                          elem, align > SHARED_ALIGN ? align : SHARED_ALIGN,
                          cluster > resident ? cluster : resident);
    if (r && b)
        describe(r, b);
    else if (r && e)
        r->parts = e->shared;
    if (r && !bytes)
        w->code->dynamic = r;
    return r;
}

// Give the variables of shared memory addresses.
static bool place_shared(struct rewriter *w)
{
    LLVMValueRef next;
    for (LLVMValueRef g = LLVMGetFirstGlobal(w->module); g; g = next) {
        next = LLVMGetNextGlobal(g);
        LLVMTypeRef type = LLVMTypeOf(g);
        if (LLVMGetPointerAddressSpace(type) != space_number(SPACE_shared))
            continue;
        struct region *r = shared_region(w, g);
        if (!r) {
            diag_error(w->diags, (struct span){0}, D_simt_no_memory);
            return false;
        }
        LLVMValueRef number = LLVMConstInt(w->word, (uintptr_t)r->base, false);
        LLVMReplaceAllUsesWith(g, LLVMConstIntToPtr(number, type));
        LLVMDeleteGlobal(g);
    }
    return true;
}

// Make constants visible, so that their addresses can be asked for.
static void export_constants(struct rewriter *w)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(w->module); g;
         g = LLVMGetNextGlobal(g)) {
        size_t n;
        if (LLVMIsDeclaration(g))
            continue;
        LLVMSetLinkage(g, LLVMExternalLinkage);
        struct code_constant c = {
            arena_printf(w->code->arena, "%s", LLVMGetValueName2(g, &n)),
            bytes_of(LLVMGlobalGetValueType(g))};
        vec_push(w->code->arena, &w->code->constants, c);
    }
}

// ---- What is said of entries ----------------------------------------------

// Read up to three numbers of an attribute; `n` are those that it lacks.
static void read_numbers(LLVMValueRef function, const char *key, uint32_t *n)
{
    LLVMAttributeRef found = LLVMGetStringAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, key,
        (unsigned)strlen(key));
    unsigned length = 0;
    const char *text = found ? LLVMGetStringAttributeValue(found, &length) : "";
    for (const char *end = text + length; text < end; n++) {
        *n = (uint32_t)strtoul(text, NULL, 10);
        text += strcspn(text, ",") + 1;
    }
}

// Note the clusters and registers that entries ask for.
static void read_entries(struct rewriter *w)
{
    struct simt_code *code = w->code;
    code->cluster = 1;
    for (size_t i = 0; i < code->entries.n; i++) {
        struct code_entry *e = &code->entries.at[i];
        LLVMValueRef f = LLVMGetNamedFunction(w->module, e->launch->name);
        e->cluster[0] = e->cluster[1] = e->cluster[2] = 1;
        if (!f)
            continue;
        read_numbers(f, "nvvm.cluster_dim", e->cluster);
        read_numbers(f, "nvvm.maxnreg", &e->registers);
        uint32_t blocks = e->cluster[0] * e->cluster[1] * e->cluster[2];
        e->has_clocks = blocks > 1;
        code->cluster = blocks > code->cluster ? blocks : code->cluster;
    }
    code->is_checked |= code->cluster > 1;
    code->machine->has_async |= code->cluster > 1;
}

// ---- Entries --------------------------------------------------------------

// Return the entry of a function, or NULL if it is none.
static struct code_entry *launch_of(struct rewriter *w, LLVMValueRef function)
{
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    for (size_t i = 0; i < w->code->entries.n; i++) {
        if (strcmp(w->code->entries.at[i].launch->name, name) == 0)
            return &w->code->entries.at[i];
    }
    return NULL;
}

void code_need_clocks(struct rewriter *w)
{
    for (size_t i = 0; i < w->code->entries.n; i++) {
        struct code_entry *e = &w->code->entries.at[i];
        e->has_clocks |= !w->launch || e == w->launch;
    }
}

void code_need_order(struct rewriter *w, bool is_fence)
{
    w->code->machine->has_async = true;
    for (size_t i = 0; i < w->code->entries.n; i++) {
        struct code_entry *e = &w->code->entries.at[i];
        bool is_it = !w->launch || e == w->launch;
        e->may_wait |= is_it;
        e->has_fences |= is_it && is_fence;
        e->has_answers |= is_it;
    }
}

void code_may_wait(struct rewriter *w)
{
    for (size_t i = 0; i < w->code->entries.n; i++) {
        struct code_entry *e = &w->code->entries.at[i];
        e->may_wait |= !w->launch || e == w->launch;
    }
}

// Add `void NAME.run(ptr slots)`, which calls the entry with what the slots
// hold.
static void add_runner(struct rewriter *w, LLVMValueRef function)
{
    size_t length;
    const char *name = arena_printf(w->code->arena, "%s.run",
                                    LLVMGetValueName2(function, &length));
    LLVMTypeRef none = LLVMVoidTypeInContext(w->context);
    LLVMTypeRef type = LLVMFunctionType(none, &w->pointer, 1, false);
    LLVMValueRef run = LLVMAddFunction(w->module, name, type);
    unsigned n = LLVMCountParams(function);
    LLVMValueRef *args = arena_array(w->code->arena, LLVMValueRef, n + 1);
    LLVMPositionBuilderAtEnd(
        w->builder, LLVMAppendBasicBlockInContext(w->context, run, "entry"));
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef at = LLVMConstInt(w->word, i * SLOT_BYTES, false);
        LLVMValueRef slot =
            LLVMBuildGEP2(w->builder, LLVMInt8TypeInContext(w->context),
                          LLVMGetParam(run, 0), &at, 1, "");
        args[i] = LLVMBuildLoad2(
            w->builder, LLVMTypeOf(LLVMGetParam(function, i)), slot, "");
    }
    LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(function), function, args,
                   n, "");
    LLVMBuildRetVoid(w->builder);
}

// Rewrite the instructions of a function, and count what their values may take
// on the stack.
static bool rewrite(struct rewriter *w, LLVMValueRef function)
{
    bool ok = true;
    LLVMValueRef next;
    if (w->code->is_checked) {
        code_watch_products(w, function);
        code_watch_loops(w, function);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b;
         b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
            next = LLVMGetNextInstruction(i);
            w->code->locals += VALUE_BYTES;
            code_cover(w, i);
            if (LLVMIsACallInst(i))
                ok = code_replace_call(w, i) && ok;
            else
                code_watch(w, i);
        }
    }
    if (w->code->is_checked)
        code_define(w, function);
    if (w->code->is_covered)
        code_each_loop(w, function, code_cover_loop);
    return ok;
}

// Remove what describes the machine it was for.
static void make_plain(LLVMValueRef function)
{
    static const char *const strings[] = {"target-cpu", "target-features"};
    LLVMSetFunctionCallConv(function, LLVMCCallConv);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        LLVMRemoveStringAttributeAtIndex(
            function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            strings[i], (unsigned)strlen(strings[i]));
    unsigned by_value = LLVMGetEnumAttributeKindForName("byval", 5);
    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        LLVMRemoveEnumAttributeAtIndex(function, i + 1, by_value);
}

bool code_retarget(struct rewriter *w)
{
    read_entries(w);
    if (w->code->is_checked && code_meets_blocks(w))
        w->code->resident = RESIDENT_MOST;
    if (!place_shared(w))
        return false;
    export_constants(w);
    bool ok = true;
    LLVMValueRef last = LLVMGetLastFunction(w->module), f, next;
    for (f = LLVMGetFirstFunction(w->module); f; f = next) {
        next = f == last ? NULL : LLVMGetNextFunction(f);
        bool is_entry = LLVMGetFunctionCallConv(f) == LLVMPTXKernelCallConv;
        if (LLVMIsDeclaration(f))
            continue;
        make_plain(f);
        w->entry = is_entry ? f : NULL;
        w->launch = launch_of(w, f);
        ok = rewrite(w, f) && ok;
        if (is_entry)
            add_runner(w, f);
    }
    return ok;
}
