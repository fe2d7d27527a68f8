// Kernels for the executor.

#include "tests/unit/support/specimen.h"

#include "ir/accesses.h"
#include "ir/base/num.h"
#include "ir/walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PEAK = 512,
    PEAK_PERIOD = 300,
    COUNT_PERIOD = 97,
    SCATTER_PERIOD = 29,
    SCALAR = 3,
    POISON = 0xcd
};

// ---- Compiling ------------------------------------------------------------

bool specimen_read(const char *path, struct buf *out)
{
    char chunk[65536];
    FILE *f = fopen(path, "rb");
    if (!f)
        return false;
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_bytes(out, chunk, n);
    fclose(f);
    return true;
}

// Read the bitcode of libdevice, if it is at hand.
static void read_libdevice(struct specimen *s)
{
    const char *cuda = getenv("INGOT_CUDA");
    if (cuda)
        specimen_read(arena_printf(&s->c.arena,
                                   "%s/nvvm/libdevice/libdevice.10.bc", cuda),
                      &s->libdevice);
    s->options.libdevice = s->libdevice.data;
    s->options.libdevice_size = s->libdevice.n;
}

bool specimen_open(struct specimen *s, const char *name, const char *text,
                   size_t size)
{
    struct compile_options options = {.opt_level = 2};
    memset(s, 0, sizeof *s);
    compile_start(&s->c);
    read_libdevice(s);
    s->options.opt_level = options.opt_level;
    s->options.target = nvptx_target_find("sm_80", &s->c.diags);
    return compile_add(&s->c, name, text, size) &&
           compile_lower(&s->c, &options);
}

void specimen_close(struct specimen *s)
{
    compile_end(&s->c);
    buf_free(&s->libdevice);
}

void specimen_complain(const struct diag_list *diags)
{
    struct buf out = {0};
    diag_render(diags, (struct diag_style){0}, &out);
    fprintf(stderr, "%s", out.n ? out.data : "no diagnostics\n");
    buf_free(&out);
}

const char *specimen_header(struct arena *a, const char *text, const char *key,
                            size_t n)
{
    for (const char *line = text; line;) {
        const char *end = strchr(line, '\n');
        size_t length = end ? (size_t)(end - line) : strlen(line);
        size_t skip = strlen(key);
        if (strncmp(line, key, skip) == 0 && n-- == 0)
            return arena_copy(a, line + skip, length - skip);
        line = end ? end + 1 : NULL;
    }
    return NULL;
}

// ---- Arguments ------------------------------------------------------------

// Return a number without pattern.
static uint64_t mix(uint64_t x)
{
    return num_mix((x + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

double specimen_counting(size_t at, size_t array)
{
    (void)array;
    return (double)(at % COUNT_PERIOD + 1);
}

double specimen_scattered(size_t at, size_t array)
{
    uint64_t random = mix(at + ((uint64_t)array << 40));
    double value = (double)(random % SCATTER_PERIOD) / 8;
    return random >> 32 & 1 ? value : -value;
}

double specimen_steep(size_t at, size_t array)
{
    bool is_peak = mix(at * 3 + array) % PEAK_PERIOD == 0;
    return is_peak ? (double)PEAK : 64 * specimen_scattered(at, array);
}

// Return the value of a size in "m=3 n=40"; false if it is not there.
static bool size_of(const char *sizes, const char *name, int64_t *value)
{
    size_t length = strlen(name);
    for (const char *p = sizes; (p = strstr(p, name)); p += length) {
        bool begins = p == sizes || p[-1] == ' ';
        if (!begins || p[length] != '=')
            continue;
        *value = strtoll(p + length + 1, NULL, 10);
        return true;
    }
    return false;
}

// Give a scalar its value.
static bool set_scalar(struct eval_argument *argument, const struct ir_var *v,
                       const char *sizes)
{
    argument->scalar.i = SCALAR;
    if (type_is_float(v->type))
        argument->scalar.f = SCALAR;
    return v->type.kind != TYPE_int ||
           size_of(sizes, v->name, &argument->scalar.i);
}

// Find the elements that an array spans.
static bool span_of(const struct ir_kernel *k, const struct eval_argument *args,
                    const struct ir_buffer *b, int64_t *elements)
{
    int64_t last = 0, row = 1, extent;
    bool is_empty = false;
    for (uint32_t i = b->rank; i-- > 0;) {
        int64_t stride = row, reach;
        if (!ir_eval_int(k, args, b->shape[i], &extent) ||
            (b->strides && !ir_eval_int(k, args, b->strides[i], &stride)) ||
            !num_mul(extent - 1, stride, &reach) ||
            !num_add(last, reach, &last) || !num_mul(row, extent, &row))
            return false;
        is_empty |= extent <= 0;
    }
    *elements = is_empty ? 0 : last + 1;
    return true;
}

// Write the elements of an array.
static void write_elements(const struct ir_kernel *k, const struct ir_buffer *b,
                           struct eval_argument *argument, specimen_fill fill,
                           size_t array)
{
    size_t bytes = type_bytes(b->elem);
    unsigned char *at = argument->data;
    if (b->role == ROLE_output) {
        bool is_stored = ir_block_stores(&k->body, b);
        memset(at, ir_block_atomics(&k->body, b) && !is_stored ? 0 : POISON,
               argument->size);
        return;
    }
    for (size_t i = 0; i < argument->size / bytes; i++) {
        double value = fill(i, array);
        if (type_is_float(b->elem))
            eval_store_float(b->elem, at + i * bytes, value);
        else
            eval_store_int(b->elem, at + i * bytes,
                           fill == specimen_counting ? (int64_t)value
                                                     : (int64_t)(value * 8));
    }
}

struct eval_argument *specimen_arguments(struct arena *a,
                                         const struct ir_kernel *kernel,
                                         const char *sizes, specimen_fill fill)
{
    struct eval_argument *args =
        arena_array(a, struct eval_argument, kernel->params.n + 1);
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_var *v = kernel->params.at[i].var;
        if (v && !set_scalar(&args[i], v, sizes))
            return NULL;
    }
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_buffer *b = kernel->params.at[i].buffer;
        int64_t elements;
        if (!b)
            continue;
        if (!span_of(kernel, args, b, &elements))
            return NULL;
        args[i].size = (size_t)elements * type_bytes(b->elem);
        args[i].data = arena_alloc(a, args[i].size + 1);
        write_elements(kernel, b, &args[i], fill, i);
    }
    return args;
}

// Return whether all conditions hold.
static bool all_hold(const struct ir_kernel *kernel,
                     const struct ir_conditions *conditions,
                     const struct eval_argument *arguments)
{
    for (size_t i = 0; i < conditions->n; i++) {
        int64_t holds;
        if (!ir_eval_int(kernel, arguments, conditions->at[i], &holds) ||
            !holds)
            return false;
    }
    return true;
}

bool specimen_fits(const struct ir_kernel *kernel,
                   const struct eval_argument *arguments)
{
    return all_hold(kernel, &kernel->where, arguments) &&
           all_hold(kernel, &kernel->guard, arguments);
}
