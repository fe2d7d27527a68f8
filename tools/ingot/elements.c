// Elements that show what only certain values do.

#include "tools/ingot/elements.h"

#include "ir/base/num.h"
#include "ir/build.h"
#include "ir/eval.h"

enum { FEW = 3, LIMIT_EACH = 4 };

static const char *const names[] = {
#define ELEMENTS(name, class, meaning) #name,
#include "tools/ingot/elements.def"
#undef ELEMENTS
    NULL};

enum class { USUAL, SPECIAL };

static const enum class classes[] = {
#define ELEMENTS(name, class, meaning) class,
#include "tools/ingot/elements.def"
#undef ELEMENTS
};

const char *elements_name(enum elements kind)
{
    return names[kind];
}

const char *const *elements_names(void)
{
    return names;
}

bool elements_are_special(enum elements kind)
{
    return classes[kind] == SPECIAL;
}

// Return the greatest integer of a type, or the least.
static int64_t limit_of(struct type type, bool is_least)
{
    unsigned bits = type_bits(type) - type_is_signed(type);
    int64_t most =
        bits >= 63 ? INT64_MAX : (int64_t)((UINT64_C(1) << bits) - 1);
    if (!is_least)
        return most;
    return type_is_signed(type) ? -most - 1 : 0;
}

// Return the integer of a kind that some random bits choose.
static int64_t int_of(enum elements kind, struct type type, uint64_t bits)
{
    switch ((int)kind) {
    case ELEMENTS_ones: return 1;
    case ELEMENTS_few: return (int64_t)(bits % FEW);
    case ELEMENTS_limits:
        if (bits % LIMIT_EACH == 0 && !type_is_index(type))
            return limit_of(type, bits >> 63);
        return (int64_t)(bits >> 32 & 1);
    }
    return 0;
}

// Return the floating number of a kind that some random bits choose.
static double float_of(enum elements kind, uint64_t bits)
{
    switch ((int)kind) {
    case ELEMENTS_ones: return 1;
    case ELEMENTS_few: return (double)(bits % FEW);
    case ELEMENTS_limits: return (double)(bits >> 11) * 0x1p-50 - 4;
    }
    return 0;
}

void elements_write(enum elements kind, struct type type, uint64_t stream,
                    size_t n, void *out)
{
    char *at = out;
    for (size_t i = 0; i < n; i++, at += type_bytes(type)) {
        uint64_t bits = num_mix(stream ^ num_mix(i));
        if (type_is_float(type))
            eval_store_float(type, at, float_of(kind, bits));
        else
            eval_store_int(type, at,
                           ir_wrap_int(type, int_of(kind, type, bits)));
    }
}
