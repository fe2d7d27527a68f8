// The program as data: kernels made of statements and expressions.
//
// Everything lives in the arena of the compilation and is made by the
// functions of ir/build.h.  Expressions are never changed after they are
// made and may be shared; statements are changed in place by one owner, their
// block.  Variables and arrays are compared by address.

#ifndef IR_IR_H
#define IR_IR_H

#include "ir/base/arena.h"
#include "ir/base/source.h"
#include "ir/base/str.h"
#include "ir/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum type_kind {
#define TYPE(name, bits, class, c_name, meaning) TYPE_##name,
#include "ir/types.def"
#undef TYPE
    TYPE_COUNT
};

enum space {
#define SPACE(name, number, meaning) SPACE_##name,
#include "ir/spaces.def"
#undef SPACE
    SPACE_COUNT
};

enum axis {
#define AXIS(name, spelling, kind, dimension, most, meaning) AXIS_##name,
#include "ir/axes.def"
#undef AXIS
    AXIS_COUNT
};

enum axis_kind {
    AXIS_SERIAL,
    AXIS_UNROLL,
    AXIS_VECTOR,
    AXIS_VTHREAD,
    AXIS_BLOCK,
    AXIS_THREAD
};

enum ir_level {
#define LEVEL(name, meaning) LEVEL_##name,
#include "ir/levels.def"
#undef LEVEL
    LEVEL_COUNT
};

enum ir_op {
#define OP(name, spelling, form, precedence, operands, result, flags, meaning) \
    OP_##name,
#include "ir/ops.def"
#undef OP
    OP_COUNT
};

enum ir_scope {
#define SCOPE(name, llvm, ptx, meaning) SCOPE_##name,
#include "ir/scopes.def"
#undef SCOPE
    SCOPE_COUNT
};

enum ir_hint {
#define HINT(name, policy, meaning) HINT_##name,
#include "ir/hints.def"
#undef HINT
    HINT_COUNT
};

enum sync_kind {
#define SYNC(name, spelling, number, by, meets, meaning) SYNC_##name,
#include "ir/syncs.def"
#undef SYNC
    SYNC_COUNT
};

enum launch_attribute {
#define LAUNCH_ATTRIBUTE(name, meaning) ATTRIBUTE_##name,
#include "ir/launch_attributes.def"
#undef LAUNCH_ATTRIBUTE
    ATTRIBUTE_COUNT
};

enum ir_transport {
#define TRANSPORT(name, shape, meaning) TRANSPORT_##name,
#include "ir/transports.def"
#undef TRANSPORT
    TRANSPORT_COUNT
};

enum ir_mark {
#define MARK(name, on, takes, least, most, words, by, until, last, meaning)    \
    MARK_##name,
#include "ir/marks.def"
#undef MARK
    MARK_note // of the user's: none of these
};

enum ir_stmt_kind {
#define STMT(name, first, last, meaning) STMT_##name,
#include "ir/stmts.def"
#undef STMT
    STMT_COUNT
};

// A scalar type, or a vector of 2 to 16 of them.
struct type {
    uint8_t kind;  // enum type_kind
    uint8_t lanes; // 1 for a scalar
};

enum var_kind {
    VAR_param,   // a size (type `int`) or a scalar that the caller passes
    VAR_loop,    // counted by a `for`
    VAR_iter,    // iteration variable of a stage
    VAR_let,     // a value that never changes
    VAR_mutable, // declared by `var`
};

// A named scalar.
struct ir_var {
    const char *name; // interned; the printer numbers clashes
    struct type type;
    enum var_kind kind;
    struct span span; // of its declaration
};

enum buffer_role {
    ROLE_input,  // a parameter that is only read
    ROLE_output, // a result: written, in full unless the kernel says otherwise
    ROLE_inout,  // a parameter that is read and written
    ROLE_alloc,  // declared by `alloc`; in global space: part of the workspace
};

// Gaps in a dimension: its neighbours lie the least k * factor + offset
// elements apart that hold the rows behind it and `pad` elements more.
struct ir_pitch {
    uint32_t pad, factor, offset; // offset < factor; none: {0, 1, 0}
};

