// Tokens of kernels, schedules and printed IR: one language, one lexer.

#ifndef IR_TEXT_LEX_H
#define IR_TEXT_LEX_H

#include "ir/base/diag.h"
#include "ir/base/str.h"

#include <stdbool.h>

enum token_kind {
    TOKEN_END,     // of the file
    TOKEN_NEWLINE, // that ends a statement: no bracket or operator is open
    TOKEN_NAME,    // a word, keywords among them
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_PUNCT, // an operator, a bracket, a comma ...
    TOKEN_BLOCK, // of an outline: `{`, what is in the block, `}`
    TOKEN_TEXT, // "...", an argument of `print` or `refuse`: what is between the quotes
};

struct token {
    enum token_kind kind;
    struct span span;
    const char *text; // interned: of names, punctuation and texts
    uint64_t integer; // TOKEN_INT
    double number;    // TOKEN_FLOAT
};

// All tokens of a file; the last one is TOKEN_END.
struct tokens VEC(struct token);

// Return whether a word of the language may not be the name of a variable.
bool lex_is_reserved(const char *word);

// Split a source into tokens.  Returns false after reporting what is no token
// or no text at all: bad characters and numbers, brackets never closed or
// nested too deeply, a file that is too large or not UTF-8.
bool lex_source(struct arena *a, struct str_table *names,
                const struct source *source, struct diag_list *diags,
                struct tokens *out);

// The same, but each block outside of brackets is one token, TOKEN_BLOCK, whose text is
// `{`: what is in it is not read but for brackets, comments and texts.
bool lex_outline(struct arena *a, struct str_table *names,
                 const struct source *source, struct diag_list *diags,
                 struct tokens *out);

// Split a part of a source into tokens, such as the block of an outline.
bool lex_span(struct arena *a, struct str_table *names, struct span span,
              struct diag_list *diags, struct tokens *out);

enum {
    LEX_MOST_BYTES = 16 * 1024 * 1024, // of a file
    LEX_DEEPEST = 200,                 // brackets inside brackets
};

#endif
