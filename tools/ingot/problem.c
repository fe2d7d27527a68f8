// Makes the data of a problem: every value depends on the seed, the parameter
// and the element alone.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "tools/ingot/problem.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "tools/ingot/cli.h"
#include "tools/ingot/distinct.h"
#include "tools/ingot/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// ---- Random numbers -------------------------------------------------------

// Return 64 random bits: the splitmix64 generator at place `at` of `stream`.
static uint64_t random_bits(uint64_t stream, uint64_t at)
{
    uint64_t z = stream + (at + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// Return the stream of a parameter.
static uint64_t stream_of(const struct problem *p, size_t parameter)
{
    return random_bits(p->seed, parameter);
}

// Return a number in -1 to 1 made of random bits; one in four is small.
static double random_float(uint64_t bits)
{
    double x = (double)(bits >> 11) * 0x1p-52 - 1.0;
    return bits % 4 ? x : x * 0x1p-6;
}

// Return an integer made of random bits: any, or one near zero.
static int64_t random_int(struct type type, uint64_t bits)
{
    if (type.kind == TYPE_bool)
        return (int64_t)(bits >> 63);
    return ir_wrap_int(type, (int64_t)(bits % 2 ? bits : bits >> 60));
}

// Return a number in `low` to `high`, both included for integers.
static double random_between(double low, double high, uint64_t bits,
                             bool is_integer)
{
    double unit = (double)(bits >> 11) * 0x1p-53;
    return is_integer ? floor(low + unit * (high - low + 1))
                      : low + unit * (high - low);
}

// Write one random element.
static void write_element(const struct problem_array *array, void *element,
                          uint64_t bits)
{
    struct type type = array->buffer->elem;
    bool is_float = type_is_float(type), is_ranged = array->low < array->high;
    double between = random_between(array->low, array->high, bits, !is_float);
    if (is_float)
        eval_store_float(type, element,
                         is_ranged ? between : random_float(bits));
    else
        eval_store_int(type, element,
                       is_ranged ? (int64_t)between : random_int(type, bits));
}

// Write an array of the commonest type.
static void write_f32(float *out, size_t n, uint64_t stream)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (float)random_float(random_bits(stream, i));
}

unsigned char problem_poison(const struct ir_buffer *b)
{
    return type_is_float(b->elem) ? 0xff : 0xcd;
}

void problem_write(const struct problem *p, size_t array, void *bytes)
{
    const struct problem_array *at = &p->arrays.at[array];
    uint64_t stream = stream_of(p, at->parameter);
    size_t size = type_bytes(at->buffer->elem);
    switch (at->fill) {
    case FILL_ZERO: memset(bytes, 0, at->bytes); return;
    case FILL_POISON:
        memset(bytes, problem_poison(at->buffer), at->bytes);
        return;
    case FILL_RANDOM: break;
    }
    bool is_ranged = at->low < at->high;
    struct type type = at->buffer->elem;
    if (p->is_distinct && !is_ranged)
        distinct_write(type, stream, at->bytes / size, bytes);
    else if (type.kind == TYPE_f32 && !is_ranged)
        write_f32(bytes, at->bytes / size, stream);
    else
        for (size_t i = 0; i < at->bytes / size; i++)
            write_element(at, (char *)bytes + i * size, random_bits(stream, i));
}

// ---- Requests -------------------------------------------------------------

// Who reads a request.
struct maker {
    struct arena *arena;
    const struct problem_request *request;
    struct problem *problem;
    struct diag_list *diags;
    const char *wrong; // what of the request cannot be; NULL: nothing
};

// Return the name of a parameter.
static const char *name_of(const struct ir_param *p)
{
    return p->var ? p->var->name : p->buffer->name;
}

// Return the setting of that name, or NULL.  The last one counts.
static const struct problem_setting *find(const struct problem_setting *all,
                                          size_t n, const char *name)
{
    while (n-- > 0)
        if (strcmp(all[n].name, name) == 0)
            return &all[n];
    return NULL;
}

// Refuse a setting of a name that is no parameter of the kind.
static void check_name(struct maker *m, const struct problem_setting *s,
                       bool is_array)
{
    const struct ir_kernel *k = m->problem->kernel;
    struct suggest near = {.wanted = s->name};
    for (size_t i = 0; i < k->params.n; i++) {
        if ((k->params.at[i].buffer != NULL) != is_array)
            continue;
        if (strcmp(name_of(&k->params.at[i]), s->name) == 0)
            return;
        suggest_offer(&near, name_of(&k->params.at[i]));
    }
    m->wrong = arena_printf(m->arena, "kernel `%s` has no %s `%s`%s", k->name,
                            is_array ? "array" : "size or scalar", s->name,
                            cli_hint(m->arena, &near));
}

// Refuse settings of what the kernel does not have.
static void check_names(struct maker *m)
{
    for (size_t i = 0; i < m->request->values.n; i++)
        check_name(m, &m->request->values.at[i], false);
    for (size_t i = 0; i < m->request->ranges.n; i++)
        check_name(m, &m->request->ranges.at[i], true);
}

// Set a scalar from text.
static void parse_scalar(struct maker *m, const struct ir_var *var,
                         const char *text, struct eval_argument *out)
{
    char *end = NULL;
    if (type_is_float(var->type)) {
        out->scalar.f = ir_round_float(var->type, strtod(text, &end));
    } else {
        out->scalar.i = strtoll(text, &end, 0);
        if (ir_wrap_int(var->type, out->scalar.i) != out->scalar.i)
            end = NULL;
    }
    if (!end || end == text || *end)
        m->wrong = arena_printf(m->arena,
                                "`%s` is no value of `%s`, which has "
                                "type %s",
                                text, var->name, type_name(var->type));
}

// Set a scalar that nobody set.
static void random_scalar(struct maker *m, size_t i, struct eval_argument *out)
{
    const struct ir_var *var = m->problem->kernel->params.at[i].var;
    uint64_t bits = stream_of(m->problem, i);
    if (type_is_index(var->type))
        m->wrong = arena_printf(m->arena,
                                "the size `%s` is missing: --size "
                                "%s=...",
                                var->name, var->name);
    else if (type_is_float(var->type))
        out->scalar.f = m->problem->is_distinct
                            ? distinct_float(var->type, bits)
                            : ir_round_float(var->type, random_float(bits | 1));
    else if (m->problem->is_distinct)
        out->scalar.i = distinct_int(var->type, bits);
    else
        out->scalar.i = random_int(var->type, bits);
}

// Set all scalars.
static void set_scalars(struct maker *m)
{
    const struct ir_kernel *k = m->problem->kernel;
    for (size_t i = 0; i < k->params.n && !m->wrong; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (!var)
            continue;
        const struct problem_setting *s =
            find(m->request->values.at, m->request->values.n, var->name);
        if (s)
            parse_scalar(m, var, s->text, &m->problem->values[i]);
        else
            random_scalar(m, i, &m->problem->values[i]);
    }
}

// Report a condition that does not hold.
static bool check_where(struct maker *m)
{
    const struct ir_kernel *k = m->problem->kernel;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        int64_t value = m->problem->values[i].scalar.i;
        if (var && type_is_index(var->type) && value < 0) {
            diag_error(m->diags, var->span, D_size_negative, var->name,
                       (long long)value);
            return false;
        }
    }
    for (size_t i = 0; i < k->where.n; i++) {
        const struct ir_expr *x = k->where.at[i];
        int64_t holds;
        if (ir_eval_int(k, m->problem->values, x, &holds) && holds)
            continue;
        struct buf text = {0};
        ir_print_expr(&text, x);
        diag_error(m->diags, x->span, D_where_false, text.data);
        buf_free(&text);
        return false;
    }
    return true;
}

