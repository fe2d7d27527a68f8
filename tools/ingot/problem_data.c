// Makes the elements of arrays: every value depends on the seed, the parameter
// and the element alone; in an array of a few elements, such as a counter, on
// the sizes, too, so that a check meets several of them.

#include "tools/ingot/problem_data.h"

#include "ir/arith.h"
#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/text.h"
#include "tools/ingot/distinct.h"
#include "tools/libingot/jobs.h"

#include <math.h>
#include <string.h>

enum { RARE_EACH = 8, FEW = 8, STEEPEST = 4 };

// Return 64 random bits: the splitmix64 generator at place `at` of `stream`.
static uint64_t random_bits(uint64_t stream, uint64_t at)
{
    return num_mix(stream + (at + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t problem_stream(const struct problem *p, size_t parameter)
{
    return random_bits(p->seed, parameter);
}

double problem_random_float(uint64_t bits)
{
    double x = (double)(bits >> 11) * 0x1p-52 - 1.0;
    return bits % 4 ? x : x * 0x1p-6;
}

int64_t problem_random_int(struct type type, uint64_t bits)
{
    if (type.kind == TYPE_bool)
        return (int64_t)(bits >> 63);
    return ir_wrap_int(type, (int64_t)(bits % 2 ? bits : bits >> 60));
}

// Return the number at a place, 0 to 1, of `low` to `high`, both included for
// integers.
static double number_between(const struct problem_array *array, double place)
{
    double low = array->low, high = array->high;
    return type_is_float(array->buffer->elem)
               ? low + place * (high - low)
               : floor(low + place * (high - low + 1));
}

// Return the place of element `i` of `n` in its range: anywhere, or, if they
// ascend, in its own part.  The parts are alike or longer and longer, as the
// stream says: neighbours are then equal at first, and far apart at last.
static double place_in_range(const struct problem_array *array, uint64_t stream,
                             size_t i, size_t n)
{
    double place = (double)(random_bits(stream, i) >> 11) * 0x1p-53;
    if (!array->ascends)
        return place;
    place = ((double)i + place) / (double)n;
    for (uint64_t k = 0; k < stream % STEEPEST; k++)
        place *= place;
    return place;
}

// Write random element `i` of `n`.
static void write_element(const struct problem_array *array, void *element,
                          uint64_t stream, size_t i, size_t n)
{
    struct type type = array->buffer->elem;
    uint64_t bits = random_bits(stream, i);
    bool is_float = type_is_float(type), is_ranged = array->is_ranged;
    double between = number_between(array, place_in_range(array, stream, i, n));
    if (is_float)
        eval_store_float(type, element,
                         is_ranged ? between : problem_random_float(bits));
    else
        eval_store_int(type, element,
                       is_ranged ? (int64_t)between
                                 : problem_random_int(type, bits));
}

// Write elements from `i` up to `end` of an array of the commonest type.
static void write_f32(float *out, size_t i, size_t end, uint64_t stream)
{
    for (; i < end; i++)
        out[i] = (float)problem_random_float(random_bits(stream, i));
}

unsigned char problem_poison(const struct ir_buffer *b)
{
    return type_is_float(b->elem) ? 0xff : 0xcd;
}

// Bytes of a large array that are written, where the others stay 0 and cost
// nothing.
#define WRITTEN_MOST ((size_t)1 << 26)

// Put rare values in the place of one element in RARE_EACH.
static void write_rare(const struct problem_array *at, uint64_t stream,
                       char *bytes, size_t written)
{
    struct type type = at->buffer->elem;
    size_t size = type_bytes(type);
    for (size_t i = 0; at->rare.n && i < written / size; i++) {
        uint64_t bits = random_bits(~stream, i);
        union number x = at->rare.at[bits / RARE_EACH % at->rare.n];
        if (bits % RARE_EACH)
            continue;
        if (type_is_float(type))
            eval_store_float(type, bytes + i * size, x.f);
        else
            eval_store_int(type, bytes + i * size, x.i);
    }
}

size_t problem_written(const struct problem *p,
                       const struct problem_array *array)
{
    bool is_part =
        p->is_sparse && !array->is_ranged && array->bytes > WRITTEN_MOST;
    return is_part ? WRITTEN_MOST : array->bytes;
}

// Return the stream of random bits of an array.
static uint64_t stream_of(const struct problem *p,
                          const struct problem_array *at)
{
    const struct ir_kernel *k = p->kernel;
    uint64_t stream = problem_stream(p, at->parameter);
    bool has_few = at->bytes <= FEW * type_bytes(at->buffer->elem);
    for (size_t i = 0; i < k->params.n && has_few; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_index(var->type))
            stream = random_bits(stream, (uint64_t)p->values[i].scalar.i);
    }
    return stream;
}

// Elements that are written at a time.
enum { CHUNK = 1 << 20 };

// An array that is written in chunks.
struct writing {
    const struct problem_array *at;
    uint64_t stream;
    char *bytes;
    size_t n; // elements
};

// Write random elements from `i` up to `end`.
static void write_random(const struct writing *w, size_t i, size_t end)
{
    struct type type = w->at->buffer->elem;
    if (type.kind == TYPE_f32 && !w->at->is_ranged) {
        write_f32((float *)(void *)w->bytes, i, end, w->stream);
        return;
    }
    for (; i < end; i++)
        write_element(w->at, w->bytes + i * type_bytes(type), w->stream, i,
                      w->n);
}

// Write a chunk of an array.
static void write_chunk(void *context, size_t chunk)
{
    const struct writing *w = context;
    const struct ir_buffer *b = w->at->buffer;
    size_t size = type_bytes(b->elem), from = chunk * CHUNK;
    size_t end = w->n - from < CHUNK ? w->n : from + CHUNK;
    switch (w->at->fill) {
    case FILL_POISON:
        memset(w->bytes + from * size, problem_poison(b), (end - from) * size);
        break;
    case FILL_RANDOM: write_random(w, from, end); break;
    }
}

// Write an array, on all processors if it is large.
static void write_chunks(struct writing *w)
{
    struct jobs jobs;
    jobs_start(&jobs, NULL, 0);
    jobs_run(&jobs, (w->n + CHUNK - 1) / CHUNK, write_chunk, w);
    jobs_end(&jobs);
}

void problem_write(const struct problem *p, size_t array, void *bytes)
{
    const struct problem_array *at = &p->arrays.at[array];
    struct type type = at->buffer->elem;
    size_t written = problem_written(p, at);
    struct writing w = {at, stream_of(p, at), bytes,
                        written / type_bytes(type)};
    bool is_drawn = at->fill == FILL_RANDOM && !at->is_ranged;
    if (is_drawn && elements_are_special(p->elements))
        elements_write(p->elements, type, w.stream, w.n, bytes);
    else if (is_drawn && p->elements == ELEMENTS_distinct)
        distinct_write(type, w.stream, w.n, bytes);
    else
        write_chunks(&w);
    if (at->fill == FILL_RANDOM && !at->ascends)
        write_rare(at, w.stream, bytes, written);
}

// ---- Ranges ---------------------------------------------------------------

// Set the range of an array to what the text says: of integers the least and
// the greatest.  Returns false after reporting that there are no such numbers.
static bool take_range(const struct problem *p, const struct ir_range *r,
                       struct problem_array *array, struct diag_list *diags)
{
    int64_t low, high;
    array->is_ranged = true;
    array->ascends = r->ascends;
    if (type_is_float(array->buffer->elem)) {
        array->low = r->low->u.f;
        array->high = r->high->u.f;
    } else if (ir_eval_int(p->kernel, p->values, r->low, &low) &&
               ir_eval_int(p->kernel, p->values, r->high, &high)) {
        array->low = (double)low;
        array->high = (double)high - 1;
    } else {
        array->high = -INFINITY;
    }
    if (array->low <= array->high || !array->bytes)
        return true;
    diag_error(diags, r->low->span, D_empty_range, array->buffer->name);
    return false;
}

// Return whether the text says a range of an array.
static bool says_range(const struct ir_kernel *k, size_t parameter)
{
    for (size_t i = 0; i < k->terms.ranges.n; i++)
        if (k->terms.ranges.at[i].parameter == parameter)
            return true;
    return false;
}

// Return whether elements are positions of which nothing is said or asked.
static bool are_positions(const struct data_rule *rule)
{
    return rule->indexed && !rule->is_compared;
}

// Let elements be the positions that there are in all arrays that they are
// indices of.  Returns false after reporting that there are none.
static bool take_positions(const struct problem *p, struct problem_array *array,
                           const struct data_rule *rule,
                           struct diag_list *diags)
{
    int64_t least = INT64_MAX, extent;
    for (size_t i = 0; i < rule->extents.n; i++)
        if (ir_eval_int(p->kernel, p->values, rule->extents.at[i], &extent))
            least = extent < least ? extent : least;
    array->is_ranged = true;
    array->low = 0;
    array->high = (double)least - 1;
    if (least > 0 || !array->bytes)
        return true;
    diag_error(diags, array->buffer->span, D_empty_range, array->buffer->name);
    return false;
}

bool problem_range(const struct problem *p, struct problem_array *array,
                   const struct data_rule *rule, struct diag_list *diags)
{
    const struct ir_terms *t = &p->kernel->terms;
    for (size_t i = 0; i < t->ranges.n; i++)
        if (t->ranges.at[i].parameter == array->parameter)
            return take_range(p, &t->ranges.at[i], array, diags);
    return !are_positions(rule) || take_positions(p, array, rule, diags);
}

// Return whether every number of a type is below an extent.
static bool are_all_below(struct type type, const struct ir_expr *extent)
{
    int64_t value;
    return type_bits(type) < 32 && !type_is_signed(type) &&
           ir_int_value(extent, &value) && value >= 1 << type_bits(type);
}

void problem_hint(struct arena *a, const struct ir_kernel *kernel,
                  const struct problem_request *request,
                  struct diag_list *diags)
{
    const struct data_rule *rules = data_rules(a, kernel);
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_buffer *b = kernel->params.at[i].buffer;
        bool is_set = false;
        for (size_t k = 0; b && k < request->ranges.n; k++)
            is_set |= strcmp(request->ranges.at[k].name, b->name) == 0;
        if (!b || is_set || says_range(kernel, i) ||
            !are_positions(&rules[i]) ||
            are_all_below(b->elem, rules[i].extents.at[0]))
            continue;
        struct buf extent = {0};
        ir_print_expr(&extent, rules[i].extents.at[0]);
        diag_remark(diags, b->span, D_no_range_said, b->name,
                    rules[i].indexed->name);
        diag_help(diags, "write `range %s in 0..%s` behind the parameters",
                  b->name, extent.data);
        buf_free(&extent);
    }
}

// ---- Rare values ----------------------------------------------------------

// What most elements are below.
#define USUAL_FLOAT 1.0
enum { USUAL_INT = 1 << 13 };

// Add an integer that an element can be.
static void add_int(struct arena *a, struct problem_array *array, int64_t x)
{
    union number value = {.i = x};
    bool is_outside =
        array->is_ranged && ((double)x < array->low || (double)x > array->high);
    if (ir_wrap_int(array->buffer->elem, x) == x && !is_outside)
        vec_push(a, &array->rare, value);
}

// Add a floating number that an element can be.
static void add_float(struct arena *a, struct problem_array *array, double x)
{
    union number value = {.f = ir_round_float(array->buffer->elem, x)};
    bool is_outside = array->is_ranged && (x < array->low || x >= array->high);
    if (isfinite(value.f) && !is_outside)
        vec_push(a, &array->rare, value);
}

// Add what elements are compared with, if few others are like it.
static void add_one(struct arena *a, const struct problem *p,
                    struct problem_array *array, const struct data_rare *rare)
{
    const struct ir_expr *x = rare->value;
    struct type type = array->buffer->elem;
    int64_t value;
    if (type_is_float(type)) {
        bool is_number = x->op == OP_const && type_is_float(x->type);
        if (is_number && (rare->is_equal || fabs(x->u.f) > USUAL_FLOAT))
            add_float(a, array, x->u.f);
        return;
    }
    if (!ir_eval_int(p->kernel, p->values, x, &value) ||
        (!rare->is_equal && value > -USUAL_INT && value < USUAL_INT))
        return;
    add_int(a, array, value);
    if (!rare->is_equal && value > INT64_MIN && value < INT64_MAX) {
        add_int(a, array, value - 1);
        add_int(a, array, value + 1);
    }
}

void problem_add_rare(struct arena *a, const struct problem *p,
                      struct problem_array *array, const struct data_rule *rule)
{
    for (size_t i = 0;
         i < rule->rare.n && array->buffer->elem.kind != TYPE_bool; i++)
        add_one(a, p, array, &rule->rare.at[i]);
}
