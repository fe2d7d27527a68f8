// The emitter's own interface: from the IR to an LLVM module.

#ifndef NVPTX_EMIT_H
#define NVPTX_EMIT_H

#include "ir/base/map.h"
#include "ir/shared.h"
#include "nvptx/nvptx.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>

// The line table.
struct emit_lines {
    LLVMDIBuilderRef builder;  // NULL: none is wanted
    LLVMMetadataRef unit;      // made with the first entry
    struct map files;          // source -> its LLVMMetadataRef
    struct map directives;     // first byte -> the function it stands for
    const struct source *file; // of the entry's subprogram
    LLVMMetadataRef scope;     // the entry's subprogram
    struct span by;            // the directive that made the statement, if any
};

// Where an instruction comes from.
struct emit_place {
    LLVMMetadataRef line;
    struct span by;
};

// A choice between values, and what was chosen.
struct emit_chosen {
    const struct ir_expr *x;
    LLVMValueRef value;
};

// What emission works on.
struct emitter {
    struct arena *arena;
    const struct nvptx_options *options;
    struct diag_list *diags;
    enum diag_code blame; // what an error that LLVM reports is now
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    unsigned ptx;   // PTX version that an instruction needs, times ten
    bool libdevice; // a function of libdevice is called
    struct emit_lines lines;

    const struct ir_kernel *kernel;
    const struct ir_launch *launch; // which becomes the entry
    bool fast_math;                 // approximations are allowed
    bool is_long;                   // the entry, were all its loops unrolled
    bool is_open;                   // it has many loops over sizes
    bool is_crowded;                // it has very many loops
    bool is_dependent;              // other grids may write while it runs
    uint32_t beside;                // blocks of a cluster at the same block.x
    LLVMValueRef function;          // the entry
    LLVMBasicBlockRef allocas;   // its first block: local arrays and variables
    struct map values;           // ir_var -> its LLVMValueRef
    struct map depths;           // ir_var -> the loops around that it needs
    unsigned depth;              // of loops around
    struct map arrays;           // ir_buffer -> its pointer
    struct map written;          // the arrays that the launch writes
    struct shared_layout shared; // of the launch's arrays in shared memory
    LLVMValueRef pool;           // the variable that holds all of them, or NULL
    LLVMValueRef dynamic;        // the module's dynamic shared memory, or NULL
    enum ir_hint hint;           // of the store that is emitted
    struct map leaves;           // branches that loops end without, to where
    struct map elected;          // branches of one lane of a warp, any of them
    struct map accumulating;     // arrays that a warpgroup's instructions write
    struct VEC(const struct ir_buffer *) accumulators; // of them, those around
    struct VEC(struct emit_chosen) chosen; // before, on every way to here
    bool is_foreign;   // an instruction that the target lacks was reported
    LLVMValueRef warp; // the number of the thread's, if there are such, or NULL
};

// ---- emit.c: kernels and entries

// Fill e->module.  Returns false after reporting errors.
bool emit_module(struct emitter *e, const struct ir_kernel *const *kernels,
                 size_t n);

// ---- emit_stmt.c

void emit_block(struct emitter *e, const struct ir_block *block);
// Return whether a block has very many statements once its loops are unrolled.
bool emit_is_long(struct ir_block *block);

// Return whether an entry's body has so many loops over sizes that LLVM should
// unroll none of them.
bool emit_is_open(struct ir_block *block);

// Return whether a block has so many loops of any kind, or such deep ones, that
// LLVM should unroll none of them.
bool emit_is_crowded(struct ir_block *block);

// ---- emit_op.c: expressions, as values of emit_type

LLVMValueRef emit_value(struct emitter *e, const struct ir_expr *x);
// Return LLVM's instruction, predicate or atomic operation for an operation of
// intrin.def on operands of type t.
int emit_choice(enum ir_op op, struct type t);
// Return `a op b` of two values, rounded by itself: nothing becomes an fma.
LLVMValueRef emit_combined(struct emitter *e, enum ir_op op, struct type t,
                           LLVMValueRef a, LLVMValueRef b);

// ---- emit_own.c: the operations with functions of their own

