// Records of tuning: what the knobs of schedules were set to.
//
//   // gemm.tuned, beside gemm.ing
//   gemm 1 BM=128 BN=64
//   gemm 2 BM=64
//
// One record a line: the kernel, the number of one of its schedules in the
// order of the text, from 1, and settings of its parameters and knobs; or what
// `ingot tune` measured, at certain sizes on a device (record.h).  Comments run from // to the end of the line.

#ifndef TOOLS_LIBINGOT_TUNED_H
#define TOOLS_LIBINGOT_TUNED_H

#include "frontend/frontend.h"
#include "ir/base/diag.h"
#include "ir/base/str.h"
#include "ir/schedule.h"
#include "tools/libingot/record.h"

// One setting of a record.
struct tuned_setting {
    const char *kernel; // interned
    struct span span;   // of the record's head
    size_t number;      // of the schedule
    struct sched_setting setting;
};
struct tuned VEC(struct tuned_setting);

// Read a file of records and append its settings, and what was measured.
// Returns false after reporting errors.
bool tuned_read(struct arena *a, struct str_table *names,
                const struct source *source, struct diag_list *diags,
                struct tuned *out, struct records *records);

// Warn of each record whose kernel or schedule does not exist.
void tuned_check(const struct tuned *tuned, const struct program *program,
                 struct diag_list *diags);

// Append the settings for schedule `number` of a kernel.
void tuned_settings(struct arena *a, const struct tuned *tuned,
                    const char *kernel, size_t number,
                    struct sched_settings *out);

#endif
