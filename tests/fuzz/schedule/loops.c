// Kernels of explicit loops, from templates.
//
// In a template $N and $M are extents of axes, $T a number of threads, $A $B
// parameters of one dimension N, $D one of N by M, $C a result of N, $X an
// array of N in place, $t the element type.  $x $y $z are integer types, $a one
// that atomics take, $E $F $H parameters of x, y, a, $G $K results of z, a, all of
// N; $p is a number of any integer type.

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
    // four elements a thread, in three types
    "    for b in 0..ceildiv($N, 4 * $T) @block.x {\n"
    "        for t in 0..$T @thread.x {\n"
    "            for u: $y in 0..4 {\n"
    "                let i = (b * $T + t) * 4 + u\n"
    "                if i < $N { $G[i] = $z($x($F[i]) + $E[i]) + $z($p) }\n"
    "            }\n"
    "        }\n"
    "    }\n",
    // bounds, steps and indices that are elements
    "    for b in 0..ceildiv($N, $T) @block.x {\n"
    "        for t in 0..$T @thread.x {\n"
    "            let i = b * $T + t\n"
    "            alloc r: $z[4] in local\n"
    "            for k in 0..4 { r[k] = $z(k) * 3 }\n"
    "            if i < $N {\n"
    "                let w = $E[i] & 3\n"
    "                var sum: $z = 1\n"
    "                for j: $x in 0..w { sum = sum + $z(j) * $z($p) }\n"
    "                for j in 0..int($F[i] & 7) step 2 { sum = sum + $z(j) }\n"
    "                $G[i] = sum - r[w]\n"
    "            }\n"
    "        }\n"
    "    }\n",
    // sums, or the greatest, of elements that have the same number modulo 5
    "    for b in 0..ceildiv($N, $T) @block.x {\n"
    "        alloc s: $a[5] in shared\n"
    "        for t in 0..$T @thread.x {\n"
    "            if t < 5 { s[t] = $a(t) }\n"
    "            barrier\n"
    "            let i = b * $T + t\n"
    "            if i < $N { let old = atomic_add(s[i % 5], $a($E[i])) }\n"
    "            barrier\n"
    "            if i < $N { let old = atomic_max(s[i % 5], $H[i]) }\n"
    "            barrier\n"
    "            if i < $N { $K[i] = s[i % 5] + $a($p) }\n"
    "        }\n"
    "    }\n",
    // shared memory of one type for values of another, a stride of a third
    "    for b in 0..2 @block.x {\n"
    "        alloc s: $y[$T] in shared\n"
    "        for t in 0..$T @thread.x {\n"
    "            for c in 0..ceildiv($N, 2 * $T) {\n"
    "                let i = (c * 2 + b) * $T + t\n"
    "                if i < $N { s[t] = $y($E[i]) }\n"
    "                barrier\n"
    "                if i < $N { $G[i] = $z(s[t]) + $z(t) }\n"
    "                barrier\n"
    "            }\n"
    "        }\n"
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
    struct type types[128]; // that small letters stand for
    unsigned threads;
};

// Return the small letter of the type of the elements that a capital has.
static char type_letter(char letter)
{
    switch (letter) {
    case 'E': return 'x';
    case 'F': return 'y';
    case 'G': return 'z';
    case 'H':
    case 'K': return 'a';
    default: return 't';
    }
}

// Return the name of the parameter that a letter stands for.
static const char *parameter(struct filling *f, char letter)
{
    bool is_result = letter == 'C' || letter == 'G' || letter == 'K';
    char role = is_result ? 'C' : letter == 'X' ? 'X' : 'A';
    struct type own = f->k->type;
    if (f->names[(int)letter])
        return f->names[(int)letter];
    f->k->type = f->types[(int)type_letter(letter)];
    f->names[(int)letter] =
        letter == 'p'
            ? fuzz_number(f->k)
            : fuzz_parameter(f->k, role, letter == 'D' ? 2 : 1, f->dims)->name;
    f->k->type = own;
    return f->names[(int)letter];
}

// Draw the types that small letters stand for.
static void draw_types(struct filling *f)
{
    static const enum type_kind counted[] = {TYPE_i32, TYPE_u32, TYPE_u64};
    for (int letter = 'x'; letter <= 'z'; letter++)
        f->types[letter] = fuzz_integer(f->k);
    f->types['a'] = type_scalar(draw_one(f->k->random, counted));
    f->types['t'] = f->k->type;
}

// Append what a letter stands for.
static void print_letter(struct filling *f, char letter, struct buf *out)
{
    switch (letter) {
    case 'N': fuzz_dim_print(f->k, f->dims[0], out); break;
    case 'M': fuzz_dim_print(f->k, f->dims[1], out); break;
    case 'T': buf_printf(out, "%u", f->threads); break;
    case 'a':
    case 't':
    case 'x':
    case 'y':
    case 'z': buf_text(out, type_name(f->types[(int)letter])); break;
    default: buf_text(out, parameter(f, letter)); break;
    }
}

void fuzz_loops_draw(struct fuzz_kernel *k)
{
    static const unsigned threads[] = {8, 16, 31, 32, 33, 64, 96, 128};
    struct filling f = {.k = k, .threads = draw_one(k->random, threads)};
    k->is_mixed = false;
    draw_types(&f);
    f.dims[0].axis = (uint32_t)draw_below(k->random, k->n_axes);
    f.dims[1].axis = (uint32_t)draw_below(k->random, k->n_axes);
    for (const char *at = draw_one(k->random, templates); *at; at++) {
        if (*at == '$')
            print_letter(&f, *++at, &k->body);
        else
            buf_char(&k->body, *at);
    }
}
