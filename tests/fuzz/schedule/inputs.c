// Arguments for kernels.

#define _DEFAULT_SOURCE

#include "tests/fuzz/schedule/inputs.h"

#include "ir/base/num.h"
#include "ir/base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RANK_MOST = 8 };
static const int64_t elements_most = 1 << 20, bytes_most = INT64_C(1) << 42;

// The elements of an array.
struct layout {
    uint32_t rank;
    int64_t extent[RANK_MOST], stride[RANK_MOST];
    int64_t elements, bytes; // bytes: up to the last one
};

// Return the number behind `name=` on a line; false if there is none.
static bool find_size(const char *line, const char *name, int64_t *value)
{
    size_t n = strlen(name);
    for (const char *at = line; at && *at; at = strchr(at, ' ')) {
        at += strspn(at, " ");
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            *value = strtoll(at + n + 1, NULL, 10);
            return true;
        }
        if (!*at)
            break;
    }
    return false;
}

void fuzz_inputs_sizes(const struct ir_kernel *kernel, const char *line,
                       struct fuzz_inputs *out)
{
    *out = (struct fuzz_inputs){.kernel = kernel};
    for (size_t i = 0; i < kernel->params.n && i < FUZZ_ARGUMENTS; i++) {
        const struct ir_var *v = kernel->params.at[i].var;
        if (v && type_is_float(v->type))
            out->args[i].scalar.f = 3;
        else if (v && !find_size(line, v->name, &out->args[i].scalar.i))
            out->args[i].scalar.i = 3;
    }
}

// Find the layout of an array; false if it is too large.
static bool layout_of(const struct fuzz_inputs *in, const struct ir_buffer *b,
                      struct layout *out)
{
    int64_t last = 0, dense = 1;
    *out = (struct layout){.rank = b->rank, .elements = 1};
    for (uint32_t i = b->rank; i-- > 0;) {
        if (!ir_eval_int(in->kernel, in->args, b->shape[i], &out->extent[i]))
            return false;
        out->stride[i] = dense;
        if (b->strides &&
            !ir_eval_int(in->kernel, in->args, b->strides[i], &out->stride[i]))
            return false;
        dense *= out->extent[i];
        last += (out->extent[i] - 1) * out->stride[i];
        out->elements *= out->extent[i];
    }
    int64_t size = (int64_t)type_bytes(b->elem);
    out->bytes = out->elements > 0 ? (last + 1) * size : 0;
    return out->elements >= 0 && out->elements <= elements_most &&
           out->bytes <= bytes_most;
}

// Return the bytes in front of an element, counted row by row.
static int64_t offset_of(const struct layout *l, const struct ir_buffer *b,
                         int64_t element)
{
    int64_t at = 0;
    for (uint32_t i = l->rank; i-- > 0;) {
        at += element % l->extent[i] * l->stride[i];
        element /= l->extent[i];
    }
    return at * (int64_t)type_bytes(b->elem);
}

// Set an element: 1 to 7, or 1 to 3 for what counts exactly up to few; signed
// integers are negative at times.
static void set_element(const struct ir_buffer *b, int64_t element, void *at)
{
    uint64_t hash = hash_bytes(HASH_START, &element, sizeof element);
    hash = hash_bytes(hash, b->name, strlen(b->name));
    struct type t = b->elem;
    bool is_coarse = t.kind == TYPE_f16 || t.kind == TYPE_bf16;
    int64_t value = 1 + (int64_t)(hash >> 7) % (is_coarse ? 3 : 7);
    if (hash & 16 && (type_is_signed(t) || type_is_float(t)))
        value = -value;
    if (type_is_float(t))
        eval_store_float(t, at, (double)value);
    else
        eval_store_int(t, at, t.kind == TYPE_bool ? value & 1 : value);
}

