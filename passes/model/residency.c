// How many blocks of a launch an SM holds.
//
// Registers are known to the assembler only.  Where it has not run, they are guessed: what the largest
// array in registers takes, half of what the others do, which seldom live all
// together, and some for indices; never more than the launch allows.

#include "passes/model/residency.h"

#include "ir/base/num.h"
#include "ir/gpu.h"
#include "ir/shared.h"
#include "ir/walk.h"

#include <string.h>

// What an SM gives out, and what every thread and block takes.
enum {
    REGISTERS = 65536,
    REGISTERS_UNIT = 8,
    REGISTERS_MOST = 255,
    REGISTERS_LEAST = 16,
    REGISTERS_OF_INDICES = 24,
    REGISTER_BYTES = 4,
    BLOCKS_MOST = 32,
    SHARED_OF_BLOCK = 1024 // that the system keeps
};

// Return the bytes in registers that a statement declares.
static int64_t declared(struct arena *a, const struct ir_stmt *s)
{
    if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_local)
        return shared_bytes(a, s->u.buffer);
    if (s->kind == STMT_var)
        return (int64_t)type_bytes(s->u.let.var->type);
    return 0;
}

// Return the registers that a launch promises; 0: it says nothing.
static int64_t promised(const struct ir_launch *l, int64_t threads)
{
    if (l->max_registers)
        return l->max_registers;
    if (!l->min_blocks || !threads)
        return 0;
    int64_t each = REGISTERS / (threads * l->min_blocks);
    return each - each % REGISTERS_UNIT;
}

// Return the registers of a thread, if the assembler has run; else 0.
static int64_t known(const struct model_question *question,
                     const struct ir_launch *l)
{
    vec_foreach(one, &question->code)
        if (strcmp(one->entry, l->name) == 0)
            return one->registers;
    return 0;
}

// Guess the registers of a thread.
static int64_t guess(struct arena *a, const struct ir_launch *l,
                     int64_t threads)
{
    int64_t largest = 0, all = 0;
    ir_foreach_stmt(s, &l->body) {
        int64_t bytes = declared(a, s);
        largest = bytes > largest ? bytes : largest;
        all += bytes;
    }
    int64_t bytes = largest + (all - largest) / 2;
    int64_t n = REGISTERS_OF_INDICES + bytes / REGISTER_BYTES;
    int64_t most = promised(l, threads);
    int64_t block = REGISTERS / (threads ? threads : 1);
    most = most && most < REGISTERS_MOST ? most : REGISTERS_MOST;
    most = block < most ? block : most;
    n = n > most ? most : n;
    return n < REGISTERS_LEAST ? REGISTERS_LEAST : n;
}

// Return the smaller of two quotients; one by 0 counts as none.
static int64_t least(int64_t most, int64_t all, int64_t each)
{
    int64_t n = each > 0 ? all / each : most;
    return n < most ? n : most;
}

// Return the bytes of the arrays in shared memory.  Few do not share theirs, which
// is found out only if it matters.
static int64_t shared_of(struct arena *a, const struct ir_launch *l)
{
    int64_t bytes = 0;
    ir_foreach_stmt(s, &l->body)
        if (s->kind == STMT_alloc && s->u.buffer->space == SPACE_shared)
            bytes += shared_bytes(a, s->u.buffer);
    return bytes > SHARED_STATIC_MOST ? shared_layout(a, l).bytes : bytes;
}

// Return the blocks that run at the same time. The blocks of a cluster are on SMs of one
// GPC, which leaves SMs without one where clusters are large: 30 clusters of 4 blocks ran
// at a time on 132 SMs (tools/bench/RESULTS.md, split-K in one launch).
static int64_t resident(const struct ir_launch *l, int64_t blocks)
{
    enum { LARGE = 4, OF = 11, USED = 10 };
    int64_t cluster = 1;
    for (int d = 0; d < 3; d++)
        cluster *= l->cluster[d] ? l->cluster[d] : 1;
    if (cluster >= LARGE)
        blocks = blocks * USED / OF;
    int64_t n = blocks / cluster * cluster;
    return n > 0 ? n : cluster;
}

void residency_find(struct arena *a, const struct model_question *question,
                    struct model_launch *out)
{
    const struct model_device *device = question->device;
    const struct ir_launch *l = out->launch;
    int64_t threads = (int64_t)l->block[0] * l->block[1] * l->block[2];
    int64_t lanes = (threads + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    int64_t registers = known(question, l);
    registers = registers ? registers : guess(a, l, lanes);
    int64_t unit = REGISTERS_UNIT;
    int64_t rounded = (registers + unit - 1) / unit * unit;
    out->threads = (int)threads;
    out->registers = (int)registers;
    out->shared_bytes = shared_of(a, l);
    int64_t n = least(BLOCKS_MOST, device->threads, lanes);
    n = least(n, REGISTERS, rounded * lanes);
    if (out->shared_bytes > 0)
        n = least(n, (int64_t)device->shared * 1024,
                  out->shared_bytes + SHARED_OF_BLOCK);
    out->blocks_per_sm = n > 0 ? n : 1;
    out->resident = resident(l, out->blocks_per_sm * device->sms);
    out->occupancy = (double)(out->blocks_per_sm * lanes) / device->threads;
}