// Column j of row r lies where column j ^ ((r >> shift) % 2^bits << base)
// would; rows are counted over all dimensions but the last.
struct ir_swizzle {
    uint32_t bits, base, shift; // bits 0: none
};

// An array.
struct ir_buffer {
    const char *name; // interned
    struct type elem;
    uint32_t rank;             // 0 for a single element
    struct ir_expr **shape;    // extents, of type `int`
    struct ir_expr **strides;  // in elements; NULL for row-major
    struct ir_pitch *pitches;  // of each dimension; never changed, may be
                               // shared; NULL: no gaps
    struct ir_swizzle swizzle; // both only before level flat, of an `alloc`
    struct ir_expr **values;   // constant memory: of the elements, in order
    uint32_t n_values;
    enum space space;
    enum buffer_role role;
    uint32_t align;   // bytes the caller promises; 0: those of one element
    bool is_ordered;  // mbarriers, or flags that blocks exchange, order its
                      // accesses: no barrier has to
    bool is_double;   // filled for the next iteration while this one uses it;
                      // only before level launch
    bool of_cluster;  // in shared memory, distributed over the blocks of a
                      // cluster: the first index is the rank of the block that
                      // holds an element; level flat keeps it beside the other
    uint32_t threads; // in local memory: so many first dimensions are positions
                      // of threads; only at levels loops and grids
    struct span doubled, swizzled; // the directives that ask for the two; may
                                   // be none
    struct span span;
};

// An expression.
struct ir_expr {
    enum ir_op op;
    struct type type;
    struct span span;
    union {
        int64_t i;                // const of an integer type or bool
        double f;                 // const of a floating type
        struct ir_var *var;       // var
        struct ir_buffer *buffer; // load and atomics
        enum axis axis;           // index
        uint32_t lane;            // lane
    } u;
    bool is_open;          // const: a literal whose type its partner decides;
                           // only while parsing
    uint8_t scope;         // atomics: enum ir_scope
    uint32_t n;            // operands
    struct ir_expr **args; // load: the indices; atomics: the indices, then the
                           // operands behind the element
};

// The most dimensions of an operand of an instruction on matrices.
enum { IR_TILE_RANK = 6 };

// Statements in order.
struct ir_block VEC(struct ir_stmt *);

// A mark of a loop or a stage, or a note of the user's: `@name(value)` or
// `@name(word)`.
struct ir_attr {
    enum ir_mark mark;
    const char *name; // as the mark, or the note, is called
    int64_t value;
    const char *word; // interned; NULL: it is a value
};

// Marks in the order in which they were made.
struct ir_attrs VEC(struct ir_attr);

// What some warpgroups do with the slots of a ring.
enum ir_ring_part {
#define ROLE(name, meaning) RING_##name,
#include "ir/ring.def"
#undef ROLE
    RING_PARTS
};
// How its slots are filled, and are known to be full and free.
enum ir_ring_word {
#define WORD(field, name, first, last, meaning) RING_##field##_##name,
#include "ir/ring.def"
#undef WORD
    RING_WORDS
};
struct ir_role {
    enum ir_ring_part part;
    int64_t registers; // that each thread keeps; 0: as it begins
};

// A ring: what a loop fills for an iteration lies in one of several slots, so
// that fills run iterations ahead of their use.  It belongs to the loop until
// passes/lower/ has made statements of it.
struct ir_ring {
    int64_t slots, lag, producer, order; // of ring.def
    unsigned
        words; // of ring.def, a bit each: how its slots are filled, and how
               // they are known to be full and free; 0: not planned
    // none: the loop's threads fill and use it
    struct VEC(struct ir_role) roles;
    // If it is planned: with the slots as their first dimension.
    struct VEC(struct ir_buffer *) arrays;
};

// The rings of a loop: stages in it say which one they fill, `@ring(1)`; the
// others fill the first, number 0. If the rings are planned, the loop's body
// begins with the slot of the iteration in each, `let slot = number % slots`.
struct ir_rings VEC(struct ir_ring *);

