// Tokens of kernels, schedules and printed IR: one language, one lexer.

#ifndef IR_TEXT_LEX_H
#define IR_TEXT_LEX_H

#include "ir/base/diag.h"
#include "ir/base/str.h"

enum token_kind {
    TOKEN_END,     // of the file
    TOKEN_NEWLINE, // that ends a statement: no bracket or operator is open
    TOKEN_NAME,    // a word, keywords among them
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_PUNCT, // an operator, a bracket, a comma ...
};

struct token {
    enum token_kind kind;
    struct span span;
    const char *text; // interned: of names and punctuation
    uint64_t integer; // TOKEN_INT
    double number;    // TOKEN_FLOAT
};

// All tokens of a file; the last one is TOKEN_END.
struct tokens VEC(struct token);

// Split a source into tokens.  Bad characters are reported and skipped;
// returns false if the file as a whole is not text (empty of meaning, not
// UTF-8, too large, nested too deeply), after reporting that.
bool lex_source(struct arena *a, struct str_table *names,
                const struct source *source, struct diag_list *diags,
                struct tokens *out);

enum {
    LEX_MOST_BYTES = 16 * 1024 * 1024, // of a file
    LEX_DEEPEST = 200,                 // brackets inside brackets
};

#endif
