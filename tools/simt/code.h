// A module on its way from the NVPTX backend to this machine.

#ifndef TOOLS_SIMT_CODE_H
#define TOOLS_SIMT_CODE_H

#include "ir/base/map.h"
#include "tools/simt/machine.h"

#include <llvm-c/Core.h>
#include <llvm-c/LLJIT.h>

// An entry of the module.
struct code_entry {
    const struct ir_launch *launch;
    struct shared_layout *shared; // of its arrays
    uint32_t cluster[3];          // blocks of a cluster
    uint32_t registers;           // of a thread; 0: not said
    bool has_clocks;              // not all threads of a block meet at once
    bool has_fences;              // which put accesses in order
    bool has_answers;             // atomics whose old value is used
    bool may_wait;                // has loops or atomics that may spin
    bool meets_blocks;            // waits for other blocks, or tells them
    void (*run)(void *slots);     // takes the parameters, 8 bytes each
};

// A constant of the module.
struct code_constant {
    const char *name;
    size_t bytes;
};

// An access to an array that is a parameter: its region comes with a run.
struct code_home {
    struct site *site;
    unsigned parameter; // of the entry
};

// A way into the head of a loop.
struct code_edge {
    LLVMBasicBlockRef from;
    bool is_back; // from inside of the loop
};

// A loop.
struct code_loop {
    LLVMBasicBlockRef head;
    struct VEC(struct code_edge) edges;
};

// The loops of a function.
struct code_loops {
    const struct code_loop **at;
    size_t n, cap;
};

// Compiled code, and the machine that it is tied to.
struct simt_code {
    struct arena *arena; // of all that lives as long as the code
    const struct ir_kernel *kernel;
    struct machine *machine;
    struct VEC(struct code_entry) entries;
    struct VEC(struct site *) sites;
    struct VEC(struct simt_point *) points;
    struct VEC(struct code_home) homes; // of accesses to parameters
    struct VEC(struct code_constant) constants;
    struct region *dynamic; // of the module's dynamic shared memory, or NULL
    size_t n_regions;       // that belong to the code
    struct str_table names; // of files
    size_t locals;          // bytes of local arrays and values on the stack
    bool is_checked, is_brief, is_covered;
    uint32_t cluster;  // blocks of the largest one
    uint32_t resident; // blocks that may run at a time
    LLVMOrcLLJITRef jit;
};

// What rewrites the module.
struct rewriter {
    struct simt_code *code;
    struct diag_list *diags;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef pointer, word, half; // ptr, i64, i32
    LLVMValueRef entry;              // that is rewritten; NULL: no entry
    struct code_entry *launch;       // of it
    struct map locals;               // pointer to a local array -> its region
};

// ---- retarget.c

// Make the module one for this machine.  Returns false after reporting.
bool code_retarget(struct rewriter *w);

// Return a constant pointer in address space 0.
LLVMValueRef code_address(struct rewriter *w, const void *p);

// Return a call, at the builder's place, of a function of this program.
// `result` NULL: void.
LLVMValueRef code_call(struct rewriter *w, void (*function)(void),
                       LLVMTypeRef result, LLVMValueRef *args, unsigned n);

// Note that what is rewritten lets threads meet otherwise than all of a block
// at once.
void code_need_clocks(struct rewriter *w);

// Note that what is rewritten has a fence, or an atomic that brings a value.
void code_need_order(struct rewriter *w, bool is_fence);

// Note that what is rewritten may spin.
void code_may_wait(struct rewriter *w);

// ---- extreme.c

// Replace a call of the intrinsic of the least or the greatest of two numbers, if
// it is one that LLVM gets wrong here.
bool code_replace_extreme(struct rewriter *w, LLVMValueRef call,
                          const char *name);

// ---- watch.c

// Watch an instruction that is no call, if it is one to watch.
void code_watch(struct rewriter *w, LLVMValueRef instruction);

// Have each iteration of a loop be a step.
void code_watch_loop(struct rewriter *w, const struct code_loop *loop);

// Find out which line an instruction comes from, and which directive it is
// inlined from.
void code_places(struct rewriter *w, LLVMValueRef at, struct simt_place *place,
                 struct simt_place *schedule);

