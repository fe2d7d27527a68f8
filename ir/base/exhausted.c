// Ends the process by calls that need no memory themselves.

#include "ir/base/exhausted.h"

#include <unistd.h>

enum { EXIT_CODE = 3 };

_Noreturn void memory_exhausted(void)
{
    static const char text[] = "ingot: out of memory\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(EXIT_CODE);
}
