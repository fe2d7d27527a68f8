// Scores the register banks of FFMAs.
//
// An FFMA reads three registers.  One that the instruction right before it
// marked for reuse, in the same place of its operands, comes from a cache and
// costs no bank anything.

#include "tools/ingot/banks.h"

#include <string.h>

enum {
    INSTR_BYTES = 16,
    OPCODE_MASK = 0xfff,
    OPCODE_FFMA = 0x223, // d = a * b + c, all of them registers
    OPERANDS = 3,
    BANKS_MOST = 4,
    ZERO = 255, // the register that is always 0
};

// A row of banks.def.
struct bank_row {
    uint32_t first, last, banks, cycles;
};

static const struct bank_row rows[] = {
#define BANKS(first, last, banks, cycles) {first, last, banks, cycles},
#include "tools/ingot/banks.def"
#undef BANKS
};

// Registers in the places of operands; ZERO: none.
struct operands {
    uint8_t at[OPERANDS];
};
static const struct operands nothing = {{ZERO, ZERO, ZERO}};

// Read the operands of an FFMA, and which of them it marks for reuse.
static struct operands decode(uint64_t low, uint64_t high,
                              struct operands *reused)
{
    struct operands o = {
        {low >> 24 & 0xff, low >> 32 & 0xff, (uint8_t)(high & 0xff)}};
    for (int i = 0; i < OPERANDS; i++)
        reused->at[i] = high >> (58 + i) & 1 ? o.at[i] : ZERO;
    return o;
}

// Return how many registers the busiest bank must give; `reads` gets how many
// all of them must.  A register that is named twice is read once.
static uint32_t busiest(const struct bank_row *row, const struct operands *o,
                        const struct operands *cached, uint32_t *reads)
{
    uint32_t load[BANKS_MOST] = {0}, most = 0;
    *reads = 0;
    for (int i = 0; i < OPERANDS; i++) {
        uint8_t r = o->at[i];
        bool is_repeated = (i > 0 && r == o->at[0]) || (i > 1 && r == o->at[1]);
        if (r == ZERO || r == cached->at[i] || is_repeated)
            continue;
        uint32_t now = ++load[r % row->banks];
        most = now > most ? now : most;
        ++*reads;
    }
    return most;
}

// Score code by a row.
static struct bank_score score(const struct bank_row *row, const uint8_t *code,
                               size_t size)
{
    struct bank_score s = {0};
    struct operands cached = nothing, reused;
    for (; size >= INSTR_BYTES; code += INSTR_BYTES, size -= INSTR_BYTES) {
        uint64_t low, high;
        uint32_t reads;
        memcpy(&low, code, sizeof low);
        memcpy(&high, code + sizeof low, sizeof high);
        if ((low & OPCODE_MASK) != OPCODE_FFMA) {
            cached = nothing;
            continue;
        }
        struct operands o = decode(low, high, &reused);
        uint32_t cycles = busiest(row, &o, &cached, &reads);
        cycles = cycles > row->cycles ? cycles : row->cycles;
        s.all++;
        s.reads += reads;
        s.full_rate += cycles == row->cycles;
        s.cycles += cycles;
        cached = reused;
    }
    return s;
}

bool banks_score(uint32_t sm, const uint8_t *code, size_t size,
                 struct bank_score *out)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (sm < rows[i].first || sm > rows[i].last)
            continue;
        *out = score(&rows[i], code, size);
        return true;
    }
    return false;
}
