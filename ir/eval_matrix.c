// Runs instructions on matrices.
//
// The threads of a warp or a warpgroup bring their elements, the whole
// instruction is computed, and each takes its part: the layouts of
// ir/matrix.def say which.  Products of up to 16 bits are exact; sums are
// rounded to f32, or f64 of such, k ascending, and at the end to the type of
// the result.
// Asynchronous instructions are done at once.

#include "ir/build.h"
#include "ir/eval_code.h"
#include "ir/matrix.h"

#include <stdlib.h>
#include <string.h>

enum { ROW = 8, ROW_BYTES = 16 };

// An instruction that runs.
struct running {
    const struct group *group; // in the order of their numbers
    const struct action *action;
    const struct ir_stmt *stmt;
    struct machine *machine;
    struct matrix_info info;
    union number *value[MATRIX_OPERANDS]; // row-major
};

// Stop because the group is not what the instruction needs.
static bool check_group(struct running *r)
{
    const struct group *g = r->group;
    if (g->n == r->info.threads)
        return true;
    if (g->n != g->whole)
        eval_stop(r->machine, EVAL_FAULT, r->stmt->span,
                  "`matrix %s` in divergent control flow", r->info.name);
    else
        eval_stop(r->machine, EVAL_FAULT, r->stmt->span,
                  "`matrix %s`: needs %u threads", r->info.name,
                  r->info.threads);
    return false;
}

// Return where a thread's elements of an operand begin, or NULL after a fault:
// `bytes` of them must lie in the array.
static char *elements_of(struct running *r, struct thread *t, int which,
                         size_t bytes)
{
    const struct access *access = &r->action->operands[which];
    const struct array *array = &r->machine->arrays.at[access->array];
    char *first = eval_element(t, access, r->stmt->span);
    if (!first)
        return NULL;
    size_t left =
        array->bytes - (size_t)(first - (char *)t->data[access->array]);
    if (bytes <= left)
        return first;
    eval_stop(r->machine, EVAL_FAULT, r->stmt->span,
              "`matrix %s` reaches beyond the end of `%s`", r->info.name,
              array->buffer->name);
    return NULL;
}

// Read an operand that is in registers, or write it.
static void move_registers(struct running *r, int which,
                           const struct matrix_places *places, bool is_read)
{
    struct type type = r->info.part[which].type;
    size_t bytes = type_bytes(type);
    for (size_t i = 0; i < r->group->n; i++) {
        struct thread *t = r->group->at[i];
        char *own = elements_of(r, t, which, places->elements * bytes);
        for (uint32_t k = 0; own && k < places->elements; k++) {
            union number *x =
                &r->value[which][places->of_thread[i] + places->of_element[k]];
            if (is_read)
                *x = eval_load_number(type, own + k * bytes);
            else
                eval_store_number(type, own + k * bytes, *x);
        }
    }
}

// Return the address of an element of a shared operand at level flat, or NULL
// after a fault; `first` is that of the tile.
static void *described(struct running *r, int which, char *first, uint32_t line,
                       uint32_t k)
{
    const struct ir_tile *tile = &r->stmt->u.matrix.tiles[which];
    uint32_t row = r->action->operands[which].array;
    const struct array *array = &r->machine->arrays.at[row];
    char *data = r->group->at[0]->data[row];
    uint64_t at = matrix_shared_address(
        &tile->descriptor, (uint32_t)type_bytes(r->info.part[which].type),
        (uint64_t)(first - data), line, k);
    if (at < array->bytes)
        return data + at;
    eval_stop(r->machine, EVAL_FAULT, r->stmt->span,
              "the descriptor leads beyond the end of `%s`",
              array->buffer->name);
    return NULL;
}

// Return the address of an element of a shared operand, or NULL after a fault.
static void *shared_element(struct running *r, int which, char *first,
                            uint32_t line, uint32_t k)
{
    const struct access *access = &r->action->operands[which];
    const struct ir_tile *tile = &r->stmt->u.matrix.tiles[which];
    uint32_t lines = which == MATRIX_A ? r->info.m : r->info.n;
    uint32_t by[IR_TILE_RANK];
    if (access->is_flat)
        return described(r, which, first, line, k);
    matrix_tile_index(tile, &(struct matrix_shape){lines, r->info.k}, line, k,
                      by);
    return eval_element_moved(r->group->at[0], access, by, r->stmt->span);
}

// Read an operand that is in shared memory.
static void read_shared(struct running *r, int which)
{
    const struct matrix_part *part = &r->info.part[which];
    char *first = elements_of(r, r->group->at[0], which, 0);
    for (uint32_t i = 0; first && i < part->rows; i++) {
        for (uint32_t j = 0; j < part->columns; j++) {
            uint32_t line = which == MATRIX_A ? i : j;
            uint32_t k = which == MATRIX_A ? j : i;
            void *element = shared_element(r, which, first, line, k);
            if (!element)
                return;
            r->value[which][i * part->columns + j] =
                eval_load_number(part->type, element);
        }
    }
}

