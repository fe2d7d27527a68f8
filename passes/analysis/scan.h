// Scans: reductions whose every step stores what it has so far.
//
//   R[vr] = R[vr] + x                 combines, as reducer.h says
//   Y[vr, vi] = R[vr]                 an element, which vi selects
//   if x(vi) { Z[R[vr] - 1] = x(vi) } one that data choose, if the stage says
//                                     that they are distinct
//
// Elements are stored behind what combines, or in front of it.
#ifndef PASSES_ANALYSIS_SCAN_H
#define PASSES_ANALYSIS_SCAN_H

#include "passes/analysis/reducer.h"

// How a stage scans.
struct scan {
    struct ir_stage reduction; // the stage without the stores of elements
    struct reducer reducer;    // of that
    struct ir_block elements;  // their stores, and branches around such
    bool is_inclusive;         // they stand behind what combines
};

// Find out how a stage scans; false if it is no scan, or its partial results
// cannot be combined.  `out` stays where it is.
bool scan_find(struct pass *p, const struct ir_stage *stage, struct scan *out);

#endif
