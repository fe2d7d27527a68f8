// What each value of a knob does to the time of a trial, learnt from those that have one.

#ifndef TOOLS_TUNE_EFFECTS_H
#define TOOLS_TUNE_EFFECTS_H

#include "tools/tune/search.h"

// Learn from all trials that have a time and a prediction.
void effects_learn(struct search *s);

// Set `out` to the point of the order, not tried yet, that should be fastest by its
// prediction and the effects of its values; of those that differ in more than one knob
// from each new trial of this round, if there are any.  Returns false if nothing was
// learnt, or no point that has a prediction is left.
bool effects_take(struct search *s, struct search_point *out);

#endif
