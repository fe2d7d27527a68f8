// The validator: a valid program is spoilt in one place, and the fault that
// this makes is named.

#include "ir/build.h"
#include "ir/check.h"
#include "ir/layout.h"
#include "ir/marks.h"
#include "ir/ring.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char loops[] =
    "kernel k(n: int, A: f32[n, 4], I: i32[8] inout) -> C: f32[n, 4] {\n"
    "    for i in 0..n {\n"
    "        let x = A[i, 1]\n"
    "        var y: f32 = x\n"
    "        y = y + 1.0\n"
    "        if i < 3 { C[i, 2] = y }\n"
    "        atomic_add(I[i % 8], 1)\n"
    "        let v = lanes(x, y)\n"
    "        let w = lane(v, 1)\n"
    "        let r = ramp(i, 4)\n"
    "        let h = f16(x)\n"
    "    }\n"
    "}\n";

static const char stages[] = "kernel k(n: int, A: f32[n]) -> C: f32[n] {\n"
                             "    for i in 0..n {\n"
                             "        stage C(vi in n = i) {\n"
                             "            init { C[vi] = 0.0 }\n"
                             "            C[vi] = A[vi]\n"
                             "        }\n"
                             "    }\n"
                             "}\n";

static const char ring[] =
    "kernel k(n: int, A: f32[n]) -> C: f32[n] {\n"
    "    alloc S: f32[3, 1] in shared\n"
    "    for i in 0..n @ring(slots 3, transport stores, "
    "arrive barrier, release barrier, arrays S) {\n"
    "        let slot = i % 3\n"
    "        stage S(vi in n = i) { S[slot, 0] = A[vi] }\n"
    "        stage C(vi in n = i) { C[vi] = S[slot, 0] }\n"
    "    }\n"
    "}\n";

static const char launch[] =
    "kernel k(n: int, A: f32[n]) -> C: f32[n]\n"
    "    level launch\n"
    "{\n"
    "    launch k grid(ceildiv(n, 64), 1, 1) block(64, 1, 1) {\n"
    "        let i = block.x * 64 + thread.x\n"
    "        if i < n { C[i] = A[i] }\n"
    "    }\n"
    "}\n";

static const char allocs[] = "kernel k(n: int) -> C: f32[n] {\n"
                             "    alloc G: f32[n] in global\n"
                             "    for i in 0..n {\n"
                             "        alloc S: f32[8] in shared\n"
                             "        S[0] = 1.0\n"
                             "    }\n"
                             "}\n";

static const char parts[] = "kernel k() -> C: f32[64]\n"
                            "    level loops\n"
                            "{\n"
                            "    alloc E: f32[64, 2] in local threads(1)\n"
                            "    for t in 0..64 @thread.x {\n"
                            "        E[t, 1] = 1.0\n"
                            "        C[t] = E[t, 1]\n"
                            "    }\n"
                            "}\n";

static const char cluster[] =
    "kernel k() -> C: f32[2] level launch {\n"
    "    launch k grid(2, 1, 1) cluster(2, 1, 1) block(1, 1, 1) {\n"
    "        alloc P: f32[2, 4] in shared cluster\n"
    "        P[block.x % 2, 0] = 1.0\n"
    "        C[block.x] = P[block.x % 2, 0]\n"
    "    }\n"
    "}\n";

static const char matrices[] =
    "kernel k() -> C: f32[128] level launch {\n"
    "    launch k grid(1, 1, 1) block(128, 1, 1) {\n"
    "        alloc d: f32[4] in local\n"
    "        alloc S: f16[64, 64] in shared align 1024\n"
    "        matrix wgmma_m64n8k16_f16_f32 d[0 : 4], S[0 : 64, 0 : 16] "
    "desc(128, 16, 1024), S[0 : 8, 0 : 16] desc(128, 16, 1024)\n"
    "        C[thread.x] = d[0]\n"
    "    }\n"
    "}\n";

