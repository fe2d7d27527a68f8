// Tests of nvptx/optimize.c: what must hold of the optimised module.

#include "nvptx/emit.h"

#include <llvm-c/IRReader.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

// Two rounds around a barrier, without the hint that forbids unrolling.
static const char two_rounds[] =
    "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n"
    "define ptx_kernel void @k(ptr addrspace(1) %p) {\n"
    "entry:\n"
    "  br label %loop\n"
    "loop:\n"
    "  %i = phi i32 [0, %entry], [%next, %loop]\n"
    "  store volatile i32 %i, ptr addrspace(1) %p\n"
    "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
    "  %next = add nsw i32 %i, 1\n"
    "  %more = icmp slt i32 %next, 2\n"
    "  br i1 %more, label %loop, label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n";

static void refuses_barriers_that_multiply(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct diag_list diags = {.arena = &arena};
    struct nvptx_options options = {.opt_level = 2};
    options.target = nvptx_target_find("sm_80", &diags);
    struct emitter e = {.arena = &arena, .options = &options, .diags = &diags};
    e.context = LLVMContextCreate();
    nvptx_start();
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(
        two_rounds, sizeof two_rounds - 1, "test");
    char *message = NULL;
    assert_false(LLVMParseIRInContext(e.context, text, &e.module, &message));
    LLVMTargetMachineRef machine = ptx_machine(&e);
    assert_false(optimize_module(&e, machine));
    assert_int_equal(diags.errors, 1);
    assert_int_equal(diags.all.at[0].code, D_barrier_multiplied);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(e.module);
    LLVMContextDispose(e.context);
    arena_reset(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_barriers_that_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
