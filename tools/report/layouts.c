// Pictures of layouts: which thread of a warp or a warpgroup holds which element of the
// operands of an instruction on matrices, and where swizzles put columns.

#include "tools/report/report.h"

#include "ir/foreach.h"
#include "ir/matrix.h"

enum { GROUP_BYTES = 16, ROWS_MOST = 64, COLUMNS_MOST = 256, SWIZZLE_ROWS = 8 };

// ---- Matrix instructions --------------------------------------------------

// Return the picture of an operand in registers.
static json_t *operand(struct report *r, struct ir_matrix op,
                       enum matrix_operand which, const struct matrix_places *p)
{
    static const char *const names[] = {"D", "A", "B"};
    struct matrix_info info = matrix_info(op);
    const struct matrix_part *part = &info.part[which];
    struct buf name = {0};
    size_t n = (size_t)part->rows * part->columns;
    int32_t *cells = arena_array(&r->c->arena, int32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        cells[i] = -1;
    for (uint32_t t = 0; t < p->threads; t++)
        for (uint32_t e = 0; e < p->elements; e++)
            if (p->of_thread[t] + p->of_element[e] < n)
                cells[p->of_thread[t] + p->of_element[e]] = (int32_t)t;
    matrix_name(&name, op);
    json_t *object =
        json_pack("{s:s, s:o, s:s, s:o}", "kind", "fragment", "instruction",
                  json_text(name.data), "name", names[which], "type",
                  json_text(part->precision));
    report_cells(object, cells, part->rows, part->columns);
    buf_free(&name);
    return object;
}

// Append the pictures of an instruction's operands in registers.
static void add_operands(struct report *r, struct ir_matrix op, json_t *list)
{
    const struct matrix_info info = matrix_info(op);
    for (int i = 0; i < MATRIX_OPERANDS; i++) {
        struct matrix_places places;
        enum matrix_operand which = (enum matrix_operand)i;
        const struct matrix_part *part = &info.part[i];
        if (part->rows <= ROWS_MOST && part->columns <= COLUMNS_MOST &&
            matrix_places(op, which, &places))
            json_array_append_new(list, operand(r, op, which, &places));
    }
}

// Append those of each instruction of a kernel that computes, once.
static void add_matrices(struct report *r, json_t *list)
{
    struct VEC(struct ir_matrix) seen = {0};
    ir_foreach_stmt(s, &r->taken->variant->kernel->body) {
        bool is_new = s->kind == STMT_matrix;
        if (!is_new)
            continue;
        struct ir_matrix op = s->u.matrix.op;
        enum matrix_kind kind = matrix_info(op).kind;
        vec_foreach(old, &seen)
            is_new &= old->row != op.row || old->n != op.n;
        if (!is_new || (kind != MATRIX_MMA && kind != MATRIX_WGMMA))
            continue;
        vec_push(&r->c->arena, &seen, op);
        add_operands(r, op, list);
    }
}

// ---- Swizzles -------------------------------------------------------------

// A swizzle in groups of elements, and what it is of.
struct pattern {
    const char *name, *of;
    uint32_t columns; // groups of a row
    uint32_t group;   // elements of one
    uint32_t bits, shift;
};

// Return the picture of a swizzle: which group of columns lies at each place.
static json_t *pattern_json(const struct pattern *p)
{
    int32_t cells[SWIZZLE_ROWS * COLUMNS_MOST];
    uint32_t columns = p->columns < COLUMNS_MOST ? p->columns : COLUMNS_MOST;
    for (uint32_t row = 0; row < SWIZZLE_ROWS; row++)
        for (uint32_t at = 0; at < columns; at++)
            cells[row * columns + at] =
                (int32_t)(at ^ ((row >> p->shift) & ((1u << p->bits) - 1)));
    json_t *object = json_pack("{s:s, s:o, s:o, s:I}", "kind", "swizzle",
                               "name", json_text(p->name), "of",
                               json_text(p->of), "group", (json_int_t)p->group);
    report_cells(object, cells, SWIZZLE_ROWS, columns);
    return object;
}

// Append those of arrays in shared memory.
static void add_swizzles(struct report *r, json_t *list)
{
    ir_foreach_stmt(s, &r->taken->variant->scheduled->body) {
        const struct ir_buffer *b = s->kind == STMT_alloc ? s->u.buffer : NULL;
        int64_t width = 0;
        if (!b || !b->swizzle.bits || !b->rank ||
            !report_value(r, b->shape[b->rank - 1], &width))
            continue;
        struct pattern p = {.name = b->name,
                            .of = "array in shared memory",
                            .columns = 1u << b->swizzle.bits,
                            .group = 1u << b->swizzle.base,
                            .bits = b->swizzle.bits,
                            .shift = b->swizzle.shift};
        if (width >> b->swizzle.base >= p.columns)
            json_array_append_new(list, pattern_json(&p));
    }
}

// Append those of tensor maps: 16-byte groups of rows of 128, 64 or 32 bytes.
static void add_maps(struct report *r, json_t *list)
{
    vec_foreach_value(map, &r->taken->variant->kernel->maps) {
        uint32_t bits = map->swizzle == 128  ? 3
                        : map->swizzle == 64 ? 2
                        : map->swizzle == 32 ? 1
                                             : 0;
        size_t bytes = type_bytes(map->buffer->elem);
        struct pattern p = {
            .name = map->buffer->name,
            .of = "tiles that TMA copies",
            .columns = map->swizzle / GROUP_BYTES,
            .group = bytes < GROUP_BYTES ? GROUP_BYTES / (uint32_t)bytes : 1,
            .bits = bits,
            .shift = 3 - bits};
        if (bits)
            json_array_append_new(list, pattern_json(&p));
    }
}

void report_layouts(struct report *r, json_t *list)
{
    add_matrices(r, list);
    size_t n = json_array_size(list);
    add_swizzles(r, list);
    if (json_array_size(list) == n)
        add_maps(r, list);
}
