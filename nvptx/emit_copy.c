// Copies by TMA: of tiles, through tensor maps, parameters of 128 bytes that no
// thread changes; and bulk copies, without a map.  Those by each thread:
// emit_async.c.
//
// TMA counts dimensions from the innermost one.

#include "ir/accesses.h"
#include "nvptx/emit.h"

#include <llvm/Config/llvm-config.h>

// What TMA takes: words of a map, and its alignment.
enum { MAP_WORDS = 16, MAP_ALIGN = 64 };

// The first LLVM that looks for the attribute `nvvm.grid_constant`; whose loads go to
// addresses of a cluster, and may be for groups of two blocks.
enum { GRID_CONSTANT_SINCE = 22, CLUSTER_LOADS_SINCE = 21 };
static const bool loads_to_cluster = LLVM_VERSION_MAJOR >= CLUSTER_LOADS_SINCE;

// The number of operands of a load besides the coordinates, and of a store.
enum { RANK_MOST = 5, LOAD_OPERANDS = 8, STORE_OPERANDS = 4 };

LLVMTypeRef emit_map_type(struct emitter *e)
{
    return LLVMPointerTypeInContext(e->context, 0);
}

void emit_map_parameter(struct emitter *e, unsigned index,
                        const struct ir_map *map)
{
    static const char grid_constant[] = "nvvm.grid_constant";
    static const char byval[] = "byval";
    LLVMTypeRef words =
        LLVMArrayType2(LLVMInt64TypeInContext(e->context), MAP_WORDS);
    unsigned kind = LLVMGetEnumAttributeKindForName(byval, sizeof byval - 1);
    LLVMAddAttributeAtIndex(e->function, index + 1,
                            LLVMCreateTypeAttribute(e->context, kind, words));
    LLVMAddAttributeAtIndex(e->function, index + 1,
                            LLVMCreateStringAttribute(e->context, grid_constant,
                                                      sizeof grid_constant - 1,
                                                      "", 0));
    emit_attribute(e->function, index + 1, "align", MAP_ALIGN);
    emit_attribute(e->function, index + 1, "readonly", 0);
    LLVMValueRef value = LLVMGetParam(e->function, index);
    LLVMSetValueName2(value, map->name, strlen(map->name));
    map_set(&e->arrays, map, value);
}

void emit_maps_annotation(struct emitter *e, unsigned first, size_t n)
{
    static const char list[] = "nvvm.annotations", name[] = "grid_constant";
    LLVMContextRef c = e->context;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
    bool is_printed = e->options->form != NVPTX_OPTIMISED; // emit_annotations.c
    if (n == 0 || LLVM_VERSION_MAJOR >= GRID_CONSTANT_SINCE || !is_printed)
        return;
    LLVMMetadataRef *numbers = arena_array(e->arena, LLVMMetadataRef, n);
    for (size_t i = 0; i < n; i++)
        numbers[i] = LLVMValueAsMetadata(LLVMConstInt(i32, first + i + 1, 0));
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(e->function),
                               LLVMMDStringInContext2(c, name, sizeof name - 1),
                               LLVMMDNodeInContext2(c, numbers, n)};
    LLVMAddNamedMetadataOperand(
        e->module, list,
        LLVMMetadataAsValue(c, LLVMMDNodeInContext2(c, parts, 3)));
}

// Append the coordinates of a tile to `n` operands; returns how many there are
// then.
static unsigned add_coordinates(struct emitter *e, LLVMValueRef *args,
                                unsigned n, const struct ir_copy *copy)
{
    struct type narrow = type_scalar(TYPE_i32);
    for (uint32_t i = copy->map->buffer->rank; i-- > 0;) {
        const struct ir_expr *x = copy->far.index[i];
        args[n++] = emit_convert(e, narrow, x->type, emit_value(e, x));
    }
    return n;
}

// Append the operand that says how long the cache is to keep the data, and
// return the one that says whether it counts.
static LLVMValueRef add_hint(struct emitter *e, LLVMValueRef *args, unsigned *n,
                             enum ir_hint hint)
{
    args[(*n)++] =
        emit_int(e, type_scalar(TYPE_u64), (int64_t)hint_policy(hint));
    return emit_int(e, type_scalar(TYPE_bool), hint != HINT_usual);
}

// Report a target that has no TMA.
static bool check_target(struct emitter *e, const struct ir_stmt *s)
{
    return emit_need(e, FEATURE_tensor, s->span,
                     transport_meaning(s->u.copy.transport));
}

// Return the address of an element.
static LLVMValueRef address(struct emitter *e, const struct ir_place *place)
{
    return emit_address(e, place->buffer, place->index[0]);
}