// Give an array memory and values.
static bool fill_array(struct fuzz_inputs *in, const struct ir_buffer *b,
                       struct eval_argument *out)
{
    struct layout l;
    if (!layout_of(in, b, &l))
        return false;
    in->is_huge |= l.bytes / (int64_t)type_bytes(b->elem) > INT32_MAX;
    out->size = (size_t)l.bytes;
    out->data = mmap(NULL, out->size + 1, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (out->data == MAP_FAILED) {
        out->data = NULL;
        return false;
    }
    for (int64_t i = 0; i < l.elements; i++) {
        char *at = (char *)out->data + offset_of(&l, b, i);
        if (b->role == ROLE_output)
            memset(at, 0xcd, type_bytes(b->elem));
        else
            set_element(b, i, at);
    }
    return true;
}

bool fuzz_inputs_fill(struct fuzz_inputs *in)
{
    const struct ir_kernel *k = in->kernel;
    if (k->params.n > FUZZ_ARGUMENTS)
        return false;
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (b && !fill_array(in, b, &in->args[i]))
            return false;
    }
    return true;
}

bool fuzz_inputs_again(const struct fuzz_inputs *from, struct fuzz_inputs *out)
{
    *out = *from;
    for (size_t i = 0; i < FUZZ_ARGUMENTS; i++)
        out->args[i].data = NULL;
    return fuzz_inputs_fill(out);
}

void fuzz_inputs_free(struct fuzz_inputs *in)
{
    for (size_t i = 0; i < FUZZ_ARGUMENTS; i++) {
        if (in->args[i].data)
            munmap(in->args[i].data, in->args[i].size + 1);
        in->args[i].data = NULL;
    }
}

// Append the value of an element.
static void print_element(struct type t, const void *at, struct buf *out)
{
    if (type_is_float(t))
        buf_printf(out, "%g", eval_load_float(t, at));
    else
        buf_printf(out, "%lld", (long long)eval_load_int(t, at));
}

// Return whether two elements are the same; one NaN is as good as another.
static bool same_element(struct type t, const void *x, const void *y)
{
    if (memcmp(x, y, type_bytes(t)) == 0)
        return true;
    return type_is_float(t) && isnan(eval_load_float(t, x)) &&
           isnan(eval_load_float(t, y));
}

// Return whether two elements differ by no more than the kernel says.
static bool is_near(const struct ir_kernel *k, struct type t, const void *x,
                    const void *y)
{
    const struct ir_expr *most = k->terms.tolerance;
    if (!most || !type_is_float(t))
        return false;
    double a = eval_load_float(t, x), b = eval_load_float(t, y);
    return fabs(a - b) <= most->u.f * (1 + fmax(fabs(a), fabs(b)));
}

// Return whether an array holds the same in both.
static bool same_array(const struct fuzz_inputs *wanted,
                       const struct fuzz_inputs *got, size_t i, struct buf *out)
{
    const struct ir_buffer *b = wanted->kernel->params.at[i].buffer;
    struct layout l;
    if (!layout_of(wanted, b, &l))
        return true;
    for (int64_t e = 0; e < l.elements; e++) {
        int64_t offset = offset_of(&l, b, e);
        const char *x = (const char *)wanted->args[i].data + offset;
        const char *y = (const char *)got->args[i].data + offset;
        if (same_element(b->elem, x, y) ||
            is_near(wanted->kernel, b->elem, x, y))
            continue;
        buf_printf(out, "difference: %s element %lld is ", b->name,
                   (long long)e);
        print_element(b->elem, y, out);
        buf_text(out, " instead of ");
        print_element(b->elem, x, out);
        return false;
    }
    return true;
}

bool fuzz_inputs_same(const struct fuzz_inputs *wanted,
                      const struct fuzz_inputs *got, struct buf *out)
{
    for (size_t i = 0; i < wanted->kernel->params.n; i++) {
        if (wanted->kernel->params.at[i].buffer &&
            !same_array(wanted, got, i, out))
            return false;
    }
    return true;
}