// A loop over from, from + step, ... while below to.
struct ir_for {
    struct ir_var *var;
    struct ir_expr *from, *to, *step; // step > 0
    enum axis axis;
    bool is_placed; // a directive has said where in its nest; not printed
    struct ir_attrs attrs;
    struct ir_rings rings;
    struct ir_block body;
};

// One iteration variable of a stage: it takes each value of 0..extent once
// over the loops around the stage, at which it is `binding`.  The extent is of
// sizes; that of a reduction may mention the variables in front that count
// none, and elements of inputs: each element of a result has its own range.
struct ir_iter {
    struct ir_var *var;
    struct ir_expr *extent, *binding;
    bool is_reduce;
};

// A stage: computes one element (or several) of the array it is named after.
// `init` runs before the first of the reduction iterations of each element.
struct ir_stage {
    const char *name; // interned
    struct VEC(struct ir_iter) iters;
    struct ir_expr *predicate; // over the loops around; NULL: always
    bool has_init;
    struct ir_block init, body;
    struct ir_attrs attrs;
    struct span via; // the directive that says how it copies; may be none
};

// One grid: what cuLaunchKernel starts.
struct ir_launch {
    const char *name; // the entry's symbol, interned
    struct ir_expr *grid[3];
    uint32_t cluster[3]; // blocks that run together; the grid is a multiple
    uint32_t block[3];
    uint32_t min_blocks, max_registers; // 0: the assembler's choice
    uint32_t attributes;                // 1 << launch_attribute, of each
    bool derives_barriers; // lowering places its barriers: it has none of its
                           // own; only before level flat
    // Arrays in global memory of which no thread of a block sees what another
    // one writes: barriers change nothing of what it sees there.
    struct VEC(struct ir_buffer *) noalias;
    struct VEC(struct span) bound_by; // the directives that bound its loops
    struct ir_block body;
};

// An instruction on matrices: a row of ir/matrix.def, and n where it is open.
struct ir_matrix {
    uint16_t row, n;
};

// How a matrix of a warpgroup lies in shared memory: swizzled rows of 128, 64
// or 32 bytes (0: none), and how far blocks of them are apart, in bytes.
struct ir_descriptor {
    uint32_t swizzle, leading, stride;
    bool is_transposed; // rows lie along m or n, not k
};

// An operand of such an instruction: the first element that this thread (in
// registers) or the whole group (in shared memory) has of it, and how many
// follow in each dimension.
struct ir_tile {
    struct ir_expr *at; // a place; NULL: the instruction has no such operand
    uint32_t extent[IR_TILE_RANK];   // of the dimensions of `at`
    struct ir_descriptor descriptor; // of operands of a warpgroup
};

// A tensor map: how TMA, the Tensor Memory Accelerator of sm_90 and newer, sees
// an array of the caller's, or of the workspace, in tiles.  The launch function
// makes it of the array's address and sizes.
struct ir_map {
    const char *name;         // interned
    struct ir_buffer *buffer; // in global memory
    uint32_t *box;            // elements of a tile in each dimension
    uint32_t swizzle;         // bytes of a row of a tile in shared memory whose
                              // 16-byte groups are exchanged; 0: none
    bool rounds;              // loads round each element, an f32, to tf32
    struct span span;
};

// An element of an array.
struct ir_place {
    struct ir_buffer *buffer;
    uint32_t n;
    struct ir_expr **index;
};

// A copy that goes on behind its statement, between an array in global memory
// and one in shared memory.
struct ir_copy {
    enum ir_transport transport;
    bool is_load;              // to shared memory
    uint32_t elements;         // RUN: how many; TILE: as many as the map's box;
                               // LANES: as many as the index has lanes
    struct ir_map *map;        // TILE: of far.buffer; else NULL
    struct ir_place far, near; // where it begins in global, in shared memory
    struct ir_place signal;    // load: the mbarrier that counts its bytes;
                               // LANES: none
    struct ir_expr *multicast; // load: blocks of the cluster, a bit each; or
                               // NULL: this one
    struct ir_expr *where;     // LANES: zeros arrive if it is false; or NULL
    enum ir_hint hint;
    struct span source;         // LANES: the text of `far`; may be none
    struct span copied, hinted; // LANES: as those of a store
};

