// Arrays and threads: storage, bounds, poison.

#include "ir/base/buf.h"
#include "ir/base/num.h"
#include "ir/eval_code.h"

#include <stdlib.h>
#include <string.h>

union number eval_load_number(struct type type, const void *element)
{
    if (type_is_float(type))
        return (union number){.f = eval_load_float(type, element)};
    return (union number){.i = eval_load_int(type, element)};
}

void eval_store_number(struct type type, void *element, union number value)
{
    if (type_is_float(type))
        eval_store_float(type, element, value.f);
    else
        eval_store_int(type, element, value.i);
}

void eval_change_number(struct machine *m, struct type type, void *element,
                        union number value)
{
    char before[sizeof value];
    size_t bytes = type_bytes(type);
    memcpy(before, element, bytes);
    eval_store_number(type, element, value);
    m->events += memcmp(before, element, bytes) != 0;
}

// Arrays above this are refused at once.
static const size_t most_bytes = (size_t)1 << 38;

// Append "[1, 2]".
static void list_text(struct buf *out, size_t n, const int64_t *at)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s%lld", i ? ", " : "[", (long long)at[i]);
    buf_text(out, n ? "]" : "[]");
}

// Stop because of an index; the indices are run again for the message.
static void stop_outside(struct thread *t, const struct access *access,
                         const uint32_t *by, struct span span)
{
    const struct array *r = &t->machine->arrays.at[access->array];
    struct buf text = {0};
    int64_t *index = arena_array(t->machine->arena, int64_t, access->n);
    for (uint32_t i = 0; i < access->n; i++)
        index[i] = eval_run(t, access->index[i]).i + (by ? by[i] : 0);
    buf_printf(&text, "`%s", r->buffer->name);
    list_text(&text, access->n, index);
    buf_text(&text, "` is outside the array, whose ");
    if (access->is_flat)
        buf_printf(&text, "storage has %lld elements", (long long)r->elements);
    else {
        buf_text(&text, "shape is ");
        list_text(&text, r->buffer->rank, r->extent);
    }
    eval_stop(t->machine, EVAL_FAULT, span, "%s", text.data);
    buf_free(&text);
}

// Return how many values index number `i` of an access may have.
static int64_t extent_of(const struct access *access, const struct array *r,
                         uint32_t i)
{
    if (!access->is_flat)
        return r->extent[i];
    if (!r->buffer->of_cluster)
        return r->elements;
    return i ? r->stride[0] : r->extent[0];
}

// Return how many elements a step of index number `i` of an access skips.
static int64_t stride_of(const struct access *access, const struct array *r,
                         uint32_t i)
{
    return access->is_flat && i + 1 == access->n ? 1 : r->stride[i];
}

void *eval_element(struct thread *t, const struct access *access,
                   struct span span)
{
    return eval_element_moved(t, access, NULL, span);
}

void *eval_element_moved(struct thread *t, const struct access *access,
                         const uint32_t *by, struct span span)
{
    const struct array *r = &t->machine->arrays.at[access->array];
    char *data = t->data[access->array];
    uint64_t offset = 0;
    bool inside = data != NULL;
    for (uint32_t i = 0; i < access->n; i++) {
        uint64_t index =
            (uint64_t)eval_run(t, access->index[i]).i + (by ? by[i] : 0);
        inside &= index < (uint64_t)extent_of(access, r, i);
        offset += index * (uint64_t)stride_of(access, r, i);
    }
    if (t->machine->is_stopped)
        return NULL;
    if (inside)
        return data + offset * r->element_bytes;
    if (data)
        stop_outside(t, access, by, span);
    else
        eval_stop(t->machine, EVAL_FAULT, span, "`%s` is used before its alloc",
                  r->buffer->name);
    return NULL;
}

// Compute the strides of a row-major array from its extents.
static bool row_major(struct array *r)
{
    int64_t elements = 1;
    for (uint32_t i = r->buffer->rank; i-- > 0;) {
        r->stride[i] = elements;
        if (!num_mul(elements, r->extent[i], &elements))
            return false;
    }
    r->elements = elements;
    return true;
}

// Compute the size of the storage of an array with strides.
static bool strided(struct thread *t, struct array *r)
{
    int64_t last = 0, reach;
    bool is_empty = false;
    for (uint32_t i = 0; i < r->buffer->rank; i++) {
        r->stride[i] = eval_run(t, r->strides[i]).i;
        is_empty |= r->extent[i] == 0;
        if (!num_mul(r->extent[i] - 1, r->stride[i], &reach) ||
            !num_add(last, reach, &last) || r->stride[i] < 0)
            return false;
    }
    r->elements = is_empty ? 0 : last + 1;
    return true;
}

bool eval_set_up_array(struct thread *t, struct array *r)
{
    int64_t bytes = 0;
    bool ok = true;
    for (uint32_t i = 0; i < r->buffer->rank; i++) {
        r->extent[i] = eval_run(t, r->shape[i]).i;
        ok &= r->extent[i] >= 0;
    }
    ok = ok && (r->strides ? strided(t, r) : row_major(r)) &&
         num_mul(r->elements, (int64_t)type_bytes(r->buffer->elem), &bytes);
    if (!ok)
        eval_stop(t->machine, EVAL_FAULT, r->buffer->span,
                  "the shape of `%s` is negative or too large",
                  r->buffer->name);
    r->bytes = (size_t)bytes;
    return ok && !t->machine->is_stopped;
}

