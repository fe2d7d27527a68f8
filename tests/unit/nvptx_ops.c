// Every operation of ops.def on every type that it takes, one lane and four,
// and every conversion: emitted for each kind of architecture, assembled where
// ptxas is at hand, and without arithmetic that an assembler may fuse.

#include "tests/unit/support/nvptx_fixture.h"

#include "ir/build.h"
#include "ir/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// The kernels made so far.
struct corpus {
    struct emission t;
    struct VEC(const struct ir_kernel *) kernels;
};

enum { OPERANDS_MOST = 3 };

// Return the shape of an array of one dimension.
static struct ir_expr **extent_of(struct arena *a, struct ir_expr *extent)
{
    struct ir_expr **shape = arena_new(a, struct ir_expr *);
    *shape = extent;
    return shape;
}

// Add an array parameter.
static struct ir_buffer *add_array(struct arena *a, struct ir_kernel *k,
                                   const char *name, struct type t)
{
    struct type elem = type_scalar((enum type_kind)t.kind);
    struct ir_buffer *b = ir_buffer_new(
        a, name, elem, 1, extent_of(a, ir_read(a, k->params.at[0].var)));
    b->role = ROLE_inout;
    b->align = (uint32_t)type_bytes(t);
    vec_push(a, &k->params, (struct ir_param){NULL, b});
    return b;
}

// Return the index of a thread's element or elements.
static struct ir_expr *index_for(struct arena *a, struct type t)
{
    struct type idx = type_scalar(TYPE_idx64);
    struct ir_expr *i = ir_cast(a, idx, ir_index_value(a, AXIS_thread_x));
    i = ir_mul(a, i, ir_const_int(a, idx, t.lanes));
    return t.lanes == 1 ? i : ir_ramp(a, i, t.lanes);
}

// Return an empty kernel, and its launch.
static struct ir_kernel *new_kernel(struct corpus *c, struct ir_launch **launch)
{
    struct arena *a = &c->t.base.arena;
    struct ir_kernel *k = arena_new(a, struct ir_kernel);
    k->name = arena_printf(a, "k%zu", c->kernels.n);
    k->variant = "";
    k->level = LEVEL_flat;
    struct ir_var *n =
        ir_var_new(a, "n", type_scalar(TYPE_int), VAR_param, (struct span){0});
    vec_push(a, &k->params, (struct ir_param){n, NULL});
    struct ir_stmt *s = ir_stmt_launch(a, k->name);
    ir_append(a, &k->body, s);
    for (int d = 0; d < 3; d++)
        s->u.launch.block[d] = 1;
    *launch = &s->u.launch;
    vec_push(a, &c->kernels, k);
    return k;
}

// Return operand number i, an element of an array of its own.
static struct ir_expr *operand(struct corpus *c, struct ir_kernel *k, int i,
                               struct type t)
{
    static const char *const names[OPERANDS_MOST] = {"A", "B", "C"};
    struct arena *a = &c->t.base.arena;
    struct ir_buffer *b = add_array(a, k, names[i], t);
    struct ir_expr *index = index_for(a, t);
    return ir_load(a, b, 1, &index);
}

// Store a value into an array of its own.
static void store_result(struct corpus *c, struct ir_kernel *k,
                         struct ir_launch *launch, struct ir_expr *value)
{
    struct arena *a = &c->t.base.arena;
    struct ir_buffer *out = add_array(a, k, "R", value->type);
    struct ir_expr *index = index_for(a, value->type);
    ir_append(a, &launch->body, ir_stmt_store(a, out, 1, &index, value));
}

// Add an atomic operation, in global or shared memory.
static void add_atomic(struct corpus *c, enum ir_op op, struct type t,
                       enum space space)
{
    struct arena *a = &c->t.base.arena;
    struct ir_expr *args[OPERANDS_MOST];
    struct ir_launch *launch;
    struct ir_kernel *k = new_kernel(c, &launch);
    uint32_t n = (uint32_t)strlen(ir_op_info(op)->operands) - 1;
    struct ir_buffer *b =
        ir_buffer_new(a, "S", t, 1, extent_of(a, ir_int(a, 8)));
    b->space = space;
    if (space == SPACE_global)
        b = add_array(a, k, "G", t);
    else
        ir_append(a, &launch->body, ir_stmt_alloc(a, b));
    for (uint32_t i = 0; i < n; i++)
        args[i] = operand(c, k, (int)i, t);
    struct ir_expr *index = index_for(a, t);
    store_result(c, k, launch, ir_atomic(a, op, b, 1, &index, n, args));
}

