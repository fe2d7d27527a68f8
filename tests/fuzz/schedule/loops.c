// Kernels of explicit loops, from templates.
//
// In a template $N and $M are extents of axes, $T a number of threads, $A $B
// parameters of one dimension N, $D one of N by M, $C a result of N, $X an
// array of N in place, $t the element type.

#include "tests/fuzz/schedule/kernel.h"
#include "tests/support/draw.h"

#include <string.h>

static const char *const templates[] = {
    // elements of a block in the opposite order
    "    for b in 0..ceildiv($N, $T) @block.x {\n"
    "        alloc s: $t[$T] in shared\n"
    "        for t in 0..$T @thread.x {\n"
    "            let i = b * $T + t\n"
    "            if i < $N { s[t] = $A[i] } else { s[t] = 1 }\n"
    "            barrier\n"
    "            if i < $N { $C[i] = s[$T - 1 - t] + $B[i] }\n"
    "        }\n"
    "    }\n",
    // each row by a block: every thread sums a part, then a tree of halves
    "    for b in 0..$N @block.x {\n"
    "        alloc s: $t[64] in shared\n"
    "        for t in 0..64 @thread.x {\n"
    "            var own: $t = 0\n"
    "            for j in t..$M step 64 { own = max(own, $D[b, j]) }\n"
    "            s[t] = own\n"
    "            barrier\n"
    "            for u in 0..6 {\n"
    "                let half = 32 >> u\n"
    "                if t < half { s[t] = max(s[t], s[t + half]) }\n"
    "                barrier\n"
    "            }\n"
    "            if t == 0 { $C[b] = s[0] }\n"
    "        }\n"
    "    }\n",
    // a window through shared memory
    "    for b in 0..ceildiv($N, $T) @block.x {\n"
    "        alloc s: $t[$T + 1] in shared\n"
    "        for t in 0..$T @thread.x {\n"
    "            for c in t..$T + 1 step $T {\n"
    "                let i = b * $T + c\n"
    "                s[c] = i < $N ? $A[i] : 2\n"
    "            }\n"
    "            barrier\n"
    "            let i = b * $T + t\n"
    "            if i < $N { $C[i] = s[t] - s[t + 1] }\n"
    "        }\n"
    "    }\n",
    // counts in shared memory
    "    for b in 0..ceildiv($N, $T) @block.x {\n"
    "        alloc s: i32[8] in shared\n"
    "        for t in 0..$T @thread.x {\n"
    "            if t < 8 { s[t] = 0 }\n"
    "            barrier\n"
    "            let i = b * $T + t\n"
    "            if i < $N { let old = atomic_add(s[i % 8], i32($A[i])) }\n"
    "            barrier\n"
    "            if i < $N { $C[i] = $t(s[i % 8]) }\n"
    "        }\n"
    "    }\n",
    // a grid that goes over everything in strides
    "    for b in 0..3 @block.x {\n"
    "        for t in 0..$T @thread.x {\n"
    "            for i in b * $T + t..$N step 3 * $T {\n"
    "                $C[i] = $A[i] + $B[$N - 1 - i]\n"
    "            }\n"
    "        }\n"
    "    }\n",
    // elements that a thread keeps
    "    for b in 0..ceildiv($N, 4 * $T) @block.x {\n"
    "        for t in 0..$T @thread.x {\n"
    "            alloc r: $t[4] in local\n"
    "            for u in 0..4 {\n"
    "                let i = (b * 4 + u) * $T + t\n"
    "                r[u] = i < $N ? $A[i] : 1\n"
    "            }\n"
    "            for u in 0..4 {\n"
    "                let i = (b * 4 + u) * $T + t\n"
    "                if i < $N { $C[i] = r[u] + r[3 - u] }\n"
    "            }\n"
    "        }\n"
    "    }\n",
    // no bound loop: an alternating sum in place
    "    for i in 0..$N {\n"
    "        for j in 0..$M { $X[i] = $D[i, j] - $X[i] }\n"
    "    }\n",
    // a recurrence
    "    for i in 1..$N { $X[i] = $X[i - 1] + $A[i] }\n",
    // a triangle
    "    for i in 0..$N {\n"
    "        for j in 0..min(i, $M) { $X[i] = $X[i] + $D[i, j] }\n"
    "    }\n",
    // stages with loops of their own
    "    for i in 0..$N {\n"
    "        stage $X(v in $N = i) { $X[v] = $X[v] * 2 + $A[v] }\n"
    "    }\n"
    "    for i in 0..$N {\n"
    "        stage $C(v in $N = i) { $C[$N - 1 - v] = $X[v] + 1 }\n"
    "    }\n",
};

// A template being filled in.
struct filling {
    struct fuzz_kernel *k;
    struct fuzz_dim dims[2];
    const char *names[128]; // of the parameters declared, by letter
    unsigned threads;
};

// Return the name of the parameter that a letter stands for.
static const char *parameter(struct filling *f, char letter)
{
    char role = letter == 'C' || letter == 'X' ? letter : 'A';
    if (!f->names[(int)letter])
        f->names[(int)letter] =
            fuzz_parameter(f->k, role, letter == 'D' ? 2 : 1, f->dims)->name;
    return f->names[(int)letter];
}

// Append what a letter stands for.
static void print_letter(struct filling *f, char letter, struct buf *out)
{
    switch (letter) {
    case 'N': fuzz_dim_print(f->k, f->dims[0], out); break;
    case 'M': fuzz_dim_print(f->k, f->dims[1], out); break;
    case 'T': buf_printf(out, "%u", f->threads); break;
    case 't': buf_text(out, type_name(f->k->type)); break;
    default: buf_text(out, parameter(f, letter)); break;
    }
}

void fuzz_loops_draw(struct fuzz_kernel *k)
{
    static const unsigned threads[] = {8, 16, 31, 32, 33, 64, 96, 128};
    struct filling f = {.k = k, .threads = draw_one(k->random, threads)};
    f.dims[0].axis = (uint32_t)draw_below(k->random, k->n_axes);
    f.dims[1].axis = (uint32_t)draw_below(k->random, k->n_axes);
    for (const char *at = draw_one(k->random, templates); *at; at++) {
        if (*at == '$')
            print_letter(&f, *++at, &k->body);
        else
            buf_char(&k->body, *at);
    }
}
