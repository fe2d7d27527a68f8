// One run of compiled code: what is given to the machine and taken from it.

#ifndef TOOLS_SIMT_RUN_H
#define TOOLS_SIMT_RUN_H

#include "tools/simt/code.h"

// A run.
struct running {
    struct simt_code *code;
    struct machine *m;
    const struct simt_run *run;
    const struct eval_argument *arguments;
    struct diag_list *diags;
    unsigned char *slots; // of the entries' parameters
    size_t n_slots;
    struct region **regions; // of the parameters, NULL for scalars, then of the
                             // workspace
    struct tensor_map *maps;
};

// ---- arguments.c

// Give the parameters of the kernel to the machine.  Returns false if there is
// no room.
bool arguments_set(struct running *r);

// Copy the results out of the machine.
void arguments_read(const struct running *r);

// Keep the results for later, and hand them out, by parameter.  Returns NULL if
// they are too large, or there is no room.
void **arguments_keep(const struct running *r);
void arguments_give(const struct running *r, void **kept);

// Note results of which elements were never written.
void arguments_note_unwritten(struct running *r);

// ---- missing.c

// Return whether accesses met of which a fence may have been missing.
bool missing_is_open(const struct running *r, const struct simt_result *found);

// Find out which: run again as if they were there.  `again` runs once, into
// another result; false: it cannot.
void missing_find(struct running *r, struct simt_result *found,
                  bool (*again)(struct running *r, struct simt_result *out,
                                enum simt_missing assumed));

#endif
