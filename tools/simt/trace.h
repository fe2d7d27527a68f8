// What accesses one element, in the order in which it runs: only runs that are
// asked for a trace have one, and only their accesses have no windows.

#ifndef TOOLS_SIMT_TRACE_H
#define TOOLS_SIMT_TRACE_H

#include "tools/simt/machine.h"

// Begin to note events for a run.  Returns false without memory.
bool trace_open(struct machine *m, struct simt_trace *asked);

// Choose the lines of the trace, and forget the rest.
void trace_close(struct machine *m);

// Note an access of the current thread that is about to be done; `r` is the
// region, if `is_inside` of which it lies.
void trace_access(struct machine *m, const struct site *s, struct region *r,
                  const void *p, bool is_inside);

// Note that an access is done which went on while its thread did.
void trace_end(struct machine *m, const struct site *s, const void *p,
               uint32_t agent);

// Note that threads have met, or that one has waited, at a place.
void trace_meet(struct machine *m, enum simt_event_kind kind,
                const struct fiber *f, const struct site *s);

// Note what the last write has left; called when its thread goes on.
void trace_settle(struct machine *m);

// A finding is noted: the trace ends if it is the one that is asked for.
void trace_found(struct machine *m, const struct simt_finding *f);

#endif