// ---- Arrays ---------------------------------------------------------------

// Set how many elements an array spans; false if they are more than 63 bits
// count.
static bool spanned(struct maker *m, const struct ir_buffer *b, int64_t *out)
{
    const struct problem *p = m->problem;
    int64_t last = 0, count = 1;
    bool is_empty = false;
    for (uint32_t i = 0; i < b->rank; i++) {
        int64_t extent, stride = 1, far = 0;
        if (!ir_eval_int(p->kernel, p->values, b->shape[i], &extent) ||
            (b->strides &&
             !ir_eval_int(p->kernel, p->values, b->strides[i], &stride)))
            return false;
        is_empty |= extent == 0;
        if (extent &&
            (!num_mul(extent - 1, stride, &far) || !num_add(last, far, &last)))
            return false;
        if (!b->strides && !num_mul(count, extent, &count) && !is_empty)
            return false;
    }
    *out = is_empty ? 0 : b->strides ? last + 1 : count;
    return true;
}

// What is sought in a kernel: an atomic on an array.
struct atomic_search {
    const struct ir_buffer *buffer;
    bool found;
};

// Note an atomic on the array.
static void see_atomic(struct ir_expr *x, void *context)
{
    struct atomic_search *s = context;
    if ((ir_op_info(x->op)->flags & OP_WRITES) && x->u.buffer == s->buffer)
        s->found = true;
}

