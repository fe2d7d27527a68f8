// Fuzzes the text of the IR: any bytes are one kernel in loop form, at any
// level.
//
// What parses must survive printing; what ir_check finds no fault with is run
// for a while, on small arguments, and must end in a way that the evaluator
// has a name for.

#include "ir/build.h"
#include "ir/check.h"
#include "ir/eval.h"
#include "ir/text.h"
#include "ir/walk.h"
#include "support/input.h"

enum { ELEMENTS_MOST = 512, SCALAR = 5, STEPS_MOST = 20000 };

// Return whether an array has few elements, and how many bytes they take.
static bool is_small(const struct ir_kernel *k, const struct ir_buffer *b,
                     const struct eval_argument *args, size_t *bytes)
{
    int64_t row_major = 1, last = 0;
    for (uint32_t i = b->rank; i-- > 0;) {
        int64_t extent, stride = row_major;
        if (!ir_eval_int(k, args, b->shape[i], &extent) ||
            (b->strides && !ir_eval_int(k, args, b->strides[i], &stride)))
            return false;
        if (extent < 0 || extent > ELEMENTS_MOST || stride < 0 ||
            stride > ELEMENTS_MOST)
            return false;
        last += extent * stride;
        row_major *= extent;
        if (row_major > ELEMENTS_MOST || last > ELEMENTS_MOST)
            return false;
    }
    *bytes = (size_t)(last + 1) * type_bytes(b->elem);
    return true;
}

// Fill an array with small numbers.
static void fill(const struct ir_buffer *b, struct eval_argument *arg)
{
    size_t size = type_bytes(b->elem);
    for (size_t i = 0; i < arg->size / size; i++) {
        char *element = (char *)arg->data + i * size;
        if (type_is_float(b->elem))
            eval_store_float(b->elem, element, (double)(i % 9) / 4 - 1);
        else
            eval_store_int(b->elem, element, (int64_t)(i % 5));
    }
}

// Choose arguments; false if an array would be large.
static bool choose(struct input *in, const struct ir_kernel *k,
                   struct eval_argument *args)
{
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        if (var && type_is_float(var->type))
            args[i].scalar.f = SCALAR;
        else if (var)
            args[i].scalar.i = SCALAR;
    }
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_buffer *b = k->params.at[i].buffer;
        if (!b)
            continue;
        if (!is_small(k, b, args, &args[i].size))
            return false;
        args[i].data = arena_alloc(&in->arena, args[i].size);
        fill(b, &args[i]);
    }
    return true;
}

// Return whether an extent differs from place to place: it counts as large.
static bool varies(const struct ir_expr *extent)
{
    ir_foreach_expr(x, extent)
        if (x->op == OP_index ||
            (x->op == OP_var && x->u.var->kind != VAR_param))
            return true;
    return false;
}

// Return whether the size of a declared array is known, and small.
static bool is_small_alloc(const struct ir_kernel *k, const struct ir_buffer *b,
                           const struct eval_argument *args)
{
    size_t bytes;
    for (uint32_t i = 0; i < b->rank; i++)
        if (varies(b->shape[i]) || (b->strides && varies(b->strides[i])))
            return false;
    return is_small(k, b, args, &bytes);
}

// Run a kernel, unless it needs much memory.
static void run(struct input *in, struct ir_kernel *k)
{
    struct eval_argument *args =
        arena_array(&in->arena, struct eval_argument, k->params.n);
    if (!choose(in, k, args))
        return;
    ir_foreach_stmt(s, &k->body)
        if (s->kind == STMT_alloc && !is_small_alloc(k, s->u.buffer, args))
            return;
    ir_eval(&in->arena, k, args, STEPS_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in;
    input_open(&in, data, size);
    struct ir_kernel *k =
        ir_parse_kernel(&in.arena, &in.names, &in.source, &in.diags);
    input_check_diags(&in.arena, &in.diags, k != NULL);
    if (k) {
        input_check_text(&in, k);
        if (!ir_check(&in.arena, k))
            run(&in, k);
    }
    input_close(&in);
    return 0;
}
