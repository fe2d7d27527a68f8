// Gives every parameter of a kernel its value, and arrays their memory.

#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include "tools/ingot/problem.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "tools/ingot/cli.h"
#include "tools/ingot/distinct.h"
#include "tools/ingot/memory.h"
#include "tools/ingot/problem_data.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// ---- Requests -------------------------------------------------------------

// Who reads a request.
struct maker {
    struct arena *arena;
    const struct problem_request *request;
    struct problem *problem;
    struct diag_list *diags;
    const struct data_rule *rules; // of each parameter
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

// Return "; it has `n` and `m`" of the parameters of a kind, or nothing.
static const char *names_text(struct maker *m, bool is_array)
{
    const struct ir_kernel *k = m->problem->kernel;
    const char *text = "";
    for (size_t i = 0; i < k->params.n; i++) {
        if ((k->params.at[i].buffer != NULL) == is_array)
            text = arena_printf(m->arena, "%s%s `%s`", text,
                                *text ? "," : "; it has",
                                name_of(&k->params.at[i]));
    }
    return text;
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
                            suggest_any(&near) ? cli_hint(m->arena, &near)
                                               : names_text(m, is_array));
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
    uint64_t bits = problem_stream(m->problem, i);
    if (type_is_index(var->type))
        m->wrong = arena_printf(m->arena,
                                "the size `%s` is missing: --size "
                                "%s=...",
                                var->name, var->name);
    else if (type_is_float(var->type))
        out->scalar.f =
            m->problem->elements != ELEMENTS_random
                ? distinct_float(var->type, bits)
                : ir_round_float(var->type, problem_random_float(bits | 1));
    else if (m->problem->elements != ELEMENTS_random)
        out->scalar.i = distinct_int(var->type, bits);
    else
        out->scalar.i = problem_random_int(var->type, bits);
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

// Return the first condition of a kernel that does not hold, or NULL.
static const struct ir_expr *broken(const struct ir_kernel *k,
                                    const struct eval_argument *values)
{
    for (size_t i = 0; i < k->where.n; i++) {
        int64_t holds;
        if (!ir_eval_int(k, values, k->where.at[i], &holds) || !holds)
            return k->where.at[i];
    }
    return NULL;
}

// Return the first condition of a kernel, or of the one that defines it, that
// does not hold, or NULL.
static const struct ir_expr *broken_any(const struct problem *p)
{
    const struct ir_kernel *k = p->kernel;
    const struct ir_expr *x = broken(k, p->values);
    return x || !k->definition ? x : broken(k->definition, p->values);
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
    const struct ir_expr *x = broken_any(m->problem);
    if (!x)
        return true;
    struct buf text = {0};
    ir_print_expr(&text, x);
    diag_error(m->diags, x->span, D_where_false, text.data);
    buf_free(&text);
    return false;
}

// ---- Arrays ---------------------------------------------------------------

// Report an extent below 0.  Returns whether there is none.
static bool check_extents(const struct maker *m, const struct ir_buffer *b)
{
    const struct problem *p = m->problem;
    for (uint32_t i = 0; i < b->rank; i++) {
        int64_t extent;
        if (!ir_eval_int(p->kernel, p->values, b->shape[i], &extent) ||
            extent >= 0)
            continue;
        diag_error(m->diags, b->span, D_negative_extent, (long long)extent);
        return false;
    }
    return true;
}

// Set how many elements an array spans; false if they are more than 63 bits
// count.
static bool spanned(const struct maker *m, const struct ir_buffer *b,
                    int64_t *out)
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
    array->is_ranged = ok;
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
    if (!check_extents(m, b))
        return false;
    if (!spanned(m, b, &elements) ||
        !num_mul(elements, (int64_t)type_bytes(b->elem), &bytes)) {
        diag_error(m->diags, b->span, D_array_too_large, b->name);
        return false;
    }
    const struct problem_setting *range =
        find(m->request->ranges.at, m->request->ranges.n, b->name);
    array.bytes = (size_t)bytes;
    array.fill = b->role == ROLE_output ? FILL_POISON : FILL_RANDOM;
    if (range)
        parse_range(m, range->text, &array);
    else if (!problem_range(p, &array, &m->rules[i], m->diags))
        return false;
    if (p->elements == ELEMENTS_distinct && array.fill == FILL_RANDOM)
        problem_add_rare(m->arena, p, &array, &m->rules[i]);
    p->values[i].size = array.bytes;
    vec_push(m->arena, &p->arrays, array);
    return true;
}

bool problem_is_possible(const struct problem *p)
{
    struct arena arena = {0};
    struct diag_list ignored = {.arena = &arena};
    struct problem copy = *p;
    struct maker m = {.arena = &arena, .problem = &copy, .diags = &ignored};
    const struct data_rule *rules = data_rules(&arena, p->kernel);
    bool ok = !broken_any(p);
    for (size_t i = 0; i < p->kernel->params.n && ok; i++) {
        struct problem_array array = {.buffer = p->kernel->params.at[i].buffer,
                                      .parameter = i};
        int64_t elements;
        ok = !array.buffer || check_extents(&m, array.buffer);
        if (!ok || !array.buffer || array.buffer->role == ROLE_output)
            continue;
        ok = spanned(&m, array.buffer, &elements);
        array.bytes = ok ? (size_t)elements : 0;
        ok = ok && problem_range(p, &array, &rules[i], &ignored);
    }
    arena_reset(&arena);
    return ok;
}

enum problem_result problem_make(struct arena *a,
                                 const struct ir_kernel *kernel,
                                 const struct problem_request *request,
                                 struct diag_list *diags, struct problem *out,
                                 const char **wrong)
{
    *out = (struct problem){
        .kernel = kernel, .seed = request->seed, .elements = request->elements};
    out->values = arena_array(a, struct eval_argument, kernel->params.n);
    struct maker m = {.arena = a,
                      .request = request,
                      .problem = out,
                      .diags = diags,
                      .rules = data_rules(a, kernel)};
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

// ---- Sizes to try ---------------------------------------------------------

// Return whether a parameter is set from try `first` up to `end`.
static bool is_tried(const struct ir_terms *t, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (t->tries.at[i].parameter == t->tries.at[end].parameter)
            return true;
    return false;
}

void problem_tries(struct arena *a, const struct ir_kernel *kernel,
                   const struct problem_request *base,
                   struct problem_requests *out)
{
    const struct ir_terms *t = &kernel->terms;
    struct problem_request request = *base;
    memset(&request.values, 0, sizeof request.values);
    vec_append(a, &request.values, &base->values);
    for (size_t i = 0, first = 0; i < t->tries.n; i++) {
        const struct ir_try *one = &t->tries.at[i];
        struct problem_setting s = {
            kernel->params.at[one->parameter].var->name,
            arena_printf(a, "%lld", (long long)one->value)};
        vec_push(a, &request.values, s);
        if (i + 1 < t->tries.n && !is_tried(t, first, i + 1))
            continue;
        struct problem_request set = request;
        memset(&set.values, 0, sizeof set.values);
        vec_append(a, &set.values, &request.values);
        vec_push(a, out, set);
        first = i + 1;
    }
}

// ---- Arguments ------------------------------------------------------------

void *problem_alloc(const struct problem_array *array, struct diag_list *diags)
{
    void *data =
        mmap(NULL, array->bytes ? array->bytes : 1, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
