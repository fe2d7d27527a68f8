// Tests of nvptx/emit_intrinsic.c: what stands for an intrinsic that an older
// LLVM lacks is what this one makes of it.

#include "nvptx/emit.h"

#include <llvm/Config/llvm-config.h>

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// Every row of the table.
static const struct row {
    const char *name;
    unsigned since;
    const char *constraints, *text;
} rows[] = {
#define LACKING(name, since, effect, constraints, text)                        \
    {name, since, constraints, text},
#include "nvptx/lacking.def"
};

enum { N_ROWS = sizeof rows / sizeof *rows, OPERANDS_MOST = 4, REGISTERS = 40 };

// What is emitted, and with what.
struct emission {
    struct arena arena;
    struct diag_list diags;
    struct nvptx_options options;
    struct emitter e;
};

// Begin a module for sm_90a.
static void start(struct emission *t)
{
    *t = (struct emission){0};
    nvptx_start();
    t->diags.arena = &t->arena;
    t->options.target = nvptx_target_find("sm_90a", &t->diags);
    t->e = (struct emitter){.arena = &t->arena,
                            .options = &t->options,
                            .diags = &t->diags,
                            .ptx = 80,
                            .fast_math = true,
                            .blame = D_llvm_failed};
    t->e.context = LLVMContextCreate();
    t->e.module = LLVMModuleCreateWithNameInContext("test", t->e.context);
    t->e.builder = LLVMCreateBuilderInContext(t->e.context);
}

// Free it.
static void end(struct emission *t)
{
    LLVMDisposeBuilder(t->e.builder);
    LLVMDisposeModule(t->e.module);
    LLVMContextDispose(t->e.context);
    arena_reset(&t->arena);
}

// Return the type of an intrinsic's operands and result; an overloaded one is
// on f32.
static LLVMTypeRef intrinsic_type(struct emission *t, const char *name)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMTypeRef on = LLVMFloatTypeInContext(t->e.context);
    assert_int_not_equal(id, 0);
    return LLVMIntrinsicGetType(t->e.context, id, &on,
                                LLVMIntrinsicIsOverloaded(id));
}

// Add a function that passes its parameters on, but a number where the
// instruction holds one, and stores what it gets.
static void add_function(struct emission *t, const struct row *row)
{
    LLVMTypeRef types[OPERANDS_MOST + 1];
    LLVMValueRef args[OPERANDS_MOST + 1];
    LLVMTypeRef type = intrinsic_type(t, row->name);
    LLVMTypeRef none = LLVMVoidTypeInContext(t->e.context);
    LLVMTypeRef on = LLVMFloatTypeInContext(t->e.context);
    unsigned n = LLVMCountParamTypes(type);
    unsigned id = LLVMLookupIntrinsicID(row->name, strlen(row->name));
    LLVMGetParamTypes(type, types);
    types[n] = LLVMPointerTypeInContext(t->e.context, 1);
    t->e.function = LLVMAddFunction(
        t->e.module, "k", LLVMFunctionType(none, types, n + 1, false));
    LLVMSetFunctionCallConv(t->e.function, LLVMPTXKernelCallConv);
    LLVMGetParams(t->e.function, args);
    LLVMPositionBuilderAtEnd(t->e.builder, emit_new_block(&t->e, "body"));
    if (strcmp(row->constraints, "n") == 0)
        args[0] = emit_int(&t->e, type_scalar(TYPE_u32), REGISTERS);
    LLVMValueRef got = emit_intrinsic(
        &t->e, row->name, LLVMIntrinsicIsOverloaded(id) ? on : NULL, args, n);
    if (LLVMGetReturnType(type) == on)
        emit_flagged(&t->e, got);
    if (LLVMGetReturnType(type) != none)
        LLVMBuildStore(t->e.builder, got, args[n]);
    LLVMBuildRetVoid(t->e.builder);
}

// Return the first line of PTX that has a word, without white space and the
// numbers of registers.
static const char *instruction_of(struct arena *arena, const char *ptx,
                                  const char *word)
{
    struct buf line = {0};
    bool in_register = false;
    const char *at = strstr(ptx, word);
    if (!at)
        print_error("no %s in %s", word, ptx);
    assert_non_null(at);
    for (; *at && *at != '\n'; at++) {
        in_register =
            *at == '%' || (in_register && isalnum((unsigned char)*at));
        bool is_number = in_register && isdigit((unsigned char)*at);
        if (!is_number && !isspace((unsigned char)*at))
            buf_char(&line, *at);
    }
    const char *kept = arena_printf(arena, "%s", line.data);
    buf_free(&line);
    return kept;
}

// Return the instruction that an intrinsic becomes where LLVM is of a version.
static const char *made_by(struct emission *t, const struct row *row,
                           unsigned version)
{
    struct buf text = {0};
    start(t);
    add_function(t, row);
    const char *opcode = arena_printf(&t->arena, "%.*s",
                                      (int)strcspn(row->text, " "), row->text);
    LLVMTargetMachineRef machine = ptx_machine(&t->e);
    assert_non_null(machine);
    assert_true(optimize_module(&t->e, machine));
    emit_replace_lacking(&t->e, version);
    assert_true(ptx_print(&t->e, machine, &text));
    LLVMDisposeTargetMachine(machine);
    const char *line = instruction_of(&t->arena, text.data, opcode);
    buf_free(&text);
    return line;
}

static void stands_for_what_llvm_makes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_ROWS; i++) {
        struct emission own, theirs;
        if (rows[i].since > LLVM_VERSION_MAJOR)
            continue;
        assert_string_equal(made_by(&own, &rows[i], rows[i].since - 1),
                            made_by(&theirs, &rows[i], LLVM_VERSION_MAJOR));
        end(&own);
        end(&theirs);
    }
}

static void reports_what_nothing_stands_for(void **state)
{
    (void)state;
    struct emission t;
    start(&t);
    emit_intrinsic(&t.e, "llvm.nvvm.no.such", NULL, NULL, 0);
    assert_int_equal(t.diags.errors, 1);
    assert_int_equal(t.diags.all.at[0].code, D_intrinsic_unknown);
    assert_non_null(strstr(t.diags.all.at[0].text, LLVM_VERSION_STRING));
    end(&t);
}

static void reports_an_architecture_that_came_later(void **state)
{
    (void)state;
    struct emission t;
    start(&t);
    struct nvptx_target later = *t.options.target;
    later.llvm = LLVM_VERSION_MAJOR + 1;
    t.options.target = &later;
    assert_null(ptx_machine(&t.e));
    assert_int_equal(t.diags.all.at[0].code, D_target_unknown_to_llvm);
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stands_for_what_llvm_makes),
        cmocka_unit_test(reports_what_nothing_stands_for),
        cmocka_unit_test(reports_an_architecture_that_came_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
