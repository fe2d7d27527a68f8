// What happens when there is no memory.

#ifndef IR_BASE_EXHAUSTED_H
#define IR_BASE_EXHAUSTED_H

// Say so and end the process at once, with the exit code 3 of a machine that
// failed: what was not written yet is not written.
_Noreturn void memory_exhausted(void);

#endif