// A statement.
struct ir_stmt {
    enum ir_stmt_kind kind;
    struct span span; // of the kernel: what it does part of
    struct span by;   // of the directive that made it; none: the kernel's own
    union {
        struct ir_for loop; // for
        struct {
            struct ir_expr *cond;
            struct ir_block then, otherwise;
        } branch; // if
        struct {
            struct ir_var *var;
            struct ir_expr *value;
        } let; // let, var, assign
        struct {
            struct ir_buffer *buffer;
            uint32_t n;
            struct ir_expr **index;
            struct ir_expr *value;
            enum ir_hint hint;          // of what it accesses in global memory
            struct span copied, hinted; // the directives that ask for an
                                        // asynchronous copy, and for the hint;
                                        // may be none
        } store;                        // store
        struct ir_expr *value;          // eval
        struct ir_buffer *buffer;       // alloc
        bool of_cluster;                // barrier: of all its blocks
        struct {
            enum sync_kind kind;
            uint32_t n; // where the kind has a number
        } sync;         // sync
        struct {
            struct ir_matrix op;
            struct ir_tile tiles[3]; // D, A, B
            struct ir_expr *keep;    // false: D is overwritten; NULL: true
        } matrix;                    // matrix
        struct {
            const char *text; // as written between the quotes; interned
            uint32_t n;       // places in it, and values
            struct ir_expr **values;
        } print;                 // print
        struct ir_copy copy;     // copy
        struct ir_stage stage;   // stage
        struct ir_launch launch; // launch
    } u;
};

// A parameter of the launch function, in the order of the file; results come
// last.
struct ir_param {
    struct ir_var *var;       // a size or scalar, or NULL
    struct ir_buffer *buffer; // an array, or NULL
};

// Conditions over the parameters.
struct ir_conditions VEC(struct ir_expr *);

// What is true of the elements of an array parameter before the kernel runs:
// low <= x < high.
struct ir_range {
    uint32_t parameter;
    struct ir_expr *low, *high; // `int` over the parameters, or numbers f64
    bool ascends; // no element is less than the one in front of it in memory
};

// A result whose elements have no order: all of them, or as many as the first
// element of another result says.
struct ir_unordered {
    uint32_t parameter, count;
    bool has_count;
};

// The value of a size in a set of sizes that the kernel is tried at.
struct ir_try {
    uint32_t parameter;
    int64_t value;
};

// What else the text says of a kernel: what its data are, and how its results
// are judged.  No pass looks at it.  Parameters are numbers.
struct ir_terms {
    struct VEC(struct ir_range) ranges;
    struct VEC(struct ir_unordered) unordered;
    struct VEC(struct ir_try) tries; // one that is set again begins another
                                     // set, where the others stay
    struct ir_expr *tolerance;       // a number f64: most that floating results
                                     // differ; NULL: by rule
    const char *defines; // the kernel whose results it has; interned, or NULL
    struct span defines_at;
};

// What an instance of a kernel gives a compile-time parameter.
enum ir_static_kind {
    STATIC_type, // f16
    STATIC_int,  // 1024
    STATIC_flag, // true
    STATIC_word, // t: the order of an array's dimensions
};
struct ir_static {
    const char *name; // of the parameter; interned
    struct span span; // of the value
    enum ir_static_kind kind;
    struct type type;
    int64_t number;   // int, flag
    const char *word; // type (its name), word; interned
};
struct ir_statics VEC(struct ir_static);

// A kernel.
struct ir_kernel {
    const char *name;   // interned
    const char *family; // of an instance: the kernel's name in the text; NULL
    struct ir_statics statics; // of an instance, in the order of the text
    const char *variant; // what made it differ from its siblings; "" if none
    struct span span;    // of the name
    enum ir_level level;
    bool fast_math; // approximations allowed
    bool is_narrow; // a variant with 32-bit indices, whose guard holds for some
                    // of the sizes of the one behind it
    uint32_t min_blocks, max_registers; // launch bounds; 0: none
    uint32_t attributes; // of its launches: 1 << launch_attribute, of each
    struct VEC(struct ir_param) params;
    struct ir_conditions where;       // each true or the launch is refused
    struct ir_conditions guard;       // each true or another variant runs
    struct VEC(struct ir_map *) maps; // those of allocs last, in their order
    struct ir_terms terms;
    const struct ir_kernel *definition; // which `terms` name; NULL: none, or
                                        // it is not in this text
    struct ir_block body;
};

