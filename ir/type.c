// Reads the operand letters of ir/ops.def.

#include "ir/type.h"

const char *ir_type_text(struct arena *a, struct type t)
{
    if (t.lanes == 1)
        return type_name(t);
    return arena_printf(a, "%sx%u", type_name(t), t.lanes);
}

// Return whether a type fits an operand letter.
static bool fits(char letter, struct type t)
{
    switch (letter) {
    case 'n': return t.kind != TYPE_bool && !type_is_storage(t);
    case 'i': return type_is_integer(t);
    case 'f': return type_is_float(t) && !type_is_storage(t);
    case 'b': return t.kind == TYPE_bool;
    case 'x': return type_is_index(t);
    case 'q': return type_is_byte(t) && t.lanes == 4;
    case 'w': return (t.kind == TYPE_i32 || t.kind == TYPE_u32) && t.lanes == 1;
    case 'u': return (t.kind == TYPE_u32 || t.kind == TYPE_u64) && t.lanes == 1;
    }
    return true;
}

// Return what an operand letter asks for, in words.
static const char *letter_text(char letter)
{
    switch (letter) {
    case 'n': return "a number";
    case 'i': return "an integer";
    case 'f': return "a floating number";
    case 'b': return "a bool";
    case 'x': return "an index";
    case 'q': return "a vector of four i8 or u8";
    case 'w': return "an i32 or a u32";
    case 'u': return "a u32 or a u64";
    }
    return "a value";
}

bool ir_letter_decides(char letter)
{
    return !strchr("xqw", letter);
}

// Check that the operands have the type of operand `first`, in kind; and in
// lanes, but a scalar condition chooses between vectors.
static bool same_types(struct arena *a, const struct ir_op_info *info,
                       uint32_t n, const struct type *t, const char **wrong)
{
    uint32_t first = info->operands[0] == 'b' && n == 3;
    bool is_scalar_choice = first == 1 && t[0].lanes == 1;
    for (uint32_t i = 0; i < n; i++) {
        if (i < strlen(info->operands) && !ir_letter_decides(info->operands[i]))
            continue;
        bool ok = i < first ? is_scalar_choice || t[i].lanes == t[first].lanes
                            : type_equal(t[i], t[first]);
        if (!ok) {
            *wrong = arena_printf(a, "operands of `%s` have types %s and %s",
                                  info->spelling,
                                  ir_type_text(a, t[i < first ? i : first]),
                                  ir_type_text(a, t[i < first ? first : i]));
            return false;
        }
    }
    return true;
}

// Check each operand of an operation against its letter.
static bool letters_fit(struct arena *a, const struct ir_op_info *info,
                        uint32_t n, const struct type *t, const char **wrong)
{
    const char *letter = info->operands;
    for (uint32_t i = 0; i < n; i++) {
        if (!fits(*letter, t[i])) {
            *wrong = arena_printf(a, "`%s` needs %s, not %s", info->spelling,
                                  letter_text(*letter), ir_type_text(a, t[i]));
            return false;
        }
        letter += *letter != '*';
    }
    return true;
}

// Check how many operands there are.
static bool count_fits(struct arena *a, const struct ir_op_info *info,
                       uint32_t n, const char **wrong)
{
    size_t wanted = strlen(info->operands);
    if (info->operands[0] == '*') {
        if (n >= 2 && n <= 16)
            return true;
        *wrong = arena_printf(a, "`%s` takes 2 to 16 operands, not %lld",
                              info->spelling, (long long)n);
        return false;
    }
    if (n == wanted)
        return true;
    *wrong =
        arena_printf(a, "`%s` takes %lld operand%s, not %lld", info->spelling,
                     (long long)wanted, wanted == 1 ? "" : "s", (long long)n);
    return false;
}

// Check what the letters cannot say: no arithmetic on storage types, no
// vectors of vectors, atomics and what threads exchange have one lane.
static bool details_fit(struct arena *a, enum ir_op op, const struct type *t,
                        const char **wrong)
{
    const struct ir_op_info *info = ir_op_info(op);
    bool is_comparison = op == OP_eq || op == OP_ne;
    bool is_scalar =
        op == OP_lanes || (info->flags & (OP_WRITES | OP_TOGETHER));
    if (is_comparison && type_is_storage(t[0]))
        *wrong = arena_printf(a, "`%s` cannot compare %s: convert it first",
                              info->spelling, ir_type_text(a, t[0]));
    else if (is_scalar && t[0].lanes > 1)
        *wrong = arena_printf(a, "`%s` needs scalars, not %s", info->spelling,
                              ir_type_text(a, t[0]));
    else
        return true;
    return false;
}

// Return whether a number has the one type whose bits an operation is about.
static bool bits_fit(struct arena *a, enum ir_op op, struct type t,
                     const char **wrong)
{
    enum type_kind wanted = op == OP_bits_float ? TYPE_u32 : TYPE_f32;
    bool is_of_bits =
        op == OP_float_bits || op == OP_bits_float || op == OP_tf32;
    if (t.kind == wanted || !is_of_bits)
        return true;
    *wrong = arena_printf(a, "`%s` needs %s, not %s", ir_op_info(op)->spelling,
                          type_name(type_scalar(wanted)), ir_type_text(a, t));
    return false;
}

uint32_t ir_result_operand(enum ir_op op, uint32_t n)
{
    bool is_last = ir_op_info(op)->result == RESULT_LAST;
    return op == OP_select ? 1 : is_last ? n - 1 : 0;
}

struct type ir_result_of(enum ir_op op, struct type operand)
{
    switch (ir_op_info(op)->result) {
    case RESULT_BOOL: operand.kind = TYPE_bool; break;
    case RESULT_MASK:
    case RESULT_WORD: operand.kind = TYPE_u32; break;
    case RESULT_SINGLE: operand.kind = TYPE_f32; break;
    case RESULT_SAME:
    case RESULT_LAST:
    case RESULT_OWN: break;
    }
    return operand;
}

bool ir_result_type(struct arena *a, enum ir_op op, uint32_t n,
                    const struct type *operands, struct type *result,
                    const char **wrong)
{
    const struct ir_op_info *info = ir_op_info(op);
    if (!count_fits(a, info, n, wrong) ||
        !letters_fit(a, info, n, operands, wrong) ||
        !same_types(a, info, n, operands, wrong) ||
        !details_fit(a, op, operands, wrong) ||
        !bits_fit(a, op, operands[0], wrong))
        return false;
    *result = ir_result_of(op, operands[ir_result_operand(op, n)]);
    if (op == OP_lanes)
        result->lanes = (uint8_t)n;
    return true;
}
