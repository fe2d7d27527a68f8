// A kernel at some sizes, on a device that is known by its numbers alone: what
// `ingot plan` and `ingot report` look at.

#ifndef TOOLS_INGOT_PREDICT_H
#define TOOLS_INGOT_PREDICT_H

#include "tools/ingot/candidates.h"
#include "tools/ingot/problem_options.h"
#include "tools/ingot/targets.h"

// What the command line says; give `predict_argp` as a child parser whose input is
// this struct.
struct predict {
    struct cli_compile compile;
    struct cli_targets targets;
    struct problem_options problem; // the name of the kernel alone
    struct problem_request sizes;
    struct model_device device;
    bool has_device;
    int sms; // 0: those of the device
    struct compilation *c;
    const char *file;
    const char *wrong; // with the command line; or NULL
};
extern const struct argp predict_argp;

// Decide on the device and the architecture: one follows from the other.
// Returns false with `wrong` set.
bool predict_settle(struct predict *o);

// Read the file into a compilation, keep the one kernel, and give it its sizes.
// Returns false after reporting, or with `wrong` set.
bool predict_read(struct predict *o, struct compilation *c,
                  struct problem *problem);

// Print the log, what was reported, and what is wrong with the command line of
// `ingot NAME`; returns the exit code that they call for, `ok` if nothing failed.
int predict_report(struct predict *o, const char *name, bool ok);

// Release what the options hold.
void predict_end(struct predict *o);

#endif