// Return the address in shared memory as one of the cluster, to which loads go.
static LLVMValueRef near_in_cluster(struct emitter *e,
                                    const struct ir_copy *copy)
{
    LLVMTypeRef cluster = LLVMPointerTypeInContext(e->context, 7);
    if (!loads_to_cluster)
        return address(e, &copy->near);
    return LLVMBuildAddrSpaceCast(e->builder, address(e, &copy->near), cluster,
                                  "");
}

// Return the blocks of the cluster that a load goes to; nobody looks at it
// where that is one.
static LLVMValueRef blocks(struct emitter *e, const struct ir_copy *copy)
{
    return copy->multicast ? emit_value(e, copy->multicast)
                           : emit_int(e, type_scalar(TYPE_u16), 0);
}

// Call the intrinsic `name` of as many dimensions as the copy has.
static void call_tile(struct emitter *e, const struct ir_copy *copy,
                      const char *name, LLVMValueRef *args, unsigned n)
{
    const char *of_rank =
        arena_printf(e->arena, "%s.%ud", name, copy->map->buffer->rank);
    emit_intrinsic(e, of_rank, NULL, args, n);
}

// Load a tile through a tensor map.
static void load_tma(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_copy *copy = &s->u.copy;
    LLVMValueRef args[RANK_MOST + LOAD_OPERANDS];
    args[0] = near_in_cluster(e, copy);
    args[1] = address(e, &copy->signal);
    args[2] = map_get(&e->arrays, copy->map);
    unsigned n = add_coordinates(e, args, 3, copy);
    args[n++] = blocks(e, copy);
    LLVMValueRef is_hinted = add_hint(e, args, &n, copy->hint);
    args[n++] = emit_int(e, type_scalar(TYPE_bool), copy->multicast != NULL);
    args[n++] = is_hinted;
    if (loads_to_cluster)
        args[n++] = emit_int(e, type_scalar(TYPE_u32), 0);
    call_tile(e, copy, "llvm.nvvm.cp.async.bulk.tensor.g2s.tile", args, n);
}

// Store a tile through a tensor map.
static void store_tma(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_copy *copy = &s->u.copy;
    LLVMValueRef args[RANK_MOST + STORE_OPERANDS];
    args[0] = address(e, &copy->near);
    args[1] = map_get(&e->arrays, copy->map);
    unsigned n = add_coordinates(e, args, 2, copy);
    LLVMValueRef is_hinted = add_hint(e, args, &n, copy->hint);
    args[n++] = is_hinted;
    call_tile(e, copy, "llvm.nvvm.cp.async.bulk.tensor.s2g.tile", args, n);
}

// Return the bytes of a bulk copy.
static LLVMValueRef bulk_bytes(struct emitter *e, const struct ir_copy *copy)
{
    return emit_int(e, type_scalar(TYPE_u32),
                    copy->elements *
                        (int64_t)type_bytes(copy->far.buffer->elem));
}

// Load elements that lie one behind the other.
static void load_bulk(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_copy *copy = &s->u.copy;
    LLVMValueRef args[LOAD_OPERANDS];
    args[0] = near_in_cluster(e, copy);
    args[1] = address(e, &copy->signal);
    args[2] = address(e, &copy->far);
    args[3] = bulk_bytes(e, copy);
    args[4] = blocks(e, copy);
    unsigned n = 5;
    LLVMValueRef is_hinted = add_hint(e, args, &n, copy->hint);
    args[n++] = emit_int(e, type_scalar(TYPE_bool), copy->multicast != NULL);
    args[n++] = is_hinted;
    emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.global.to.shared.cluster", NULL,
                   args, n);
}

// Store elements that lie one behind the other.
static void store_bulk(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_copy *copy = &s->u.copy;
    LLVMValueRef args[STORE_OPERANDS + 1];
    args[0] = address(e, &copy->far);
    args[1] = address(e, &copy->near);
    args[2] = bulk_bytes(e, copy);
    unsigned n = 3;
    LLVMValueRef is_hinted = add_hint(e, args, &n, copy->hint);
    args[n++] = is_hinted;
    emit_intrinsic(e, "llvm.nvvm.cp.async.bulk.shared.cta.to.global", NULL,
                   args, n);
}

// Load by each thread, which does without TMA.
static void load_cp_async(struct emitter *e, const struct ir_stmt *s)
{
    emit_load_cp_async(e, s);
}

void emit_copy(struct emitter *e, const struct ir_stmt *s)
{
    static void (*const emit[][2])(struct emitter * e,
                                   const struct ir_stmt *s) = {
#define TILE(name)                      store_##name
#define RUN(name)                       store_##name
#define LANES(name)                     NULL
#define TRANSPORT(name, shape, meaning) {shape(name), load_##name},
#include "ir/transports.def"
#undef TRANSPORT
#undef TILE
#undef RUN
#undef LANES
    };
    if (ir_is_thread_copy(s) || check_target(e, s))
        emit[s->u.copy.transport][s->u.copy.is_load](e, s);
}
