// The rows of foreign.def.

#include "ir/base/foreign.h"

#include <stddef.h>
#include <string.h>

static const struct row {
    enum foreign_kind kind;
    const char *text, *help;
} rows[] = {
#define FOREIGN(kind, text, help) {FOREIGN_##kind, text, help},
#include "ir/base/foreign.def"
#undef FOREIGN
};
enum { ROWS = sizeof rows / sizeof *rows };

const char *foreign_help(enum foreign_kind kind, const char *text)
{
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].kind == kind && strcmp(rows[i].text, text) == 0)
            return rows[i].help;
    }
    return NULL;
}
