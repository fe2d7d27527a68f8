// Messages: a header with the length, an empty line, JSON.

#include "tools/lsp/lsp.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LINE_MOST = 256, MESSAGE_MOST = 64 << 20 };

// Read the header.  Returns the length of what follows, 0 if there is none.
static size_t read_header(FILE *in)
{
    static const char name[] = "Content-Length:";
    char line[LINE_MOST];
    size_t length = 0;
    while (fgets(line, sizeof line, in)) {
        if (line[strspn(line, "\r\n")] == '\0')
            return length <= MESSAGE_MOST ? length : 0;
        if (strncasecmp(line, name, sizeof name - 1) == 0)
            length = strtoul(line + sizeof name - 1, NULL, 10);
    }
    return 0;
}

json_t *lsp_read(FILE *in)
{
    size_t n = read_header(in);
    char *text = n ? malloc(n) : NULL;
    json_t *message = NULL;
    if (text && fread(text, 1, n, in) == n)
        message = json_loadb(text, n, 0, NULL);
    free(text);
    return message;
}

void lsp_write(FILE *out, json_t *message)
{
    char *text = json_dumps(message, JSON_COMPACT);
    if (text)
        fprintf(out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
    fflush(out);
    free(text);
    json_decref(message);
}