LLVMValueRef emit_const(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_var(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_index(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_resident(struct emitter *e, const struct ir_expr *x);
// Return whether an expression must not be evaluated in vain: it accesses
// memory, or divides by what may be zero.
bool emit_may_fault(const struct ir_expr *x);
LLVMValueRef emit_select(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_neg(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_invert(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_ceildiv(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_mulhi(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_abs(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_popcount(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_relu(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_fma(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_isnan(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_bits(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_tf32(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_ramp(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_broadcast(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_lanes(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_dp4a(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_lane(struct emitter *e, const struct ir_expr *x);

// ---- emit_branch.c: values of which one is evaluated

// Return what a choice that was made on every way to here has given, if it
// would give the same again, or NULL.
LLVMValueRef emit_known_choice(struct emitter *e, const struct ir_expr *x);
// Evaluate one of two values, jumping over the other: `x` is cond ? arms[0] :
// arms[1].
LLVMValueRef emit_one_of(struct emitter *e, const struct ir_expr *x,
                         LLVMValueRef cond, struct ir_expr *const *arms);

// ---- emit_unpack.c

// Return a vector of bf16, of an even number of lanes, in f32.
LLVMValueRef emit_unpack_vector(struct emitter *e, unsigned lanes,
                                LLVMValueRef v);
// Return a load of an element of a local array, of f16 or bf16, in f32; NULL if
// it is something else, or the element has no counterpart in its word.
LLVMValueRef emit_unpack_element(struct emitter *e, const struct ir_expr *x);

// ---- emit_print.c
// Emit a line of text with values.
void emit_print(struct emitter *e, const struct ir_stmt *s);

// ---- emit_cast.c

LLVMValueRef emit_cast(struct emitter *e, const struct ir_expr *x);
// Convert a value between two types of as many lanes.
LLVMValueRef emit_convert(struct emitter *e, struct type to, struct type from,
                          LLVMValueRef value);

// ---- emit_f8.c

// Convert one f32 to the bits of an f8 type, saturating.
LLVMValueRef emit_f8_encode(struct emitter *e, struct type to,
                            LLVMValueRef value);
// Convert the bits of an f8 type to f16.
LLVMValueRef emit_f8_decode(struct emitter *e, struct type from,
                            LLVMValueRef value);

// ---- emit_math.c

LLVMValueRef emit_math(struct emitter *e, const struct ir_expr *x);

// ---- emit_erf.c

// Return the error function of one f32.
LLVMValueRef emit_erf(struct emitter *e, LLVMValueRef x);

// ---- emit_warp.c: what the threads of a warp compute at once; fences

LLVMValueRef emit_shuffle(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_vote(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_match(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_warp_reduce(struct emitter *e, const struct ir_expr *x);
void emit_sync(struct emitter *e, const struct ir_stmt *s);

// ---- emit_matrix.c: instructions on matrices

void emit_matrix(struct emitter *e, const struct ir_stmt *s);

// ---- emit_wgmma.c: those of warpgroups

// Begin an entry: find what its warpgroups write.
void emit_warpgroups_begin(struct emitter *e, struct ir_launch *launch);
// Return the number of the thread's warp, or of a group of warps, if that is
// what an expression is and it pays to have it from one lane; NULL otherwise.
LLVMValueRef emit_warp_number(struct emitter *e, const struct ir_expr *x);
// Emit an instruction that orders those of a warpgroup; "": none, but as if
// there were one.
void emit_warpgroup_sync(struct emitter *e, const char *ptx);

// ---- emit_async.c

// Emit a copy by each thread, which is a load and a store where there is no
// such instruction.
void emit_load_cp_async(struct emitter *e, const struct ir_stmt *s);

// ---- emit_address.c

// Note that a loop's body begins, and that it ends.
void emit_enter_loop(struct emitter *e, const struct ir_for *loop);
void emit_leave_loop(struct emitter *e);
// Note what a name stands for.
void emit_note_depth(struct emitter *e, const struct ir_var *var,
                     const struct ir_expr *value);
// Return what emit_address does; of shared memory, such that its parts leave the
// loops that do not change them.
LLVMValueRef emit_shared_address(struct emitter *e,
                                 const struct ir_buffer *buffer,
                                 const struct ir_expr *index);

// ---- emit_memory.c

// Return the address of the element, or first element, that an index names.
LLVMValueRef emit_address(struct emitter *e, const struct ir_buffer *buffer,
                          const struct ir_expr *index);
// Return whether the whole launch only reads the array, through its pointer.
bool emit_is_unchanging(const struct emitter *e,
                        const struct ir_buffer *buffer);
LLVMValueRef emit_load(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_atomic(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_atomic_cas(struct emitter *e, const struct ir_expr *x);
void emit_store(struct emitter *e, const struct ir_stmt *s);

// ---- emit_hint.c

// Return whether an access to an array is one to which the hint of the store
// that is emitted applies.
bool emit_is_hinted(const struct emitter *e, const struct ir_buffer *b,
                    struct type t);

// Return the policy of that hint; reports an architecture that has none.
LLVMValueRef emit_policy(struct emitter *e, struct span span);

// Load, store or copy with that hint; `args` of a copy: where to, where from,
// and how many bytes are read.
LLVMValueRef emit_hinted_load(struct emitter *e, const struct ir_expr *x,
                              LLVMValueRef from);
void emit_hinted_store(struct emitter *e, const struct ir_stmt *s,
                       LLVMValueRef v, LLVMValueRef to);
void emit_hinted_copy(struct emitter *e, const struct ir_stmt *s, size_t bytes,
                      LLVMValueRef *args);

// ---- emit_elect.c

// Find the branches of a launch that one lane of a warp takes, any of them, to
// ask TMA: fills `elected`.
void emit_elect_begin(struct emitter *e, struct ir_launch *launch);

// Return whether this lane is the one that its warp elects: always the same.
LLVMValueRef emit_elect(struct emitter *e);

// ---- emit_need.c

// What only some architectures have.
enum feature {
#define NEEDED(name, set, ptx, diagnostic) FEATURE_##name,
#define PREFERRED(name, set, ptx)          FEATURE_##name,
#include "nvptx/features.def"
#undef NEEDED
#undef PREFERRED
};

// Return whether an architecture has a feature.
bool nvptx_target_has(const struct nvptx_target *target, enum feature f);

// Return whether the target has a feature that others do without; if so, note
// the PTX version that it needs.
bool emit_prefer(struct emitter *e, enum feature f);

// Note the PTX version that a feature needs.  Returns false after reporting that
// the architecture lacks it; `what` of it is used.
bool emit_need(struct emitter *e, enum feature f, struct span span,
               const char *what);

// ---- emit_cluster.c

// Say how many blocks the clusters of a launch have, for the entry at hand;
// reports a target that has none.
void emit_cluster(struct emitter *e, const struct ir_stmt *launch);
void emit_cluster_barrier(struct emitter *e);
// One half of it.  Only SYNC_cluster_leave orders accesses.
void emit_cluster_sync(struct emitter *e, enum sync_kind kind);
// Return the address, in the block of a rank of the cluster, of what lies at an
// address of this block's shared memory; the same one if the rank is its own.
LLVMValueRef emit_in_block(struct emitter *e, LLVMValueRef own,
                           const struct ir_expr *rank);
// Arrive at the mbarrier of a block of the cluster, at the scope of the own
// block: a wider one costs a fence of the whole GPU for each.
LLVMValueRef emit_mbarrier_remote(struct emitter *e, const struct ir_expr *x);

// ---- emit_mbarrier.c

LLVMValueRef emit_mbarrier(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_mbarrier_copied(struct emitter *e, const struct ir_expr *x);
LLVMValueRef emit_mbarrier_wait(struct emitter *e, const struct ir_expr *x);
// Emit a sync that belongs to TMA tile copies.
void emit_bulk_sync(struct emitter *e, const struct ir_stmt *s);

// ---- emit_annotations.c

// Say what attributes of an entry say in the words of an older LLVM, if this is one.
void emit_annotations(struct emitter *e, LLVMValueRef f);

// ---- emit_copy.c: copies by TMA

// Return the type of a tensor map as a parameter.
LLVMTypeRef emit_map_type(struct emitter *e);
// Say what parameter `index`, counted from 0, is, and bind the map to it.
void emit_map_parameter(struct emitter *e, unsigned index,
                        const struct ir_map *map);
// Say of the maps, `n` parameters from `first` on, what an older LLVM wants to
// have said so that it does not copy them.
void emit_maps_annotation(struct emitter *e, unsigned first, size_t n);
// Emit a copy; reports a target that has no TMA.
void emit_copy(struct emitter *e, const struct ir_stmt *s);

// ---- emit_scope.c

// Emit an atomic whose scope LLVM has no instruction for; NULL if it has, or
// makes a loop of it.
LLVMValueRef emit_scoped_atomic(struct emitter *e, const struct ir_expr *x,
                                LLVMValueRef at, LLVMValueRef v);

// ---- emit_array.c: where arrays are

// Make the array that an `alloc` in a launch declares.
void emit_alloc(struct emitter *e, const struct ir_stmt *s);

// ---- emit_intrinsic.c

// Call an intrinsic, overloaded on `overload` unless that is NULL; reports one
// that neither this LLVM nor lacking.def has.
LLVMValueRef emit_intrinsic(struct emitter *e, const char *name,
                            LLVMTypeRef overload, LLVMValueRef *args,
                            unsigned n);
// Put instructions in the place of the intrinsics that this version of LLVM
// makes no PTX of.
void emit_replace_lacking(struct emitter *e, unsigned version);

// ---- emit_type.c: LLVM's types and constants

// Return the type of a value: bool is i1, f8 is i8.
LLVMTypeRef emit_type(struct emitter *e, struct type t);
// Return the type of a value in memory: bool is i8.
LLVMTypeRef emit_memory_type(struct emitter *e, struct type t);
// Return an integer of that type in each lane.
LLVMValueRef emit_int(struct emitter *e, struct type t, int64_t value);
// Return a number of that floating type in each lane.
LLVMValueRef emit_float(struct emitter *e, struct type t, double value);
// Return the same value in each lane of a vector; itself for one lane.
LLVMValueRef emit_splat(struct emitter *e, struct type t, LLVMValueRef lane);
// Return lane k of a value; the value itself if its type has one lane.
LLVMValueRef emit_extract(struct emitter *e, struct type t, LLVMValueRef value,
                          unsigned k);
// Call a function on each lane and collect the results in type t.
LLVMValueRef emit_each_lane(struct emitter *e, struct type t,
                            LLVMValueRef (*make)(struct emitter *e, unsigned k,
                                                 void *context),
                            void *context);
// Note that an instruction needs a PTX version, times ten.
void emit_need_ptx(struct emitter *e, unsigned version);
// Give a floating point instruction the kernel's flags, and return it.
LLVMValueRef emit_flagged(struct emitter *e, LLVMValueRef value);
// Mark integer arithmetic on an index type as not overflowing; return it.
LLVMValueRef emit_no_wrap(struct type t, LLVMValueRef value);
// Append an empty block to the entry.
LLVMBasicBlockRef emit_new_block(struct emitter *e, const char *name);
// Return a variable's place on the stack, in the entry's first block.
LLVMValueRef emit_alloca(struct emitter *e, LLVMTypeRef type);
// Add an attribute to the entry (index LLVMAttributeFunctionIndex) or to one
// of its parameters (1 + number).
void emit_attribute(LLVMValueRef function, unsigned index, const char *name,
                    uint64_t value);
// Add an attribute to a call.
void emit_call_attribute(LLVMValueRef call, const char *name);
// Add a string attribute to a function.
void emit_string_attribute(LLVMValueRef function, const char *name,
                           const char *value);

// ---- emit_line.c

void emit_lines_begin(struct emitter *e);
// Begin the lines of an entry; `span` is where it is in the source.
void emit_lines_entry(struct emitter *e, const char *name, struct span span);
// Set the line of what follows, an expression of the current statement or a
// statement, and return what it was before.
struct emit_place emit_line(struct emitter *e, struct span span);
struct emit_place emit_line_stmt(struct emitter *e, const struct ir_stmt *s);
// Set it back.
void emit_line_restore(struct emitter *e, struct emit_place before);
void emit_lines_end(struct emitter *e);

// ---- libdevice.c

// Link the functions of libdevice that the module calls.
// Returns false after reporting errors.
bool libdevice_link(struct emitter *e);

// ---- optimize.c

// Verify, optimise and verify the module.  Returns false after reporting
// errors.
bool optimize_module(struct emitter *e, LLVMTargetMachineRef machine);

// ---- ptx.c

// Return the target machine for what was emitted, or NULL after reporting an
// error; the module gets its triple and data layout.
LLVMTargetMachineRef ptx_machine(struct emitter *e);
// Append the module as PTX.  Returns false after reporting an error.
bool ptx_print(struct emitter *e, LLVMTargetMachineRef machine,
               struct buf *out);

// ---- inlined.c

// Append PTX, from version 7.2 on and with LLVM's comments, with the places
// that lines are inlined at.
void ptx_inlined(const char *text, struct buf *out);

#endif
