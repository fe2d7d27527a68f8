// The standard streams as the command finds them.

#ifndef TOOLS_INGOT_STREAMS_H
#define TOOLS_INGOT_STREAMS_H

// Have writing to a closed stream or a broken pipe fail instead of ending the
// process or reaching another file, and have the process end with exit code 3
// if its standard output could not be written.
void streams_start(void);

#endif
