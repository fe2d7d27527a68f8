// Reads words.

#include "tools/libingot/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

void words_skip_blanks(struct words *w)
{
    while (*w->at == ' ' || *w->at == '\t' || *w->at == '\r')
        w->at++;
}

const char *words_name(struct words *w)
{
    const char *from = w->at;
    if (isdigit((unsigned char)*from))
        return NULL;
    while (isalnum((unsigned char)*w->at) || *w->at == '_')
        w->at++;
    size_t n = (size_t)(w->at - from);
    return n ? str_name(w->names, arena_copy(w->arena, from, n)) : NULL;
}

bool words_number(struct words *w, int64_t *out)
{
    char *end;
    if (!isdigit((unsigned char)*w->at) && *w->at != '-')
        return false;
    errno = 0;
    *out = strtoll(w->at, &end, 10);
    bool ok = end != w->at && !errno;
    w->at = end;
    return ok;
}