// Fill fresh storage: with NaN of every floating type, and an integer that is
// easy to recognise, or with other numbers.
static void poison(const struct machine *m, const struct array *r, void *data)
{
    bool is_float = type_is_float(r->buffer->elem);
    int fill = m->watch && m->watch->is_other ? EVAL_POISON_OTHER
               : is_float                     ? EVAL_POISON_FLOAT
                                              : EVAL_POISON_INT;
    memset(data, fill, r->bytes);
}

// Return fresh storage for an array, or NULL after a stop.
static void *storage_new(struct machine *m, const struct array *r)
{
    bool is_sane = r->bytes <= most_bytes;
    void *data = is_sane ? malloc(r->bytes ? r->bytes : 1) : NULL;
    if (!data)
        eval_stop(m, EVAL_FAULT, r->buffer->span,
                  "no memory for the %lld bytes of `%s`", (long long)r->bytes,
                  r->buffer->name);
    return data;
}

// Give the thread its own instance of an array, unless it has one.
static void *own_storage(struct thread *t, uint32_t row)
{
    if (!t->is_owned[row]) {
        t->data[row] = storage_new(t->machine, &t->machine->arrays.at[row]);
        t->is_owned[row] = t->data[row] != NULL;
    }
    return t->data[row];
}

// Return where the instance of an array that all threads of a block, of its
// cluster, or of the grid, share is to be found.
static void **common_place(struct thread *t, uint32_t row)
{
    struct array *r = &t->machine->arrays.at[row];
    bool is_of_block = t->shared && r->buffer->space == SPACE_shared;
    if (t->cluster && r->buffer->of_cluster)
        return &t->cluster->shared[row];
    return is_of_block ? &t->shared[row] : &r->data;
}

// Give the thread the instance of an array that it shares with others.
static void *common_storage(struct thread *t, uint32_t row)
{
    void **place = common_place(t, row);
    if (!*place)
        *place = storage_new(t->machine, &t->machine->arrays.at[row]);
    return t->data[row] = *place;
}

// Give an array in constant memory its elements.
static void set_values(const struct array *r, char *data)
{
    struct type t = r->buffer->elem;
    for (uint32_t i = 0; i < r->buffer->n_values; i++) {
        const struct ir_expr *x = r->buffer->values[i];
        union number value = {.i = x->u.i};
        if (type_is_float(t))
            value.f = x->u.f;
        eval_store_number(t, data + i * r->element_bytes, value);
    }
}

void eval_allocate(struct thread *t, uint32_t row)
{
    struct array *r = &t->machine->arrays.at[row];
    bool is_local = r->buffer->space == SPACE_local;
    bool exists = is_local ? t->is_owned[row] : *common_place(t, row) != NULL;
    uint64_t epoch = t->machine->epoch;
    if (!exists && !eval_set_up_array(t, r))
        return;
    void *data = is_local ? own_storage(t, row) : common_storage(t, row);
    bool is_new = t->shared ? !exists : r->epoch != epoch;
    if (data && r->buffer->space == SPACE_constant)
        set_values(r, data);
    else if (data && (is_local || is_new))
        poison(t->machine, r, data);
    r->epoch = epoch;
}

struct thread eval_thread_new(struct machine *m, const struct thread *parent)
{
    size_t n = m->arrays.n;
    struct thread t = {.machine = m};
    if (parent)
        t = *parent;
    t.frame = calloc(m->n_slots + 1, sizeof *t.frame);
    t.data = calloc(n + 1, sizeof *t.data);
    t.is_owned = calloc(n + 1, sizeof *t.is_owned);
    if (!t.frame || !t.data || !t.is_owned) {
        eval_stop(m, EVAL_FAULT, m->kernel->span, "no memory for threads");
        return t;
    }
    if (!parent)
        return t;
    memcpy(t.frame, parent->frame, m->n_slots * sizeof *t.frame);
    memcpy(t.data, parent->data, n * sizeof *t.data);
    for (uint32_t i = 0; i < n; i++) {
        if (parent->is_owned[i] && own_storage(&t, i))
            memcpy(t.data[i], parent->data[i], m->arrays.at[i].bytes);
    }
    return t;
}

void eval_thread_return(const struct thread *t, struct thread *parent)
{
    for (uint32_t i = 0; i < t->machine->arrays.n; i++) {
        if (parent->is_owned[i] && t->is_owned[i])
            memcpy(parent->data[i], t->data[i], t->machine->arrays.at[i].bytes);
    }
}

void eval_thread_free(struct thread *t)
{
    for (size_t i = 0; t->is_owned && i < t->machine->arrays.n; i++)
        if (t->is_owned[i])
            free(t->data[i]);
    free(t->frame);
    free(t->data);
    free(t->is_owned);
}
