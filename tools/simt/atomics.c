// Atomics with a scope, which are inline instructions:
//
//   atom.relaxed.cta.shared.add.u32 $0, [$1], $2;
//
// One thread runs at a time, so each is done at once; model.c knows what they
// put in order.

#include "tools/simt/code.h"

#include <string.h>

enum { FIELDS_BEFORE = 4 }; // atom, order, scope, space

// A row of atomics.def.
static const struct {
    const char *spelling;
    uint32_t bytes;
} rows[] = {
#define ATOMIC(name, spelling, bytes, result) {spelling, bytes},
#include "tools/simt/atomics.def"
#undef ATOMIC
};

enum {
#define ATOMIC(name, spelling, bytes, result) ROW_##name,
#include "tools/simt/atomics.def"
#undef ATOMIC
};

// Return the number that the low 32 bits are.
static float float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

// Return the bits of a number.
static uint64_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// The same of 64 bits.
static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// And back.
static uint64_t bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// Return the sum of two numbers of 16 bits.
static uint64_t add_short(enum type_kind kind, uint64_t a, uint64_t b)
{
    struct type t = type_scalar(kind);
    uint16_t sum;
    eval_store_float(t, &sum, eval_load_float(t, &a) + eval_load_float(t, &b));
    return sum;
}

int atomic_parse(const char *text, uint32_t *bytes)
{
    for (int i = 0; i < FIELDS_BEFORE && *text; i++)
        text += strcspn(text, ".") + (text[strcspn(text, ".")] != 0);
    size_t n = strcspn(text, " ");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].spelling) != n ||
            strncmp(rows[i].spelling, text, n) != 0)
            continue;
        *bytes = rows[i].bytes;
        return (int)i;
    }
    return -1;
}

void atomic_describe(const char *text, bool is_used, struct site *s)
{
    bool is_blind = strstr(text, ".exch.") && !is_used;
    bool acquires = strstr(text, ".acquire.") || strstr(text, ".acq_rel.");
    bool releases = strstr(text, ".release.") || strstr(text, ".acq_rel.");
    s->is_used = is_used;
    s->kind = ACCESS_READ | ACCESS_WRITE | ACCESS_ATOMIC |
              (is_blind ? ACCESS_BLIND : 0);
    s->reach = strstr(text, ".cta.")       ? REACH_BLOCK
               : strstr(text, ".cluster.") ? REACH_CLUSTER
                                           : REACH_GPU;
    s->ordering =
        (acquires ? ORDER_ACQUIRE : 0) | (releases ? ORDER_RELEASE : 0);
}

uint64_t simt_atomic(struct machine *m, void *p, uint64_t b, uint64_t row,
                     struct site *s)
{
    uint64_t a = 0, result = 0;
    p = simt_access_atomic(m, p, s);
    memcpy(&a, p, s->bytes);
    switch (row) {
#define ATOMIC(name, spelling, bytes, value)                                   \
    case ROW_##name:                                                           \
        result = value;                                                        \
        break;
#include "tools/simt/atomics.def"
#undef ATOMIC
    }
    memcpy(p, &result, s->bytes);
    return a;
}