static const char copies[] =
    "kernel k(A: f32[64, 64]) -> B: f32[64, 64]\n"
    "    map M of A box[32, 32]\n"
    "{\n"
    "    for b in 0..2 @block.x {\n"
    "        alloc S: f32[32, 32] in shared\n"
    "        alloc full: u64[1] in shared\n"
    "        tma_load S[0, 0] = M[b, 0] signals full[0]\n"
    "        B[b, 0] = S[0, 0]\n"
    "    }\n"
    "}\n";

// A copy by each thread.
static const char own_copies[] =
    "kernel k(n: int, A: f32[64], H: f16[64]) -> B: f32[64]\n"
    "{\n"
    "    for t in 0..16 @thread.x {\n"
    "        alloc S: f32[64] in shared\n"
    "        cp_async_load S[ramp(t * 4, 4)] = A[ramp(t * 4, 4)] if t < n\n"
    "        B[t] = S[t]\n"
    "    }\n"
    "}\n";

// A program that is being spoilt.
struct scene {
    struct arena arena;
    struct ir_kernel *k;
};

// Return the `nth` let of the loop of `loops`, from 0.
static struct ir_stmt *nth_let(const struct scene *s, int nth)
{
    struct ir_block *body = &s->k->body.at[0]->u.loop.body;
    for (size_t i = 0; i < body->n; i++)
        if (body->at[i]->kind == STMT_let && nth-- == 0)
            return body->at[i];
    fail();
    return NULL;
}

// Return a statement of the program.
static struct ir_stmt *stmt_of(const struct scene *s, enum ir_stmt_kind kind)
{
    return kernel_stmt(s->k, kind);
}

// Return the variable of the outermost loop, read.
static struct ir_expr *loop_value(struct scene *s)
{
    return ir_read(&s->arena, stmt_of(s, STMT_for)->u.loop.var);
}

// Append a statement to the body of the kernel.
static void append(struct scene *s, struct ir_stmt *stmt)
{
    ir_append(&s->arena, &s->k->body, stmt);
}

// Fail unless the check finds a fault with these words.
static void has_fault(struct scene *s, const char *words)
{
    const char *faults = ir_check(&s->arena, s->k);
    if (!faults || !strstr(faults, words))
        print_error("`%s` is not in: %s\n", words, faults ? faults : "nothing");
    assert_non_null(faults);
    assert_non_null(strstr(faults, words));
    arena_reset(&s->arena);
}

// Spoil a program by the statements given, and look for the fault.
#define SPOIL(text, words, ...)                                                \
    do {                                                                       \
        struct scene scene = {{0}, NULL}, *s = &scene;                         \
        struct arena *a = &scene.arena;                                        \
        (void)a;                                                               \
        scene.k = kernel_text(&scene.arena, text);                             \
        __VA_ARGS__;                                                           \
        has_fault(s, words);                                                   \
    } while (0)

static const struct type f32 = {TYPE_f32, 1};

static void declarations(void **state)
{
    (void)state;
    SPOIL(loops, "for i: declared twice: `i`", append(s, s->k->body.at[0]));
    SPOIL(loops, "for i: used but not declared: `z`",
          stmt_of(s, STMT_for)->u.loop.to =
              ir_read(a, ir_var_new(a, "z", type_scalar(TYPE_int), VAR_let,
                                    (struct span){0})));
    SPOIL(loops, "used out of scope: `i`",
          append(s, ir_stmt_eval(a, loop_value(s))));
    SPOIL(loops, "wrong kind of variable: `i`",
          stmt_of(s, STMT_for)->u.loop.var->kind = VAR_let);
    SPOIL(loops, "kernel k: a parameter is a variable or an array",
          s->k->params.at[0].var = NULL);
    SPOIL(loops, "not a parameter: `A`",
          s->k->params.at[1].buffer->role = ROLE_alloc);
    SPOIL(loops, "must be in global or constant space: `A`",
          s->k->params.at[1].buffer->space = SPACE_shared);
    SPOIL(loops, "elements must be scalars: `A`",
          s->k->params.at[1].buffer->elem.lanes = 4);
}