// Add an operation on operands of one type, if it takes them.  What is done with
// mbarriers is in tests/lit/nvptx/mbarriers.ing.
static void add_operation(struct corpus *c, enum ir_op op, struct type t)
{
    struct arena *a = &c->t.base.arena;
    const struct ir_op_info *info = ir_op_info(op);
    uint32_t n = (uint32_t)strlen(info->operands);
    struct type types[OPERANDS_MOST] = {t, t, t}, result;
    for (uint32_t i = 0; i < n && i < OPERANDS_MOST; i++) {
        if (info->operands[i] == 'x')
            types[i] = type_scalar(TYPE_idx64);
    }
    struct ir_expr *args[OPERANDS_MOST];
    const char *wrong;
    struct ir_launch *launch;
    if (n > OPERANDS_MOST || info->form == FORM_LEAF ||
        info->form == FORM_OWN || op == OP_lanes ||
        (info->flags & OP_SYNCHRONISES) ||
        !ir_result_type(a, op, n, types, &result, &wrong))
        return;
    if (info->flags & OP_WRITES) {
        add_atomic(c, op, t, SPACE_global);
        add_atomic(c, op, t, SPACE_shared);
        return;
    }
    struct ir_kernel *k = new_kernel(c, &launch);
    for (uint32_t i = 0; i < n; i++)
        args[i] = operand(c, k, (int)i, types[i]);
    store_result(c, k, launch, ir_call(a, op, n, args));
}

// Add a conversion.
static void add_conversion(struct corpus *c, struct type to, struct type from)
{
    struct ir_launch *launch;
    struct ir_kernel *k = new_kernel(c, &launch);
    struct ir_expr *x = operand(c, k, 0, from);
    store_result(c, k, launch, ir_cast(&c->t.base.arena, to, x));
}

// Make all kernels with so many lanes.
static void make_corpus(struct corpus *c, unsigned lanes)
{
    for (int from = 0; from < TYPE_COUNT; from++) {
        struct type t = type_vector(type_scalar((enum type_kind)from), lanes);
        if (from == TYPE_int)
            continue;
        for (int op = 0; op < OP_COUNT; op++)
            add_operation(c, (enum ir_op)op, t);
        for (int to = 0; to < TYPE_COUNT; to++) {
            if (to != TYPE_int)
                add_conversion(
                    c, type_vector(type_scalar((enum type_kind)to), lanes), t);
        }
    }
}

// Check that arithmetic says how it rounds: `mul.f32`, which the assembler may
// fuse with an addition, is not there.
static void check_rounding(const char *ptx)
{
    static const char *const operations[] = {"\tadd.", "\tsub.", "\tmul."};
    for (int i = 0; i < 3; i++) {
        for (const char *p = ptx; (p = strstr(p, operations[i])); p++) {
            const char *type = p + strlen(operations[i]);
            assert_true(*type != 'f' && strncmp(type, "bf", 2) != 0);
        }
    }
}

// Emit and assemble the corpus for an architecture.
static void check_target(struct corpus *c, const char *name)
{
    struct emission *t = &c->t;
    struct buf ptx = {0};
    emission_target(t, name);
    if (!nvptx_emit_isolated(&t->base.arena, c->kernels.at, c->kernels.n,
                             &t->options, &ptx, &t->base.diags))
        emission_show(&t->base.diags);
    assert_int_equal(t->base.diags.errors, 0);
    check_rounding(ptx.data);
    emission_assemble(t, ptx.data);
    buf_free(&ptx);
}

// Check a corpus on several architectures.
static void check_targets(unsigned lanes, const char *const *targets, size_t n,
                          const struct nvptx_options *changes)
{
    struct corpus c = {0};
    emission_start(&c.t);
    if (c.t.options.libdevice) {
        c.t.options.opt_level = changes->opt_level;
        c.t.options.fast_math = changes->fast_math;
        make_corpus(&c, lanes);
        for (size_t i = 0; i < n; i++)
            check_target(&c, targets[i]);
    }
    emission_end(&c.t);
}

static const struct nvptx_options usual = {.opt_level = 2};

static void every_target_has_every_operation(void **state)
{
    (void)state;
    static const char *const targets[] = {"sm_75",  "sm_80",  "sm_90",
                                          "sm_90a", "sm_100", "sm_120"};
    check_targets(1, targets, sizeof targets / sizeof *targets, &usual);
}

static const char *const oldest_and_newer[] = {"sm_75", "sm_90"};

static void vectors_have_every_operation(void **state)
{
    (void)state;
    check_targets(4, oldest_and_newer, 2, &usual);
}

static void approximations_assemble_too(void **state)
{
    (void)state;
    struct nvptx_options fast = {.opt_level = 2, .fast_math = true};
    check_targets(1, oldest_and_newer, 2, &fast);
}

static void unoptimised_code_assembles_too(void **state)
{
    (void)state;
    struct nvptx_options plain = {.opt_level = 0};
    check_targets(1, oldest_and_newer, 2, &plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_has_every_operation),
        cmocka_unit_test(vectors_have_every_operation),
        cmocka_unit_test(approximations_assemble_too),
        cmocka_unit_test(unoptimised_code_assembles_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