// Facts about an operation, from ops.def.
enum op_form { FORM_LEAF, FORM_PREFIX, FORM_INFIX, FORM_CALL, FORM_OWN };
enum op_result {
    RESULT_SAME,
    RESULT_LAST,
    RESULT_BOOL,
    RESULT_MASK,
    RESULT_WORD,
    RESULT_SINGLE,
    RESULT_OWN
};
enum op_flags {
    OP_PURE = 1,
    OP_COMMUTES = 2,
    OP_ASSOCIATES = 4,
    OP_READS = 8,
    OP_WRITES = 16,
    OP_LAZY = 32,
    OP_TOGETHER = 64,
    OP_SYNCHRONISES = 128,
};
struct ir_op_info {
    const char *name, *spelling;
    enum op_form form;
    int precedence;
    const char *operands;
    enum op_result result;
    unsigned flags;
    const char *meaning;
};
extern const struct ir_op_info ir_ops[];

static inline const struct ir_op_info *ir_op_info(enum ir_op op)
{
    return &ir_ops[op];
}

// Facts about a type, from types.def.
const char *type_name(struct type t); // of one lane
const char *type_c_name(struct type t);
unsigned type_bits(struct type t);   // of one lane
size_t type_bytes(struct type t);    // of all lanes
bool type_is_integer(struct type t); // index types included, bool not
bool type_is_byte(struct type t);    // i8 or u8
bool type_is_signed(struct type t);
bool type_is_float(struct type t);   // storage-only types included
bool type_is_storage(struct type t); // f8: conversions only
bool type_is_index(struct type t);   // `int`, idx32, idx64
bool type_equal(struct type a, struct type b);
bool type_find(const char *name, struct type *out);
struct type type_scalar(enum type_kind kind);
struct type type_vector(struct type t, unsigned lanes);

// Facts about axes, spaces and levels, from their tables.
const char *axis_name(enum axis axis); // "block.x"
enum axis_kind axis_kind(enum axis axis);
int axis_dimension(enum axis axis); // 0, 1 or 2
int64_t axis_most(enum axis axis);  // largest extent; 0: no limit
bool axis_is_cluster(enum axis axis);
bool axis_find(const char *name, enum axis *out);
const char *space_name(enum space space);
bool space_is_own(enum space space);     // one for each iteration of the loops
                                         // over threads around it
unsigned space_number(enum space space); // LLVM's address space
bool space_find(const char *name, enum space *out);
const char *level_name(enum ir_level level);
bool level_find(const char *name, enum ir_level *out);
const char *scope_name(enum ir_scope scope);
bool scope_named(const char *name, enum ir_scope *out); // not `usual`
const char *hint_name(enum ir_hint hint);
bool hint_named(const char *name, enum ir_hint *out); // not `usual`
uint64_t hint_policy(enum ir_hint hint);
const char *sync_spelling(enum sync_kind kind);
bool sync_has_number(enum sync_kind kind);
uint32_t sync_threads(enum sync_kind kind);   // that meet there; or 0
bool sync_is_of_cluster(enum sync_kind kind); // half of its barrier
bool sync_is_together(enum sync_kind kind);   // threads of a warp do it at once
const char *stmt_name(enum ir_stmt_kind kind);

// Facts about a transport, from transports.def.
const char *transport_meaning(enum ir_transport transport); // of messages
const char *ir_copy_word(const struct ir_copy *copy);       // "tma_load"; NULL:
                                                            // no such copy
bool transport_has_map(enum ir_transport transport);
bool transport_is_of_threads(enum ir_transport transport); // shape LANES
bool stmt_allowed(enum ir_stmt_kind kind, enum ir_level level);

#endif