// Return an operand of the instruction on matrices.
static struct ir_tile *tile_of(const struct scene *s, int which)
{
    return &stmt_of(s, STMT_matrix)->u.matrix.tiles[which];
}

static void instructions_on_matrices(void **state)
{
    (void)state;
    SPOIL(matrices, "an operand is a place", tile_of(s, 1)->at = NULL);
    SPOIL(matrices, "an operand of another size", tile_of(s, 0)->extent[0] = 2);
    SPOIL(matrices, "an operand of another type",
          stmt_of(s, STMT_matrix)->u.matrix.op.row++);
    SPOIL(matrices, "an operand in the wrong memory",
          tile_of(s, 0)->at->u.buffer->space = SPACE_shared);
    SPOIL(matrices, "a swizzled operand that is not aligned to 8 rows",
          tile_of(s, 1)->at->u.buffer->align = 512);
}

// The copy of `copies`.
static struct ir_copy *copy_of(const struct scene *s)
{
    return &stmt_of(s, STMT_copy)->u.copy;
}

static void copies_by_tma(void **state)
{
    (void)state;
    SPOIL(copies, "TMA tile copies go through a map, and only these",
          copy_of(s)->map = NULL);
    SPOIL(copies, "TMA tile copies go through a map, and only these",
          copy_of(s)->transport = TRANSPORT_bulk);
    SPOIL(copies, "a copy by a map is one of the map's array: `B`",
          copy_of(s)->far.buffer = s->k->params.at[1].buffer);
    SPOIL(copies, "a load signals", copy_of(s)->signal.buffer = NULL);
    SPOIL(copies, "a coordinate must be an integer",
          copy_of(s)->far.index[0] = ir_bool(a, true));
}

static void copies_by_threads(void **state)
{
    (void)state;
    SPOIL(own_copies,
          "cp_async_load S: a thread copies from global memory: `A`",
          copy_of(s)->far.buffer->space = SPACE_local);
    SPOIL(own_copies, "cp_async_load S: a thread copies to shared memory: `S`",
          copy_of(s)->near.buffer->space = SPACE_local);
    SPOIL(own_copies, "as many elements are read as are written",
          copy_of(s)->far.index[0] = ir_int(a, 1));
    SPOIL(own_copies, "a copy does not convert: `S`",
          copy_of(s)->far.buffer = s->k->params.at[2].buffer);
    SPOIL(own_copies, "a thread's copy is a load that signals nothing",
          copy_of(s)->signal = copy_of(s)->near);
    SPOIL(own_copies, "the condition of a copy is a bool of no memory: `1`",
          copy_of(s)->where = ir_int(a, 1));
    SPOIL(own_copies,
          "the condition of a copy is a bool of no memory: `0.0 < A[0]`",
          struct ir_expr *zero = ir_int(a, 0);
          struct ir_expr *x = ir_load(a, s->k->params.at[1].buffer, 1, &zero);
          copy_of(s)->where = ir_binary(a, OP_lt, ir_zero(a, f32), x));
    SPOIL(copies, "a copy by TMA has no condition",
          copy_of(s)->where = ir_bool(a, true));
}

static void accesses(void **state)
{
    (void)state;
    SPOIL(loops, "let x: number of indices is not the rank: `A`",
          nth_let(s, 0)->u.let.value->n = 1);
    SPOIL(loops, "an index must be an integer: `true`",
          nth_let(s, 0)->u.let.value->args[0] = ir_bool(a, true));
    SPOIL(loops, "only the last index may be a vector",
          nth_let(s, 0)->u.let.value->args[0] = ir_ramp(a, ir_int(a, 0), 2));
    SPOIL(loops, "an access must have the type of its element",
          nth_let(s, 0)->u.let.value->type.kind = TYPE_i32);
    SPOIL(loops, "store C: written, but an input: `C`",
          s->k->params.at[3].buffer->role = ROLE_input);
    SPOIL(loops, "store C: written, but constant: `C`",
          s->k->params.at[3].buffer->space = SPACE_constant);
    SPOIL(loops, "eval: atomic on an array that no other thread sees: `I`",
          s->k->params.at[2].buffer->space = SPACE_local);
    SPOIL(loops, "store C: must have type f32: `1`",
          stmt_of(s, STMT_store)->u.store.value = ir_int(a, 1));
}

