// Finds loops of machine code.
//
// A step from one instruction to another goes back if the other is on every way
// to the one.  The loop is what reaches that step without passing the other
// instruction, its head; steps back to one head are one loop.

#include "tools/ingot/sass.h"

#include <string.h>

// Instructions that are still to be looked at.
struct pending VEC(size_t);

// The search for loops.
struct finding {
    struct arena *arena;
    const struct sass_kernel *kernel;
    struct VEC(struct sass_loop) loops;
    struct VEC(size_t) heads; // of each
};

// Fill `out` with the instructions that may follow one; returns how many.
static int followers(const struct sass_kernel *k, size_t i, size_t out[2])
{
    int n = 0;
    if (!k->code.at[i].is_last && i + 1 < k->code.n)
        out[n++] = i + 1;
    if (k->code.at[i].target >= 0)
        out[n++] = (size_t)k->code.at[i].target;
    return n;
}

// Return which instructions are reached from the start without passing
// `avoided`, which is not among them; the number of instructions: none.
static bool *reached(struct finding *f, size_t avoided)
{
    const struct sass_kernel *k = f->kernel;
    bool *seen = arena_array(f->arena, bool, k->code.n + 1);
    struct pending open = {0};
    size_t next[2];
    seen[avoided] = true;
    if (!seen[0])
        vec_push(f->arena, &open, (size_t)0);
    seen[0] = true;
    while (open.n) {
        size_t at = open.at[--open.n];
        for (int n = followers(k, at, next); n-- > 0;) {
            if (!seen[next[n]])
                vec_push(f->arena, &open, next[n]);
            seen[next[n]] = true;
        }
    }
    seen[avoided] = false;
    return seen;
}

// Add to a loop what reaches `last`, the step back, without passing its head.
static void add_body(struct finding *f, bool *in, size_t head, size_t last)
{
    const struct sass_kernel *k = f->kernel;
    size_t next[2];
    in[head] = in[last] = true;
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t i = k->code.n; i-- > 0;) {
            if (in[i])
                continue;
            for (int n = followers(k, i, next); n-- > 0 && !in[i];)
                in[i] = in[next[n]] && next[n] != head;
            grew |= in[i];
        }
    }
}

// Return which instructions are the targets of branches.
static bool *targets(struct finding *f)
{
    const struct sass_kernel *k = f->kernel;
    bool *is_target = arena_array(f->arena, bool, k->code.n);
    for (size_t i = 0; i < k->code.n; i++) {
        if (k->code.at[i].target >= 0)
            is_target[k->code.at[i].target] = true;
    }
    return is_target;
}

// Return the loop with that head; `in` is NULL if nothing steps back to it.
static struct sass_loop loop_at(struct finding *f, const bool *alive,
                                size_t head)
{
    const struct sass_kernel *k = f->kernel;
    const bool *without = reached(f, head);
    struct sass_loop loop = {0};
    bool *in = arena_array(f->arena, bool, k->code.n);
    size_t next[2];
    for (size_t i = 0; i < k->code.n; i++) {
        for (int n = followers(k, i, next); n-- > 0;) {
            if (next[n] != head || !alive[i] || without[i])
                continue;
            loop.in = in;
            add_body(f, in, head, i);
        }
    }
    for (size_t i = 0; i < k->code.n; i++)
        loop.n += in[i];
    return loop;
}

// Find all loops.
static void find_loops(struct finding *f)
{
    const struct sass_kernel *k = f->kernel;
    const bool *is_target = targets(f), *alive = reached(f, k->code.n);
    for (size_t i = 0; i < k->code.n; i++) {
        if (!is_target[i] || !alive[i])
            continue;
        struct sass_loop loop = loop_at(f, alive, i);
        if (!loop.in)
            continue;
        vec_push(f->arena, &f->loops, loop);
        vec_push(f->arena, &f->heads, i);
    }
}

// Return the weight of a loop's instructions.
static uint64_t weight(const struct sass_kernel *k, const struct sass_loop *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < k->code.n; i++)
        sum += l->in[i] ? sass_class_info(k->code.at[i].class)->weight : 0;
    return sum;
}

// Return whether a loop holds another one that does more than wait.
static bool holds_work(const struct finding *f, size_t loop)
{
    const struct sass_loop *all = f->loops.at;
    for (size_t i = 0; i < f->loops.n; i++) {
        if (i != loop && all[loop].in[f->heads.at[i]] &&
            all[i].n < all[loop].n && weight(f->kernel, &all[i]))
            return true;
    }
    return false;
}

struct sass_loop sass_main_loop(struct arena *a,
                                const struct sass_kernel *kernel)
{
    struct finding f = {.arena = a, .kernel = kernel};
    struct sass_loop best = {0};
    uint64_t most = 0;
    find_loops(&f);
    for (size_t i = 0; i < f.loops.n; i++) {
        uint64_t sum = weight(kernel, &f.loops.at[i]);
        if (sum > most && !holds_work(&f, i)) {
            most = sum;
            best = f.loops.at[i];
        }
    }
    return best;
}
