// A record of tuning: what was measured of a way to run a kernel at some sizes.
//
//   mm M=512 N=512 on "NVIDIA H200" sm_90a rule gemm_few 13 columns=256 :
//       state=measured us=9.21 ratio=0.875 spread=0.4 turns=40
//       date=2026-01-31T12:00:00Z kernel=1f00 text=7a31 version=0.1.0
//
// on one line.  In front of the colon: the kernel, its sizes, the device, the
// architecture that it was compiled for; `rule` with a name, `schedule`, or `build`
// for what a build takes without records; the number among the kernel's
// schedules, from 1; settings of parameters and knobs.  Behind it: how it ended,
// microseconds, their ratio to those of `build` in the same minute, the spread
// of that in percent, in how many turns; hashes of the kernel's meaning and of the
// schedule's text.  Texts with blanks are in quotes.

#ifndef TOOLS_LIBINGOT_RECORD_H
#define TOOLS_LIBINGOT_RECORD_H

#include "ir/base/buf.h"
#include "ir/base/str.h"
#include "ir/schedule.h"

// Where a schedule is from.
enum record_from { RECORD_SCHEDULE, RECORD_RULE, RECORD_BUILD };

// One record; its texts are in the arena it was read into, names are interned.
struct record {
    const char *kernel;
    struct span span; // of the line; no place: not read from a source
    struct sched_settings sizes;
    const char *device, *arch;
    enum record_from from;
    const char *rule; // RECORD_RULE
    size_t number;    // of the schedule for its kernel
    struct sched_settings settings;
    const char *state, *why;  // "measured", or how it failed, and why or NULL
    double us, ratio, spread; // 0: not measured
    size_t turns;
    const char *date, *version;
    uint64_t kernel_hash, text_hash;
};
struct records VEC(struct record);

// Read the line at `*at`, up to its end, which stays.  Returns false if it is no
// record; `*at` is then where it is not.
bool record_read(struct arena *a, struct str_table *names, const char **at,
                 struct record *out);

// Append a record as a line.
void record_print(const struct record *r, struct buf *out);

// Return whether two records are for the same kernel, by its name, sizes and
// device, or the same architecture if `device` is false.
bool record_is_same_problem(const struct record *a, const struct record *b,
                            bool device);

// Return whether two lists of settings are the same.
bool record_same_settings(const struct sched_settings *a,
                          const struct sched_settings *b);

#endif