static void operands(void **state)
{
    (void)state;
    SPOIL(loops, "assign y: operands of `+` have types f32 and int",
          stmt_of(s, STMT_assign)->u.let.value->args[1] = ir_int(a, 1));
    SPOIL(loops, "assign y: `+` needs a number, not bool",
          stmt_of(s, STMT_assign)->u.let.value->args[1] = ir_bool(a, true));
    SPOIL(loops, "`+` takes 2 operands, not 1",
          stmt_of(s, STMT_assign)->u.let.value->n = 1);
    SPOIL(loops, "wrong type of a result",
          stmt_of(s, STMT_assign)->u.let.value->type.kind = TYPE_f64);
    SPOIL(loops, "eval: operands of `atomic_add` have types i32 and f32",
          stmt_of(s, STMT_eval)->u.value->args[1] = ir_zero(a, f32));
    SPOIL(loops, "a variable must be read in its type: `i`",
          struct ir_expr *x = loop_value(s);
          x->type = f32; nth_let(s, 0)->u.let.value->args[0] = x);
    SPOIL(loops, "a constant is a scalar", struct ir_expr *x = ir_int(a, 1);
          x->type.lanes = 2; nth_let(s, 0)->u.let.value->args[1] = x);
    SPOIL(loops, "thread indices need level grids: `thread.x`",
          nth_let(s, 0)->u.let.value->args[0] =
              ir_index_value(a, AXIS_thread_x));
    SPOIL(loops, "`<` takes 2 operands, not 3",
          struct ir_expr *x = stmt_of(s, STMT_if)->u.branch.cond;
          struct ir_expr * three[3] = {x->args[0], x->args[0], x->args[0]};
          x->n = 3; x->args = three);
}

static void vectors(void **state)
{
    (void)state;
    SPOIL(loops, "let v: `lanes` takes 2 to 16 operands, not 1",
          nth_let(s, 1)->u.let.value->n = 1);
    SPOIL(loops, "let v: too many operands", struct ir_expr * many[17];
          for (int i = 0; i < 17; i++) many[i] = ir_zero(a, f32);
          nth_let(s, 1)->u.let.value = ir_lanes(a, 17, many));
    SPOIL(loops, "`lanes` needs scalars, not f32x2",
          struct ir_expr *two = ir_broadcast(a, ir_zero(a, f32), 2);
          struct ir_expr * pair[2] = {two, two};
          nth_let(s, 1)->u.let.value = ir_lanes(a, 2, pair));
    SPOIL(loops, "let w: no such lane", nth_let(s, 2)->u.let.value->u.lane = 2);
    SPOIL(loops, "let w: a lane must have its vector's type",
          nth_let(s, 2)->u.let.value->type.kind = TYPE_f64);
    SPOIL(loops, "let r: a vector must have 2 to 16 lanes",
          nth_let(s, 3)->u.let.value->type.lanes = 17);
    SPOIL(loops, "let r: a ramp must be of integers",
          nth_let(s, 3)->u.let.value = ir_ramp(a, ir_zero(a, f32), 4));
    SPOIL(loops, "let r: a lane must be a scalar",
          nth_let(s, 3)->u.let.value->args[0] = ir_ramp(a, ir_int(a, 1), 4));
    SPOIL(loops, "let h: a conversion must keep the lanes",
          nth_let(s, 4)->u.let.value->type.lanes = 2);
}

