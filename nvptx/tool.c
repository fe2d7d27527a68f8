// Reports failures of tools.

#include "nvptx/tool.h"

#include <stdbool.h>
#include <string.h>

enum { MESSAGE_LINES_MOST = 12 };

// Return the first `most` lines of a text that are not statistics.
static const char *messages_of(struct arena *a, const struct buf *errors,
                               int most)
{
    struct buf out = {0};
    const char *line = errors->data ? errors->data : "";
    for (int lines = 0; *line && lines < most;) {
        size_t n = strcspn(line, "\n");
        bool is_statistics =
            strncmp(line, "ptxas info", 10) == 0 || line[0] == ' ';
        if (n > 0 && !is_statistics) {
            buf_printf(&out, "%s%.*s", lines ? "\n" : "", (int)n, line);
            lines++;
        }
        line += n + (line[n] == '\n');
    }
    const char *text = arena_copy(a, out.data ? out.data : "", out.n);
    buf_free(&out);
    return text;
}

// Return the code for a process that ended so.
static enum diag_code code_of(enum process_end end)
{
    switch (end) {
    case PROCESS_EXITED: return D_tool_failed;
    case PROCESS_SIGNALED: return D_tool_killed;
    case PROCESS_NOT_STARTED: return D_tool_not_started;
    case PROCESS_OVERTIME:
    case PROCESS_IDLE: return D_tool_timed_out;
    case PROCESS_FLOODED: return D_tool_flooded;
    }
    return D_tool_failed;
}

void tool_note(struct arena *a, const struct process *p,
               struct diag_list *diags)
{
    struct buf command = {0};
    process_command(p, &command);
    const char *messages = messages_of(a, &p->errors, MESSAGE_LINES_MOST);
    diag_note(diags, (struct span){0}, "the command was: %s", command.data);
    if (*messages)
        diag_note(diags, (struct span){0}, "it wrote:\n%s", messages);
    buf_free(&command);
}

void tool_report(struct arena *a, const struct process *p, const char *what,
                 struct diag_list *diags)
{
    struct buf ending = {0};
    process_ending(p, &ending);
    diag_error(diags, (struct span){0}, code_of(p->end), what, ending.data);
    tool_note(a, p, diags);
    buf_free(&ending);
}
