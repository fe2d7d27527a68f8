// Matrix instructions: each becomes one inline assembly, by ir/matrix.def.

#include "ir/arch_set.h"
#include "nvptx/emit_assembly.h"

#include <llvm/Config/llvm-config.h>

// Whether LLVM has registers of their own for floats, which PTX does not take for tf32.
static const bool has_typed_registers = LLVM_VERSION_MAJOR < 21;

struct registers matrix_registers(struct emitter *e, const struct ir_stmt *s,
                                  enum matrix_operand which)
{
    const struct ir_expr *at = s->u.matrix.tiles[which].at;
    struct matrix_info info = matrix_info(s->u.matrix.op);
    struct matrix_layout layout;
    matrix_layout(s->u.matrix.op, which, &layout);
    struct type t = info.part[which].type;
    uint32_t bits = layout.elements * type_bits(t);
    uint32_t n = bits / type_bits(at->type);
    struct type held =
        has_typed_registers && which != MATRIX_D && t.kind == TYPE_f32
            ? type_scalar(TYPE_u32)
            : at->type;
    return registers_of(emit_address(e, at->u.buffer, at->args[0]), held, n);
}

LLVMValueRef matrix_address(struct emitter *e, const struct ir_stmt *s,
                            enum matrix_operand which)
{
    const struct ir_expr *at = s->u.matrix.tiles[which].at;
    return emit_shared_address(e, at->u.buffer, at->args[0]);
}

LLVMValueRef matrix_keeps(struct emitter *e, const struct ir_stmt *s)
{
    const struct ir_expr *keep = s->u.matrix.keep;
    return keep ? emit_value(e, keep)
                : LLVMConstInt(LLVMInt1TypeInContext(e->context), 1, false);
}

// MMA: `op {d}, {a}, {b}, {c};`, where c is d, or zeros.
static void emit_mma(struct emitter *e, const struct ir_stmt *s)
{
    struct assembly a = {0};
    struct registers r[MATRIX_OPERANDS];
    for (int i = 0; i < MATRIX_OPERANDS; i++)
        r[i] = matrix_registers(e, s, (enum matrix_operand)i);
    unsigned n = r[MATRIX_D].n, n_a = r[MATRIX_A].n, n_b = r[MATRIX_B].n;
    assembly_results(e, &a, &r[MATRIX_D]);
    assembly_inputs(e, &a, &r[MATRIX_A], -1);
    assembly_inputs(e, &a, &r[MATRIX_B], -1);
    assembly_inputs(e, &a, &r[MATRIX_D], -1);
    LLVMValueRef keep = matrix_keeps(e, s);
    for (unsigned i = a.n_inputs - n; i < a.n_inputs; i++)
        a.in[i] =
            LLVMBuildSelect(e->builder, keep, a.in[i],
                            LLVMConstNull(register_type(e, &r[MATRIX_D])), "");
    matrix_ptx(&a.text, s->u.matrix.op);
    buf_char(&a.text, ' ');
    assembly_names(&a, 0, n);
    buf_char(&a.text, ',');
    assembly_names(&a, n, n_a);
    buf_char(&a.text, ',');
    assembly_names(&a, n + n_a, n_b);
    buf_char(&a.text, ',');
    assembly_names(&a, n + n_a + n_b, n);
    buf_char(&a.text, ';');
    assembly_store(e, &r[MATRIX_D], assembly_build(e, &a, false), 0);
}

// LOAD: `op {d}, [row];`.
static void emit_load_rows(struct emitter *e, const struct ir_stmt *s)
{
    struct assembly a = {0};
    struct registers d = matrix_registers(e, s, MATRIX_D);
    assembly_results(e, &a, &d);
    assembly_input(&a, "l", matrix_address(e, s, MATRIX_A));
    matrix_ptx(&a.text, s->u.matrix.op);
    buf_char(&a.text, ' ');
    assembly_names(&a, 0, d.n);
    buf_printf(&a.text, ",[$%u];", d.n);
    assembly_store(e, &d, assembly_build(e, &a, true), 0);
}

// STORE: `op [row], {d};`.
static void emit_store_rows(struct emitter *e, const struct ir_stmt *s)
{
    struct assembly a = {0};
    struct registers d = matrix_registers(e, s, MATRIX_D);
    assembly_input(&a, "l", matrix_address(e, s, MATRIX_A));
    assembly_inputs(e, &a, &d, -1);
    matrix_ptx(&a.text, s->u.matrix.op);
    buf_text(&a.text, " [$0],");
    assembly_names(&a, 1, d.n);
    buf_char(&a.text, ';');
    assembly_build(e, &a, true);
}

// Check that the architecture has the instruction, or report E0753.
static bool check_target(struct emitter *e, const struct ir_stmt *s,
                         const struct matrix_info *info)
{
    const struct nvptx_target *t = e->options->target;
    if (nvptx_target_in(t, info->set))
        return true;
    if (e->is_foreign)
        return false;
    e->is_foreign = true;
    struct buf name = {0};
    matrix_name(&name, s->u.matrix.op);
    diag_error(e->diags, s->span, D_matrix_target, name.data,
               arch_set_words(e->arena, info->set), t->name);
    diag_help(e->diags, "let a schedule be for it: `schedule %s for %s`",
              e->kernel->name, arch_set_names(e->arena, info->set));
    buf_free(&name);
    return false;
}

void emit_matrix(struct emitter *e, const struct ir_stmt *s)
{
    struct matrix_info info = matrix_info(s->u.matrix.op);
    if (!check_target(e, s, &info))
        return;
    emit_need_ptx(e, info.version);
    switch (info.kind) {
    case MATRIX_MMA: emit_mma(e, s); break;
    case MATRIX_WGMMA: emit_wgmma(e, s); break;
    case MATRIX_LOAD: emit_load_rows(e, s); break;
    case MATRIX_STORE: emit_store_rows(e, s); break;
    }
}