static void statements(void **state)
{
    (void)state;
    SPOIL(loops, "if: a condition must be a bool: `1`",
          stmt_of(s, STMT_if)->u.branch.cond = ir_int(a, 1));
    SPOIL(loops, "for i: step must be positive: `0`",
          stmt_of(s, STMT_for)->u.loop.step = ir_int(a, 0));
    SPOIL(loops, "for i: must have type int: `true`",
          stmt_of(s, STMT_for)->u.loop.from = ir_bool(a, true));
    SPOIL(loops, "for i: a loop must count integers: `i`",
          stmt_of(s, STMT_for)->u.loop.var->type = f32);
    SPOIL(loops, "assign y: assigned, but not declared by `var`: `y`",
          stmt_of(s, STMT_assign)->u.let.var->kind = VAR_let);
    SPOIL(loops, "eval: has no effect: `1`",
          stmt_of(s, STMT_eval)->u.value = ir_int(a, 1));
    SPOIL(loops, "kernel k: must depend on parameters only: `I[0] == 0`",
          struct ir_expr *zero = ir_int(a, 0);
          struct ir_expr *load =
              ir_load(a, s->k->params.at[2].buffer, 1, &zero);
          vec_push(a, &s->k->where,
                   ir_binary(a, OP_eq, load, ir_zero(a, load->type))));
}

static void stages_and_allocs(void **state)
{
    (void)state;
    SPOIL(stages, "stage C: an iteration variable must be an integer: `vi`",
          stmt_of(s, STMT_stage)->u.stage.iters.at[0].var->type = f32);
    SPOIL(stages, "stage C: `init` has statements but is absent",
          stmt_of(s, STMT_stage)->u.stage.has_init = false);
    SPOIL(stages, "stage D: a stage inside a stage",
          ir_append(a, &stmt_of(s, STMT_stage)->u.stage.body,
                    ir_stmt_stage(a, "D")));
    SPOIL(stages, "barrier: a barrier inside a stage",
          ir_append(a, &stmt_of(s, STMT_stage)->u.stage.body,
                    ir_stmt_barrier(a)));
    SPOIL(allocs, "alloc G: not the array of an alloc: `G`",
          stmt_of(s, STMT_alloc)->u.buffer->role = ROLE_output);
    SPOIL(allocs, "alloc G: constant without values: `G`",
          stmt_of(s, STMT_alloc)->u.buffer->space = SPACE_constant);
    SPOIL(allocs, "alloc S: a global alloc must be on top of the kernel: `S`",
          stmt_of(s, STMT_store)->u.store.buffer->space = SPACE_global);
    SPOIL(allocs, "extents of a shared or local array are constants: `n`",
          s->k->level = LEVEL_loops;
          stmt_of(s, STMT_alloc)->u.buffer->space = SPACE_shared);
    SPOIL(parts, "alloc E: positions of threads, but no array of theirs: `E`",
          stmt_of(s, STMT_alloc)->u.buffer->space = SPACE_shared);
    SPOIL(parts, "alloc E: positions of threads, but no array of theirs: `E`",
          stmt_of(s, STMT_alloc)->u.buffer->threads = 3);
    SPOIL(parts, "store E: no position of the thread: `1`",
          stmt_of(s, STMT_alloc)->u.buffer->threads = 2);
    SPOIL(parts, "no position of the thread: `t`",
          stmt_of(s, STMT_for)->u.loop.axis = AXIS_serial);
    SPOIL(cluster, "an array of a cluster that has another number of blocks",
          stmt_of(s, STMT_alloc)->u.buffer->shape[0] = ir_int(a, 3));
    SPOIL(cluster, "alloc P: an array of a cluster, but not in shared memory",
          stmt_of(s, STMT_alloc)->u.buffer->space = SPACE_local);
    SPOIL(allocs, "alloc G: a layout is for arrays that are declared",
          stmt_of(s, STMT_alloc)->u.buffer->swizzle.bits = 1;
          stmt_of(s, STMT_alloc)->u.buffer->role = ROLE_output);
    SPOIL(allocs, "alloc G: the array has no rows: it has one dimension: `G`",
          stmt_of(s, STMT_alloc)->u.buffer->swizzle.bits = 1);
    SPOIL(allocs, "alloc G: a layout becomes strides at level flat: `G`",
          stmt_of(s, STMT_alloc)->u.buffer->swizzle.bits = 1;
          s->k->level = LEVEL_flat);
    SPOIL(allocs, "alloc G: elements of the last dimension have no rows behind",
          layout_set_pitch(a, stmt_of(s, STMT_alloc)->u.buffer, 0,
                           (struct ir_pitch){1, 1, 0}));
}

