// The language server behind `ingot lsp`, in parts: messages, open documents, what is
// wrong in one, what a name means, the loop nest at a directive.
//
// Source: Language Server Protocol 3.17.

#ifndef TOOLS_LSP_LSP_H
#define TOOLS_LSP_LSP_H

#include "ir/base/arena.h"
#include "ir/base/buf.h"
#include "ir/base/vec.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// A file that is open in the editor.
struct lsp_document {
    const char *uri;
    const char *name; // the path, for diagnostics and records beside it
    struct buf text;  // ends in a NUL that is not counted
    bool is_open;     // else it was closed: its place is kept
};

// A session.
struct lsp {
    struct arena arena;
    struct VEC(struct lsp_document) documents;
    FILE *in, *out;
    bool is_shut_down; // the client has said so; what is left is `exit`
};

// ---- wire.c

// Read a message.  Returns NULL at the end of the input, or where it is none.
json_t *lsp_read(FILE *in);

// Write a message, and release it.
void lsp_write(FILE *out, json_t *message);

// ---- documents.c

// Return the open document of that URI, or NULL.
struct lsp_document *lsp_find(struct lsp *l, const char *uri);

// Open a document, or give it another text.
struct lsp_document *lsp_set(struct lsp *l, const char *uri, const char *text);

// Return the byte of a document at a position of the protocol: a line and UTF-16
// code units, both from 0.
size_t lsp_offset(const struct lsp_document *d, const json_t *position);

// Return the position of a byte of a text.
json_t *lsp_position(const char *text, size_t size, size_t at);

// Return the range of the bytes from..to.
json_t *lsp_range(const char *text, size_t size, size_t from, size_t to);

// A name in a document, or nothing.
struct lsp_word {
    size_t from, to;
};

// Return the name that holds, or ends at, a byte.
struct lsp_word lsp_word_at(const struct lsp_document *d, size_t at);

// ---- diagnose.c

// Return what the compiler says of a document: a list of diagnostics.
json_t *lsp_diagnose(const struct lsp_document *d);

// ---- nest.c

// Append the loops that a schedule has made when the directive at a byte has run;
// nothing if there is no directive.
void lsp_nest(const struct lsp_document *d, size_t at, struct buf *out);

// ---- names.c

// Return what the name at a byte means, as Markdown, or null.
json_t *lsp_hover(const struct lsp_document *d, size_t at);

// Return what may stand at a byte.
json_t *lsp_complete(const struct lsp_document *d, size_t at);

// Return where the name at a byte is declared, or null.
json_t *lsp_definition(const struct lsp_document *d, size_t at);

// ---- serve.c

// Serve until the client says `exit`, or its output ends.  Returns the exit status that
// the protocol asks for: 0 after `shutdown`, else 1.
int lsp_serve(FILE *in, FILE *out);

#endif