// Return what an array holds before the kernel runs.
static enum problem_fill fill_of(const struct ir_kernel *k,
                                 const struct ir_buffer *b)
{
    struct atomic_search s = {b, false};
    if (b->role != ROLE_output)
        return FILL_RANDOM;
    ir_each_expr_in((struct ir_block *)&k->body, see_atomic, &s);
    bool is_stored = ir_block_stores((struct ir_block *)&k->body, b);
    return s.found && !is_stored ? FILL_ZERO : FILL_POISON;
}

// Set the range of an array from "LO:HI".
static void parse_range(struct maker *m, const char *text,
                        struct problem_array *array)
{
    char *end;
    array->low = strtod(text, &end);
    bool ok = end != text && *end == ':';
    if (ok) {
        const char *high = end + 1;
        array->high = strtod(high, &end);
        ok = end != high && !*end && array->low < array->high;
    }
    if (!ok)
        m->wrong = arena_printf(m->arena,
                                "--range needs ARRAY=LOW:HIGH, not "
                                "`%s=%s`",
                                array->buffer->name, text);
}

// Add the array parameter `i`; false after reporting that it is too large.
static bool add_array(struct maker *m, size_t i)
{
    struct problem *p = m->problem;
    const struct ir_buffer *b = p->kernel->params.at[i].buffer;
    struct problem_array array = {.buffer = b, .parameter = i};
    int64_t elements, bytes;
    if (!spanned(m, b, &elements) ||
        !num_mul(elements, (int64_t)type_bytes(b->elem), &bytes)) {
        diag_error(m->diags, b->span, D_array_too_large, b->name);
        return false;
    }
    const struct problem_setting *range =
        find(m->request->ranges.at, m->request->ranges.n, b->name);
    if (range)
        parse_range(m, range->text, &array);
    array.bytes = (size_t)bytes;
    array.fill = fill_of(p->kernel, b);
    p->values[i].size = array.bytes;
    vec_push(m->arena, &p->arrays, array);
    return true;
}

enum problem_result problem_make(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 const struct problem_request *request,
                                 struct diag_list *diags, struct problem *out,
                                 const char **wrong)
{
    *out = (struct problem){.kernel = kernel,
                            .seed = request->seed,
                            .is_distinct = request->is_distinct};
    out->values = arena_array(a, struct eval_argument, kernel->params.n);
    struct maker m = {a, request, out, diags, NULL};
    bool ok = true;
    check_names(&m);
    if (!m.wrong)
        set_scalars(&m);
    if (!m.wrong)
        ok = check_where(&m);
    for (size_t i = 0; i < kernel->params.n && ok && !m.wrong; i++)
        if (kernel->params.at[i].buffer)
            ok = add_array(&m, i);
    *wrong = m.wrong;
    return m.wrong ? PROBLEM_USAGE : ok ? PROBLEM_READY : PROBLEM_REFUSED;
}

// ---- Arguments ------------------------------------------------------------

void *problem_alloc(const struct problem_array *array, struct diag_list *diags)
{
    void *data =
        mmap(NULL, array->bytes ? array->bytes : 1, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (data != MAP_FAILED)
        return data;
    const char *name = arena_printf(diags->arena, "`%s`", array->buffer->name);
    diag_error(diags, (struct span){0}, D_no_memory, name,
               (long long)array->bytes, "host", (long long)memory_host());
    return NULL;
}

void problem_free(const struct problem_array *array, void *data)
{
    if (data)
        munmap(data, array->bytes ? array->bytes : 1);
}

struct eval_argument *problem_arguments(struct arena *a,
                                        const struct problem *p,
                                        struct diag_list *diags)
{
    size_t n = p->kernel->params.n;
    struct eval_argument *all = arena_array(a, struct eval_argument, n);
    memcpy(all, p->values, n * sizeof *all);
    for (size_t i = 0; i < p->arrays.n; i++) {
        void *data = problem_alloc(&p->arrays.at[i], diags);
        if (!data) {
            problem_free_arguments(p, all);
            return NULL;
        }
        all[p->arrays.at[i].parameter].data = data;
        problem_write(p, i, data);
    }
    return all;
}

void problem_free_arguments(const struct problem *p,
                            struct eval_argument *arguments)
{
    for (size_t i = 0; i < p->arrays.n && arguments; i++)
        problem_free(&p->arrays.at[i],
                     arguments[p->arrays.at[i].parameter].data);
}