// Return the marks of the loop of `loops`.
static struct ir_attrs *marks_of(const struct scene *s)
{
    return ir_attrs_of(stmt_of(s, STMT_for));
}

static void marks(void **state)
{
    (void)state;
    SPOIL(loops, "for i: no mark is called `@depth`; a note has a number",
          const struct ir_attr word = {MARK_note, "depth", 0, "three"};
          vec_push(a, marks_of(s), word));
    SPOIL(loops, "for i: `@in_flight` is called another mark",
          const struct ir_attr note = {MARK_note, "in_flight", 3, NULL};
          vec_push(a, marks_of(s), note));
    SPOIL(loops, "for i: `@in_flight` takes a number from 0 to 15",
          ir_attr_set(a, stmt_of(s, STMT_for), MARK_in_flight, 17));
    SPOIL(loops, "for i: `@unroll` takes a number from 1 to 65536",
          ir_attr_set_word(a, stmt_of(s, STMT_for), MARK_unroll, "often"));
    SPOIL(loops, "for i: `@order` takes one of row column grouped",
          ir_attr_set_word(a, stmt_of(s, STMT_for), MARK_order, "col"));
    SPOIL(loops, "for i: `@tensorize` takes a matrix instruction",
          ir_attr_set_word(a, stmt_of(s, STMT_for), MARK_tensorize, "mma"));
    SPOIL(loops, "for i: `@via` is a mark of stages",
          ir_attr_set_word(a, stmt_of(s, STMT_for), MARK_via, "tma"));
    SPOIL(stages, "stage C: `@unroll` is a mark of loops",
          ir_attr_set(a, stmt_of(s, STMT_stage), MARK_unroll, 4));
    SPOIL(loops, "for i: `@in_flight` has survived `fragments`",
          s->k->level = LEVEL_loops;
          ir_attr_set(a, stmt_of(s, STMT_for), MARK_in_flight, 3));
}

static void rings(void **state)
{
    (void)state;
    SPOIL(ring, "for i: `slots` of a ring is a number from 2 to 16",
          stmt_of(s, STMT_for)->u.loop.rings.at[0]->slots = 17);
    SPOIL(ring,
          "for i: a ring without roles has no `lag`, `producer` or `order`",
          stmt_of(s, STMT_for)->u.loop.rings.at[0]->lag = 1);
    SPOIL(ring, "for i: the threads of a role keep 24 to 240 registers",
          struct ir_ring *of = stmt_of(s, STMT_for)->u.loop.rings.at[0];
          const struct ir_role fill = {RING_fill, 28};
          const struct ir_role use = {RING_use, 232};
          vec_push(a, &of->roles, fill); vec_push(a, &of->roles, use));
    SPOIL(ring, "the first dimension of `S`, an array of a ring, is as long",
          stmt_of(s, STMT_for)->u.loop.rings.at[0]->slots = 4);
    SPOIL(ring, "begins with the slot of the iteration",
          stmt_of(s, STMT_for)->u.loop.body.n = 0);
    SPOIL(stages, "for i: a ring has survived `ring_lower`",
          s->k->level = LEVEL_loops;
          vec_push(a, &stmt_of(s, STMT_for)->u.loop.rings, ir_ring_new(a, 2)));
    SPOIL(ring, "for i: a ring has survived `ring_lower`",
          s->k->level = LEVEL_loops);
    SPOIL(ring, "a ring has no `transport registers` before level loops",
          ir_ring_set(stmt_of(s, STMT_for)->u.loop.rings.at[0],
                      RING_transport_registers));
}

