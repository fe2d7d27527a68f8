// What to write for words and operators of other languages.

#ifndef IR_BASE_FOREIGN_H
#define IR_BASE_FOREIGN_H

#include <stdbool.h>

// What a text of another language is.
enum foreign_kind { FOREIGN_WORD, FOREIGN_INFIX, FOREIGN_TOKEN };

// Return the sentence that says what to write instead; NULL if the text is none
// that is known, as that kind.
const char *foreign_help(enum foreign_kind kind, const char *text);

#endif