// Read an operand.
static void read_operand(struct running *r, int which)
{
    struct matrix_places places;
    if (matrix_places(r->stmt->u.matrix.op, (enum matrix_operand)which,
                      &places))
        move_registers(r, which, &places, true);
    else
        read_shared(r, which);
}

// Cut numbers to the bits that the instruction looks at.
static void cut(union number *x, size_t n, uint32_t unused)
{
    for (size_t i = 0; i < n; i++) {
        float f = (float)x[i].f;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        bits = bits >> unused << unused;
        memcpy(&f, &bits, sizeof f);
        x[i].f = f;
    }
}

// Add the product of a row and a column to an element.
static union number dot(const struct running *r, uint32_t i, uint32_t j,
                        union number d)
{
    struct type result = r->info.part[0].type;
    struct type sum = type_bits(result) == 64 ? result : type_scalar(TYPE_f32);
    const union number *a = r->value[MATRIX_A] + (size_t)i * r->info.k;
    const union number *b = r->value[MATRIX_B] + j;
    if (!type_is_float(result)) {
        for (uint32_t k = 0; k < r->info.k; k++)
            d.i = ir_wrap_int(result, d.i + a[k].i * b[k * r->info.n].i);
        return d;
    }
    for (uint32_t k = 0; k < r->info.k; k++)
        d.f = ir_round_float(sum, d.f + a[k].f * b[k * r->info.n].f);
    d.f = ir_round_float(result, d.f);
    return d;
}

// Multiply: MMA and WGMMA.
static void run_product(struct running *r, bool keeps)
{
    const struct matrix_info *info = &r->info;
    struct matrix_places places;
    matrix_places(r->stmt->u.matrix.op, MATRIX_D, &places);
    for (int i = keeps ? MATRIX_D : MATRIX_A; i < MATRIX_OPERANDS; i++)
        read_operand(r, i);
    uint32_t unused = info->part[MATRIX_A].unused;
    if (unused) {
        cut(r->value[MATRIX_A], (size_t)info->m * info->k, unused);
        cut(r->value[MATRIX_B], (size_t)info->k * info->n, unused);
    }
    if (r->machine->is_stopped)
        return;
    for (uint32_t i = 0; i < info->m; i++) {
        for (uint32_t j = 0; j < info->n; j++) {
            union number *d = &r->value[MATRIX_D][i * info->n + j];
            *d = dot(r, i, j, *d);
        }
    }
    move_registers(r, MATRIX_D, &places, false);
}

// Move rows between shared memory and registers: LOAD and STORE.
static void run_rows(struct running *r)
{
    struct matrix_places places;
    char *row[WARP] = {NULL};
    matrix_places(r->stmt->u.matrix.op, MATRIX_D, &places);
    for (uint32_t i = 0; i < r->info.m; i++)
        row[i] = elements_of(r, r->group->at[i], MATRIX_A, ROW_BYTES);
    for (size_t i = 0; i < WARP; i++) {
        char *own = elements_of(r, r->group->at[i], MATRIX_D,
                                places.elements * sizeof(uint16_t));
        for (uint32_t k = 0; k < places.elements; k++) {
            size_t at = places.of_thread[i] + places.of_element[k];
            if (r->machine->is_stopped)
                return;
            char *there = row[at / ROW] + at % ROW * sizeof(uint16_t);
            char *here = own + k * sizeof(uint16_t);
            bool is_load = r->info.kind == MATRIX_LOAD;
            memcpy(is_load ? here : there, is_load ? there : here,
                   sizeof(uint16_t));
        }
    }
}

// Return whether the result is added to; stops unless all threads say the same.
static bool keeps(struct running *r)
{
    const struct code *keep = r->action->x;
    if (!keep)
        return true;
    bool first = eval_run(r->group->at[0], keep).i;
    for (size_t i = 1; i < r->group->n; i++) {
        if ((eval_run(r->group->at[i], keep).i != 0) != first)
            eval_stop(r->machine, EVAL_FAULT, r->stmt->span,
                      "`matrix %s`: threads differ in `keep`", r->info.name);
    }
    return first;
}

void eval_matrix(const struct group *g, const struct action *s)
{
    struct running r = {.group = g,
                        .action = s,
                        .stmt = s->origin,
                        .machine = g->at[0]->machine,
                        .info = matrix_info(s->origin->u.matrix.op)};
    size_t most = 0;
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        most += (size_t)r.info.part[i].rows * r.info.part[i].columns;
    if (!check_group(&r))
        return;
    union number *all = calloc(most, sizeof *all);
    if (!all) {
        eval_stop(r.machine, EVAL_FAULT, r.stmt->span, "no memory");
        return;
    }
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        r.value[i] = all;
        all += (size_t)r.info.part[i].rows * r.info.part[i].columns;
    }
    if (r.info.kind == MATRIX_MMA || r.info.kind == MATRIX_WGMMA)
        run_product(&r, keeps(&r));
    else
        run_rows(&r);
    free(r.value[0]);
}