// Return the bytes that a value takes in memory.
uint32_t code_size_of(LLVMTypeRef type);

// Return a new site at an instruction.
struct site *code_site(struct rewriter *w, LLVMValueRef at);

// ---- turns.c

// Watch the loops of a function.
void code_watch_loops(struct rewriter *w, LLVMValueRef function);

// ---- loops.c

// Return the loops of a function, in the order of their heads.
struct code_loops code_loops(struct rewriter *w, LLVMValueRef function);

// Do something for each loop of a function.
void code_each_loop(struct rewriter *w, LLVMValueRef function,
                    void (*visit)(struct rewriter *w,
                                  const struct code_loop *loop));

// ---- coverage.c

// Have an instruction counted, if it is one to count.
void code_cover(struct rewriter *w, LLVMValueRef instruction);

// Have the iterations of a loop counted.
void code_cover_loop(struct rewriter *w, const struct code_loop *loop);

// ---- fences.c

// Say of a site what an atomic is: its scope and what it orders.
void code_set_atomic(struct rewriter *w, struct site *s,
                     LLVMValueRef instruction);

// Return whether blocks of an entry may synchronise by atomics on memory that
// they share.
bool code_meets_blocks(struct rewriter *w);

// Have a fence order accesses.
void code_watch_fence(struct rewriter *w, LLVMValueRef instruction);

// ---- undefined.c

// Have a function use the machine's poison where LLVM says undefined.
void code_define(struct rewriter *w, LLVMValueRef function);

// ---- fragments.c

// Watch the registers of a function's WGMMAs.
void code_watch_products(struct rewriter *w, LLVMValueRef function);

// ---- homes.c

// Note which array the address of an access is computed from, if it is one.
void code_find_home(struct rewriter *w, struct site *s, LLVMValueRef address);

// Give accesses to parameters the regions that runs will have for them.
void code_settle_homes(struct simt_code *code);

// ---- builtins.c

// Let machine code find the conversions that LLVM calls where the processor
// has none.
LLVMErrorRef code_define_builtins(LLVMOrcLLJITRef jit);

// ---- calls.c

// Replace a call of what only a GPU has.  Returns false after reporting that
// it is not known.
bool code_replace_call(struct rewriter *w, LLVMValueRef call);

// ---- intrinsics.c

// Replace a call of an intrinsic of intrinsics.def.  Returns whether it is one.
bool code_replace_intrinsic(struct rewriter *w, LLVMValueRef call,
                            const char *name);

// Return a value as 64 bits, and back.
LLVMValueRef code_to_bits(struct rewriter *w, LLVMValueRef v);
LLVMValueRef code_from_bits(struct rewriter *w, LLVMValueRef v,
                            LLVMTypeRef type);

// Store the operands of a call for a function of this program, from slot
// `first` on, and load what it leaves: NULL, a value or a struct of them.
void code_pass_operands(struct rewriter *w, LLVMValueRef call, unsigned first);
LLVMValueRef code_take_results(struct rewriter *w, LLVMTypeRef type);

// ---- math.c

// A function that takes the place of an intrinsic of the same type.
struct math_function {
    const char *intrinsic;
    void (*function)(void);
};

// Return it, or NULL.
const struct math_function *math_find(const char *intrinsic);

// Return what takes the place of an inline instruction of libdevice, or NULL.
const struct math_function *math_find_inline(const char *text);

// ---- atomics.c

// Do what an inline `atom...` instruction says; `row` as given by
// atomic_parse.
uint64_t simt_atomic(struct machine *m, void *p, uint64_t value, uint64_t row,
                     struct site *s);

// Return the row for the text of an inline instruction, or -1.
int atomic_parse(const char *text, uint32_t *bytes);

// Say of a site what its text says: the scope, what it orders, and whether
// anybody uses what was there.
void atomic_describe(const char *text, bool is_used, struct site *s);

// ---- jit.c

// Compile the module, which becomes the property of this call together with
// its context, and fill code->jit.  Returns false after reporting.
bool code_compile(struct rewriter *w);

// Return the address of a symbol, or NULL after reporting.
void *code_symbol(struct simt_code *code, const char *name,
                  struct diag_list *diags);

#endif
