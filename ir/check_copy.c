// Checks tensor maps and copies.

#include "ir/checking.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/walk.h"

// What TMA can do.
enum { RANK_MOST = 5, BOX_MOST = 256, GROUP_BYTES = 16 };

// Return what is wrong with the tile of a map, or NULL.
static const char *box_fault(const struct ir_map *map)
{
    const struct ir_buffer *b = map->buffer;
    for (uint32_t i = 0; i < b->rank; i++)
        if (map->box[i] < 1 || map->box[i] > BOX_MOST)
            return "a TMA tile has 1 to 256 elements in each dimension";
    size_t bytes = type_bytes(b->elem) * map->box[b->rank - 1];
    if (bytes % GROUP_BYTES)
        return "a row of a TMA tile must be a multiple of 16 bytes";
    if (map->swizzle && map->swizzle != 32 && map->swizzle != 64 &&
        map->swizzle != 128)
        return "rows are swizzled over 32, 64 or 128 bytes";
    if (map->swizzle && bytes > map->swizzle)
        return "a row of a TMA tile is longer than its swizzle";
    if (map->rounds && !type_equal(b->elem, type_scalar(TYPE_f32)))
        return "a map that rounds to tf32 is of an array of f32";
    return NULL;
}

// Return what is wrong with the array of a map, or NULL.
static const char *array_fault(const struct ir_buffer *b)
{
    if (b->space != SPACE_global)
        return "a map is of an array in global memory";
    if (b->rank < 1 || b->rank > RANK_MOST)
        return "a map has 1 to 5 dimensions";
    if (b->strides && !ir_is_int_const(b->strides[b->rank - 1], 1))
        return "the rows of a mapped array have no gaps";
    if (b->swizzle.bits)
        return "a mapped array is not swizzled";
    return NULL;
}

// Return the next tensor map if its array is `b`, or any parameter for NULL.
static const struct ir_map *next_map(const struct checking *c,
                                     const struct ir_buffer *b)
{
    const struct ir_kernel *k = c->kernel;
    const struct ir_map *map =
        c->n_maps < k->maps.n ? k->maps.at[c->n_maps] : NULL;
    bool is_next =
        map && (b ? map->buffer == b : map->buffer->role != ROLE_alloc);
    return is_next ? map : NULL;
}

void check_maps(struct checking *c, const struct ir_buffer *b)
{
    const struct ir_map *map;
    for (; (map = next_map(c, b)); c->n_maps++) {
        check_use(c, map->buffer, map->buffer->name);
        const char *wrong = array_fault(map->buffer);
        wrong = wrong ? wrong : box_fault(map);
        check_must_name(c, !wrong, map->name, wrong);
        check_declare(c, map, map->name);
    }
}

// Check an array in shared memory and the one element of it.
static void check_shared(struct checking *c, const struct ir_buffer *b,
                         uint32_t n, struct ir_expr *const *index)
{
    unsigned lanes;
    for (uint32_t i = 0; i < n; i++)
        check_expr(c, index[i]);
    check_index(c, b, n, index, &lanes);
    check_must_name(c, b->space == SPACE_shared && lanes == 1, b->name,
                    "a copy needs one place in shared memory");
}

// Check what only loads have.
static void check_load(struct checking *c, const struct ir_copy *copy)
{
    if (!check_must(c, copy->signal.buffer != NULL, NULL, "a load signals"))
        return;
    check_shared(c, copy->signal.buffer, copy->signal.n, copy->signal.index);
    check_mbarrier(c, copy->signal.buffer);
    if (!copy->multicast)
        return;
    check_expr(c, copy->multicast);
    check_must(c, type_equal(copy->multicast->type, type_scalar(TYPE_u16)),
               copy->multicast, "the blocks of a multicast are bits of a u16");
}

// Check a bulk copy: where it begins in global memory, and its size.
static void check_bulk(struct checking *c, const struct ir_copy *copy)
{
    unsigned lanes;
    size_t bytes = copy->elements * type_bytes(copy->far.buffer->elem);
    check_index(c, copy->far.buffer, copy->far.n, copy->far.index, &lanes);
    check_must_name(c, copy->far.buffer->space == SPACE_global && lanes == 1,
                    copy->far.buffer->name,
                    "a bulk copy needs one place in global memory");
    check_must_name(c, bytes > 0 && bytes % GROUP_BYTES == 0,
                    copy->far.buffer->name,
                    "a bulk copy must be a multiple of 16 bytes");
    check_must_name(c, !copy->far.buffer->swizzle.bits, copy->far.buffer->name,
                    "a bulk copy of a swizzled array");
}

// Check an end of a copy by each thread; returns how many elements it has.
static unsigned check_end(struct checking *c, const struct ir_place *place,
                          enum space space, const char *what)
{
    unsigned lanes;
    for (uint32_t i = 0; i < place->n; i++)
        check_expr(c, place->index[i]);
    check_index(c, place->buffer, place->n, place->index, &lanes);
    check_must_name(c, place->buffer->space == space, place->buffer->name,
                    what);
    return lanes;
}

// Check a copy by each thread.
static void check_own(struct checking *c, const struct ir_copy *copy)
{
    unsigned read = check_end(c, &copy->far, SPACE_global,
                              "a thread copies from global memory");
    unsigned written = check_end(c, &copy->near, SPACE_shared,
                                 "a thread copies to shared memory");
    check_must(c, read == written, NULL,
               "as many elements are read as are written");
    check_must(c, copy->is_load && !copy->signal.buffer && !copy->multicast,
               NULL, "a thread's copy is a load that signals nothing");
    check_writable(c, copy->near.buffer);
    if (!copy->where)
        return;
    check_expr(c, copy->where);
    check_must(c,
               type_equal(copy->where->type, type_scalar(TYPE_bool)) &&
                   ir_is_pure(copy->where, true),
               copy->where, "the condition of a copy is a bool of no memory");
}

// Check a copy by TMA.
static void check_tma(struct checking *c, const struct ir_copy *copy)
{
    const struct ir_buffer *b = copy->far.buffer;
    check_must(c, !copy->where, NULL, "a copy by TMA has no condition");
    check_must(c, !copy->map == !transport_has_map(copy->transport), NULL,
               "TMA tile copies go through a map, and only these");
    if (copy->map)
        check_use(c, copy->map, copy->map->name);
    check_must_name(c, !copy->map || copy->map->buffer == b, b->name,
                    "a copy by a map is one of the map's array");
    for (uint32_t i = 0; i < copy->far.n; i++) {
        check_expr(c, copy->far.index[i]);
        check_must(c,
                   type_is_integer(copy->far.index[i]->type) &&
                       copy->far.index[i]->type.lanes == 1,
                   copy->far.index[i], "a coordinate must be an integer");
    }
    check_must_name(c, !copy->map || !copy->map->rounds || copy->is_load,
                    b->name, "a map that rounds to tf32 is for loads");
    if (!copy->map)
        check_bulk(c, copy);
    check_shared(c, copy->near.buffer, copy->near.n, copy->near.index);
    check_must(c, !c->in_stage, NULL, "a copy by TMA inside a stage");
    if (copy->is_load)
        check_load(c, copy);
    else
        check_writable(c, b);
}

void check_copy(struct checking *c, const struct ir_stmt *s)
{
    const struct ir_copy *copy = &s->u.copy;
    const struct ir_buffer *near = copy->near.buffer;
    if (ir_is_thread_copy(s))
        check_own(c, copy);
    else
        check_tma(c, copy);
    check_must_name(c, type_equal(near->elem, copy->far.buffer->elem),
                    near->name, "a copy does not convert");
}
