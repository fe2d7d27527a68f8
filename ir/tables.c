// The tables of ir/*.def as functions.

#include "ir/gpu.h"
#include "ir/ir.h"

#include <string.h>

enum {
    P = OP_PURE,
    C = OP_COMMUTES,
    A = OP_ASSOCIATES,
    R = OP_READS,
    W = OP_WRITES,
    L = OP_LAZY,
    T = OP_TOGETHER,
    S = OP_SYNCHRONISES
};

const struct ir_op_info ir_ops[] = {
#define OP(name, spelling, form, precedence, operands, result, flags, meaning) \
    {#name,    spelling,        FORM_##form, precedence,                       \
     operands, RESULT_##result, flags,       meaning},
#include "ir/ops.def"
#undef OP
};

// A row of types.def.
struct type_row {
    const char *name, *c_name;
    unsigned bits;
    char class;
};

static const struct type_row types[] = {
#define TYPE(name, bits, class, c_name, meaning)                               \
    {#name, c_name, bits, #class[0]},
#include "ir/types.def"
#undef TYPE
};

const char *type_name(struct type t)
{
    return types[t.kind].name;
}

const char *type_c_name(struct type t)
{
    return types[t.kind].c_name;
}

unsigned type_bits(struct type t)
{
    return types[t.kind].bits;
}

size_t type_bytes(struct type t)
{
    return (size_t)types[t.kind].bits / 8 * t.lanes;
}

bool type_is_integer(struct type t)
{
    char c = types[t.kind].class;
    return c == 'S' || c == 'U' || c == 'X';
}

bool type_is_byte(struct type t)
{
    return t.kind == TYPE_i8 || t.kind == TYPE_u8;
}

bool type_is_signed(struct type t)
{
    char c = types[t.kind].class;
    return c == 'S' || c == 'X';
}

bool type_is_float(struct type t)
{
    char c = types[t.kind].class;
    return c == 'F' || c == 'E';
}

bool type_is_storage(struct type t)
{
    return types[t.kind].class == 'E';
}

bool type_is_index(struct type t)
{
    return types[t.kind].class == 'X';
}

bool type_equal(struct type a, struct type b)
{
    return a.kind == b.kind && a.lanes == b.lanes;
}

bool type_find(const char *name, struct type *out)
{
    for (int i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = type_scalar((enum type_kind)i);
            return true;
        }
    }
    return false;
}

struct type type_scalar(enum type_kind kind)
{
    return (struct type){(uint8_t)kind, 1};
}

struct type type_vector(struct type t, unsigned lanes)
{
    return (struct type){t.kind, (uint8_t)lanes};
}

// A row of axes.def.
struct axis_row {
    const char *spelling;
    enum axis_kind kind;
    int dimension;
    int64_t most;
};

static const struct axis_row axes[] = {
#define AXIS(name, spelling, kind, dimension, most, meaning)                   \
    {spelling, AXIS_##kind, dimension, most},
#include "ir/axes.def"
#undef AXIS
};

const char *axis_name(enum axis axis)
{
    return axes[axis].spelling;
}

enum axis_kind axis_kind(enum axis axis)
{
    return axes[axis].kind;
}

int axis_dimension(enum axis axis)
{
    return axes[axis].dimension;
}

int64_t axis_most(enum axis axis)
{
    return axes[axis].most;
}

bool axis_is_cluster(enum axis axis)
{
    return axis >= AXIS_cluster_x && axis <= AXIS_cluster_z;
}

bool axis_find(const char *name, enum axis *out)
{
    for (int i = 0; i < AXIS_COUNT; i++) {
        if (strcmp(axes[i].spelling, name) == 0) {
            *out = (enum axis)i;
            return true;
        }
    }
    return false;
}

// A row of spaces.def.
struct space_row {
    const char *name;
    unsigned number;
};

static const struct space_row spaces[] = {
#define SPACE(name, number, meaning) {#name, number},
#include "ir/spaces.def"
#undef SPACE
};

const char *space_name(enum space space)
{
    return spaces[space].name;
}

unsigned space_number(enum space space)
{
    return spaces[space].number;
}

bool space_is_own(enum space space)
{
    return space == SPACE_local || space == SPACE_fragment;
}

bool space_find(const char *name, enum space *out)
{
    for (int i = 0; i < SPACE_COUNT; i++) {
        if (strcmp(spaces[i].name, name) == 0) {
            *out = (enum space)i;
            return true;
        }
    }
    return false;
}

static const char *const levels[] = {
#define LEVEL(name, meaning) #name,
#include "ir/levels.def"
#undef LEVEL
};

const char *level_name(enum ir_level level)
{
    return levels[level];
}

bool level_find(const char *name, enum ir_level *out)
{
    for (int i = 0; i < LEVEL_COUNT; i++) {
        if (strcmp(levels[i], name) == 0) {
            *out = (enum ir_level)i;
            return true;
        }
    }
    return false;
}

// A row of stmts.def.
struct stmt_row {
    const char *name;
    enum ir_level first, last;
};

static const struct stmt_row stmts[] = {
#define STMT(name, first, last, meaning) {#name, LEVEL_##first, LEVEL_##last},
#include "ir/stmts.def"
#undef STMT
};

static const char *const scopes[] = {
#define SCOPE(name, llvm, ptx, meaning) #name,
#include "ir/scopes.def"
#undef SCOPE
};

const char *scope_name(enum ir_scope scope)
{
    return scopes[scope];
}

bool scope_named(const char *name, enum ir_scope *out)
{
    for (int i = SCOPE_usual + 1; i < SCOPE_COUNT; i++) {
        if (strcmp(scopes[i], name) == 0) {
            *out = (enum ir_scope)i;
            return true;
        }
    }
    return false;
}

// A row of hints.def.
struct hint_row {
    const char *name;
    uint64_t policy;
};

static const struct hint_row hints[] = {
#define HINT(name, policy, meaning) {#name, UINT64_C(policy)},
#include "ir/hints.def"
#undef HINT
};

const char *hint_name(enum ir_hint hint)
{
    return hints[hint].name;
}

bool hint_named(const char *name, enum ir_hint *out)
{
    for (int i = HINT_usual + 1; i < HINT_COUNT; i++) {
        if (strcmp(hints[i].name, name) == 0) {
            *out = (enum ir_hint)i;
            return true;
        }
    }
    return false;
}

uint64_t hint_policy(enum ir_hint hint)
{
    return hints[hint].policy;
}

// A row of syncs.def.
struct sync_row {
    const char *spelling;
    bool has_number, meets;
    uint32_t together; // threads that do it together
};

static const struct sync_row syncs[] = {
#define none   false
#define N      true
#define meet   true
#define thread 1
#define warp   WARP_LANES
#define group  GROUP_THREADS
#define SYNC(name, spelling, number, by, meets, meaning)                       \
    {spelling, number, meets, by},
#include "ir/syncs.def"
#undef SYNC
#undef group
#undef warp
#undef thread
#undef meet
#undef N
#undef none
};

const char *sync_spelling(enum sync_kind kind)
{
    return syncs[kind].spelling;
}

bool sync_has_number(enum sync_kind kind)
{
    return syncs[kind].has_number;
}

uint32_t sync_threads(enum sync_kind kind)
{
    return syncs[kind].meets ? syncs[kind].together : 0;
}

bool sync_is_of_cluster(enum sync_kind kind)
{
    return kind == SYNC_cluster_arrive || kind == SYNC_cluster_leave ||
           kind == SYNC_cluster_wait;
}

bool sync_is_together(enum sync_kind kind)
{
    return syncs[kind].together > 1;
}

enum transport_shape { TILE, RUN, LANES };

// A row of transports.def.
struct transport_row {
    const char *load, *store, *meaning; // store: NULL: only loads
    enum transport_shape shape;
};

static const struct transport_row transports[] = {
#define TRANSPORT(name, shape, meaning)                                        \
    {#name "_load", shape == LANES ? NULL : #name "_store", meaning, shape},
#include "ir/transports.def"
#undef TRANSPORT
};

const char *ir_copy_word(const struct ir_copy *copy)
{
    const struct transport_row *row = &transports[copy->transport];
    return copy->is_load ? row->load : row->store;
}

const char *transport_meaning(enum ir_transport transport)
{
    return transports[transport].meaning;
}

bool transport_has_map(enum ir_transport transport)
{
    return transports[transport].shape == TILE;
}

bool transport_is_of_threads(enum ir_transport transport)
{
    return transports[transport].shape == LANES;
}

const char *stmt_name(enum ir_stmt_kind kind)
{
    return stmts[kind].name;
}

bool stmt_allowed(enum ir_stmt_kind kind, enum ir_level level)
{
    return stmts[kind].first <= level && level <= stmts[kind].last;
}
