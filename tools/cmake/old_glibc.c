// What the archives that the static command is linked of want of the C library of today,
// for a link with an older one (INGOT_GLIBC_ROOT): the command then runs wherever that
// older one does.  Functions come under their names, or as --wrap puts them.

#define _GNU_SOURCE

#include <link.h>
#include <malloc.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

// Whether the process has one thread: it is not known.
char __libc_single_threaded;

// Return a random number.
uint32_t arc4random(void)
{
    uint32_t number = 0;
    while (getrandom(&number, sizeof number, 0) != sizeof number)
        continue;
    return number;
}

// Return nothing about the memory: LLVM asks for its statistics only.
struct mallinfo2 mallinfo2(void)
{
    return (struct mallinfo2){0};
}

// What is looked for, and where it was found.
struct search {
    uintptr_t at;
    struct dl_find_object *found;
};

// Fill the result if the address is in this object.  Returns whether it is.
static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *s = context;
    uintptr_t begin = 0, end = 0, frames = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_GNU_EH_FRAME)
            frames = from;
        if (p->p_type == PT_LOAD && from <= s->at &&
            s->at - from < p->p_memsz) {
            begin = from;
            end = from + p->p_memsz;
        }
    }
    if (!begin || !frames)
        return 0;
    s->found->dlfo_map_start = (void *)begin;
    s->found->dlfo_map_end = (void *)end;
    s->found->dlfo_eh_frame = (void *)frames;
    return 1;
}

// Find the tables of the object that holds an address, for the unwinder.
// Returns 0, or -1 if there is none.
int _dl_find_object(void *at, struct dl_find_object *found)
{
    struct search s = {(uintptr_t)at, found};
    memset(found, 0, sizeof *found);
    return dl_iterate_phdr(look, &s) ? 0 : -1;
}

// The first version of the C library for this kind of machine.
#ifdef __aarch64__
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif

// Functions that have a newer version than programs for old systems can ask for: the old
// one sets errno in other cases, and returns the same.
#define OLD(type, name, parameters, arguments)                                 \
    __asm__(".symver old_" #name ", " #name "@" FIRST);                        \
    type old_##name parameters;                                                \
    type __wrap_##name parameters;                                             \
    type __wrap_##name parameters                                              \
    {                                                                          \
        return old_##name arguments;                                           \
    }
OLD(double, exp, (double x), (x))
OLD(double, log, (double x), (x))
OLD(double, pow, (double x, double y), (x, y))
OLD(double, exp2, (double x), (x))
OLD(double, log2, (double x), (x))
