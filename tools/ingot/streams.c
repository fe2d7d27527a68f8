// Opens standard streams that were closed, for the other direction: whoever uses
// one gets an error, and no other file can get its number.

#include "tools/ingot/streams.h"

#include "tools/ingot/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Write what is left of the standard output; ends the process if that fails.
static void finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    if (errno != EPIPE)
        fprintf(stderr, "ingot: cannot write to the standard output: %s\n",
                strerror(errno));
    _exit(EXIT_TOOL);
}

void streams_start(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    signal(SIGPIPE, SIG_IGN);
    atexit(finish);
}
