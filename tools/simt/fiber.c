// Switching stacks: by hand on x86-64, since a swapcontext asks the kernel for
// the signal mask each time and takes twenty times as long.

#include "tools/simt/fiber.h"

#include <stdint.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

// Forget what the sanitizer knows of a stack: a fiber that ran on it before
// may have been left in the middle.
static void clean(void *base, size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(base, bytes);
#else
    (void)base;
    (void)bytes;
#endif
}

#if defined __x86_64__ && !defined SIMT_UCONTEXT

// The registers that a call keeps (System V ABI), pushed from rbp to r15.
// Nothing changes the modes of the floating point units.
__asm__(".text\n"
        ".globl fiber_switch\n"
        ".hidden fiber_switch\n"
        ".type fiber_switch, @function\n"
        "fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_switch, . - fiber_switch\n"
        ".hidden fiber_start\n"
        ".type fiber_start, @function\n"
        "fiber_start:\n"
        "    movq %r12, %rdi\n"
        "    callq *%rbx\n"
        "    ud2\n"
        ".size fiber_start, . - fiber_start\n");

void fiber_start(void);

enum { SAVED = 6, RBX = 4, R12 = 3 };

void *fiber_prepare(void *base, size_t bytes, void (*run)(void *),
                    void *argument)
{
    uintptr_t end = ((uintptr_t)base + bytes) & ~(uintptr_t)15;
    clean(base, bytes);
    uintptr_t *top = (uintptr_t *)end - SAVED - 3;
    for (int i = 0; i < SAVED; i++)
        top[i] = 0;
    top[RBX] = (uintptr_t)run;
    top[R12] = (uintptr_t)argument;
    top[SAVED] = (uintptr_t)fiber_start;
    top[SAVED + 1] = top[SAVED + 2] = 0;
    return top;
}

#else

#include <ucontext.h>

// What lies at the low end of a new stack.
struct start {
    ucontext_t context;
    void (*run)(void *);
    void *argument;
};

// A saved stack is the context that is on it.
void fiber_switch(void **from, void *to)
{
    ucontext_t here;
    *from = &here;
    swapcontext(&here, to);
}

// Begin a fiber: makecontext passes int only, so the address comes in halves.
static void begin(unsigned high, unsigned low)
{
    const struct start *s = (void *)(((uintptr_t)high << 32) | low);
    s->run(s->argument);
    abort();
}

void *fiber_prepare(void *base, size_t bytes, void (*run)(void *),
                    void *argument)
{
    struct start *s = base;
    size_t room = (sizeof *s + 63) & ~(size_t)63;
    uintptr_t address = (uintptr_t)s;
    clean(base, bytes);
    s->run = run;
    s->argument = argument;
    getcontext(&s->context);
    s->context.uc_stack.ss_sp = (char *)base + room;
    s->context.uc_stack.ss_size = bytes - room;
    s->context.uc_link = NULL;
    makecontext(&s->context, (void (*)(void))begin, 2,
                (unsigned)(address >> 32), (unsigned)address);
    return &s->context;
}

#endif