// A mark that is removed leaves the others, in their order.
static void removes_one_mark(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct ir_kernel *k = kernel_text(&arena, loops);
    struct ir_stmt *loop = kernel_stmt(k, STMT_for);
    const struct ir_attr note = {MARK_note, "tried", 7, NULL};
    ir_attr_set(&arena, loop, MARK_in_flight, 3);
    vec_push(&arena, ir_attrs_of(loop), note);
    ir_attr_set(&arena, loop, MARK_unroll, 2);
    ir_attr_set(&arena, loop, MARK_in_flight, 4);
    assert_int_equal(ir_attr_value(loop, MARK_in_flight), 4);
    ir_attr_remove(loop, MARK_in_flight);
    assert_null(ir_attr_get(loop, MARK_in_flight));
    assert_int_equal(loop->u.loop.attrs.n, 2);
    assert_string_equal(loop->u.loop.attrs.at[0].name, "tried");
    assert_int_equal(ir_attr_value(loop, MARK_unroll), 2);
    assert_null(ir_attrs_of(kernel_stmt(k, STMT_store)));
    arena_reset(&arena);
}

static void levels(void **state)
{
    (void)state;
    SPOIL(stages, "stage C: not allowed at this level: `loops`",
          s->k->level = LEVEL_loops);
    SPOIL(launch, "launch k: not allowed at this level: `loops`",
          s->k->level = LEVEL_loops);
    SPOIL(loops, "for i: only launches and allocs may be on top",
          s->k->level = LEVEL_launch);
    SPOIL(launch, "for j: bound loops are launches at this level: `block.x`",
          struct ir_var *j = ir_var_new(a, "j", type_scalar(TYPE_int), VAR_loop,
                                        (struct span){0});
          ir_append(a, &stmt_of(s, STMT_launch)->u.launch.body,
                    ir_stmt_for(a, j, ir_int(a, 0), ir_int(a, 1), ir_int(a, 1),
                                AXIS_block_x)));
    SPOIL(launch, "launch l: a launch must be on top of the kernel",
          ir_append(a, &stmt_of(s, STMT_launch)->u.launch.body,
                    ir_stmt_launch(a, "l")));
    SPOIL(launch, "too few or too many threads: `thread.y`",
          stmt_of(s, STMT_launch)->u.launch.block[1] = 0);
    SPOIL(launch, "launch k: more than 1024 threads in a block",
          stmt_of(s, STMT_launch)->u.launch.block[1] = 32);
    SPOIL(launch, "launch k: no blocks in a cluster, or more than 8",
          stmt_of(s, STMT_launch)->u.launch.cluster[0] = 9);
    SPOIL(launch, "launch k: no blocks in a cluster, or more than 8",
          stmt_of(s, STMT_launch)->u.launch.cluster[2] = 0);
    SPOIL(launch, "launch k: said to be noalias twice: `C`",
          struct ir_launch *l = &stmt_of(s, STMT_launch)->u.launch;
          vec_push(a, &l->noalias, s->k->params.at[s->k->params.n - 1].buffer);
          vec_push(a, &l->noalias, l->noalias.at[0]));
    SPOIL(launch, "let i: no value may have type `int` at this level",
          s->k->level = LEVEL_flat);
}

// Valid programs have no fault.
static void valid_programs(void **state)
{
    (void)state;
    const char *const texts[] = {loops,  stages, ring,  launch,
                                 allocs, parts,  copies};
    for (int i = 0; i < 6; i++) {
        struct arena a = {0};
        assert_null(ir_check(&a, kernel_text_unchecked(&a, texts[i])));
        arena_reset(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_programs),
        cmocka_unit_test(declarations),
        cmocka_unit_test(accesses),
        cmocka_unit_test(instructions_on_matrices),
        cmocka_unit_test(copies_by_tma),
        cmocka_unit_test(copies_by_threads),
        cmocka_unit_test(operands),
        cmocka_unit_test(vectors),
        cmocka_unit_test(statements),
        cmocka_unit_test(stages_and_allocs),
        cmocka_unit_test(marks),
        cmocka_unit_test(rings),
        cmocka_unit_test(removes_one_mark),
        cmocka_unit_test(levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
