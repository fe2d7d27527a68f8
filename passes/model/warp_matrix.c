// What instructions on matrices and copies take.

#include "ir/accesses.h"
#include "ir/matrix.h"
#include "passes/model/warp.h"

#include <string.h>

// What reaches a warpgroup's instructions of the rate of the hardware, by what
// power allows; bytes of shared memory a clock, and of stores from it if all SMs
// store at a time.
static const double sustained = 0.87;
enum { SHARED_BYTES = 128, STORE_BYTES = 40, ISSUE_CLOCKS = 2 };

// Return the class of the operands of an instruction.
static enum model_matrix class_of(const struct matrix_info *info)
{
    const struct matrix_part *b = &info->part[MATRIX_B];
    unsigned bits = type_bits(b->type);
    if (bits == 8)
        return MODEL_byte;
    if (bits == 16)
        return MODEL_half;
    return bits == 64 ? MODEL_f64_matrix : MODEL_tf32;
}

// Return the bytes that an operand has in shared memory.
static double shared_part(const struct matrix_info *info,
                          enum matrix_operand which)
{
    const struct matrix_part *p = &info->part[which];
    bool is_shared = p->layout && strcmp(p->layout, "shared") == 0;
    double elements = (double)p->rows * p->columns;
    return is_shared ? elements * (double)type_bytes(p->type) : 0;
}

// Add a multiplication.  All warps of a group share it.
static void multiply(struct warp *w, const struct matrix_info *info)
{
    const struct model_device *d = w->place.device;
    bool is_group = info->kind == MATRIX_WGMMA;
    double warps = info->threads / (double)WARP_LANES;
    double rate = d->matrix[class_of(info)] * sustained;
    double clocks =
        (double)info->m * info->n * info->k / (is_group ? rate : rate * d->mma);
    double bytes = shared_part(info, MATRIX_A) + shared_part(info, MATRIX_B);
    warp_hold(w, MODEL_tensor, clocks / warps);
    warp_hold(w, MODEL_issue, 0.25);
    if (is_group)
        warp_hold(w, MODEL_shared, bytes / SHARED_BYTES / warps);
    w->path += ISSUE_CLOCKS;
    if (!is_group) {
        warp_pass(w, clocks * GROUP_WARPS);
        return;
    }
    w->work->serial += clocks / warps * w->warps * w->times;
    warp_serial(w, clocks);
}

// Return the lanes that give a place to an instruction that moves matrices.
static uint32_t lanes_of_rows(const struct matrix_info *info)
{
    uint32_t rows = info->m;
    return rows >= WARP_LANES ? UINT32_MAX : (1u << rows) - 1;
}

// Add a move between registers and shared memory: each lane gives the place of a
// row of 16 bytes.
static void move(struct warp *w, const struct ir_stmt *s,
                 const struct matrix_info *info)
{
    struct type row = type_vector(type_scalar(TYPE_u16), 8);
    uint32_t active = w->active;
    bool reads = info->kind == MATRIX_LOAD;
    w->active &= lanes_of_rows(info);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        const struct ir_expr *at = s->u.matrix.tiles[i].at;
        if (at && at->n && at->u.buffer->space == SPACE_shared)
            warp_access(w, reads ? MOVE_read : MOVE_write, at->u.buffer,
                        at->args[at->n - 1], row);
    }
    w->active = active;
}

void warp_matrix(struct warp *w, const struct ir_stmt *s)
{
    struct matrix_info info = matrix_info(s->u.matrix.op);
    if (info.kind == MATRIX_LOAD || info.kind == MATRIX_STORE)
        move(w, s, &info);
    else
        multiply(w, &info);
}

// ---- Copies ---------------------------------------------------------------

// Return how many elements of a tile lie in its array.
static double elements_inside(struct warp *w, const struct ir_copy *copy)
{
    double n = 1;
    if (!copy->map)
        return (double)ir_copy_elements(copy);
    for (uint32_t d = 0; d < copy->far.buffer->rank; d++) {
        struct lanes extent;
        double box = copy->map->box[d];
        lanes_of(&w->place, copy->far.buffer->shape[d], &extent);
        bool is_cut = lanes_is_number(&extent) && extent.at[0] > 0 &&
                      (double)extent.at[0] < box;
        n *= is_cut ? (double)extent.at[0] : box;
    }
    return n;
}

// Return on which positions of the block the place of a copy depends.
static unsigned place_on(const struct warp *w, const struct ir_place *place)
{
    unsigned on = 0;
    for (uint32_t i = 0; i < place->n; i++) {
        struct lanes at;
        lanes_of(&w->place, place->index[i], &at);
        on |= at.on;
    }
    return on;
}

// Return the iterations that a copy runs ahead: the slots of its mbarriers.
static double slots_of(const struct ir_copy *copy)
{
    const struct ir_buffer *signal = copy->signal.buffer;
    bool is_ring = signal && signal->rank > 0;
    const struct ir_expr *n = is_ring ? signal->shape[signal->rank - 1] : NULL;
    return n && n->op == OP_const && n->u.i > 1 ? (double)n->u.i : 1;
}

// Add a copy that TMA makes: no thread accesses anything.
static void by_tma(struct warp *w, const struct ir_copy *copy)
{
    double each = (double)type_bytes(copy->far.buffer->elem);
    double lanes = __builtin_popcount(w->active);
    double bytes = elements_inside(w, copy) * each * lanes;
    double blocks = 1;
    for (int d = 0; d < 3 && copy->multicast; d++)
        if (w->place.launch->cluster[d])
            blocks *= w->place.launch->cluster[d];
    warp_move(w, copy->is_load ? MOVE_read : MOVE_write, copy->far.buffer,
              bytes, place_on(w, &copy->far));
    warp_hold(w, MODEL_shared,
              (double)ir_copy_elements(copy) * each * lanes * blocks /
                  SHARED_BYTES);
    warp_hold(w, MODEL_issue, lanes / 4);
    if (!copy->is_load) {
        w->work->serial += bytes / STORE_BYTES * w->warps * w->times;
        warp_serial(w, bytes / STORE_BYTES);
        return;
    }
    double slots = slots_of(copy), least = w->work->slots;
    warp_load(w, copy->far.buffer, bytes);
    w->copied = w->path + warp_latency(w);
    w->only_copies = true;
    w->work->slots = least > 0 && least < slots ? least : slots;
    if (slots > w->copies_ahead)
        w->copies_ahead = slots;
}

// Add a copy that each thread makes for itself.
static void by_threads(struct warp *w, const struct ir_copy *copy)
{
    struct type t = copy->far.buffer->elem;
    double ready = w->ready;
    t.lanes = (uint8_t)ir_copy_elements(copy);
    warp_index(w, copy->far.index[copy->far.n - 1]);
    warp_access(w, MOVE_read, copy->far.buffer,
                copy->far.index[copy->far.n - 1], t);
    w->copied = w->path + warp_latency(w);
    w->ready = ready;
    warp_access(w, MOVE_write, copy->near.buffer,
                copy->near.index[copy->near.n - 1], t);
}

void warp_copy(struct warp *w, const struct ir_copy *copy)
{
    if (transport_is_of_threads(copy->transport))
        by_threads(w, copy);
    else
        by_tma(w, copy);
}
