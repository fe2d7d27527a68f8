// The reference: what the tables say of the language and of the command, in
// sections of entries.

#ifndef TOOLS_INGOT_DOC_H
#define TOOLS_INGOT_DOC_H

#include "ir/base/buf.h"
#include "ir/base/vec.h"

#include <stdbool.h>

// The sections.
enum doc_section {
#define DOC_SECTION(name, layout, one, title, introduction) DOC_##name,
#include "tools/ingot/doc_sections.def"
#undef DOC_SECTION
    DOC_SECTIONS
};

// What a name means in one section.  Texts are Markdown.
struct doc_entry {
    enum doc_section section;
    const char *name;  // asked for by; `*` in it stands for a number
    const char *also;  // another name, or NULL
    const char *form;  // how it is written
    const char *brief; // what it is, in a line
    const void *of;    // for `more`
    // Append the rest; false after reporting why that is not possible.  NULL:
    // there is no more.
    bool (*more)(const struct doc_entry *entry, struct buf *out);
};

// All of it.
struct doc {
    struct arena *arena;
    enum doc_section section; // that is being filled
    struct VEC(struct doc_entry) entries;
};

// Add an entry to the section that is being filled, and return it; the next
// call may move it.
struct doc_entry *doc_add(struct doc *d, const char *name, const char *form,
                          const char *brief);

// Add the entries of a section.
#define DOC_SECTION(name, layout, one, title, introduction)                    \
    void doc_add_##name(struct doc *d);
#include "tools/ingot/doc_sections.def"
#undef DOC_SECTION

// Fill all sections of an empty one, whose arena is set.
void doc_collect(struct doc *d);

// Append the pages of a name, in any case of letters, as Markdown; `n` counts them.
// Returns false after reporting why one cannot be made.
bool doc_pages(const struct doc *d, const char *wanted, size_t *n,
               struct buf *out);

// Return the title of a section.
const char *doc_title(enum doc_section section);

// Append a text as a code block.
void doc_code(struct buf *out, const char *text);

// Return the text behind the first paragraph of a comment, or behind its end
// (in doc_comment.c).
const char *doc_rest(const char *comment);

// Append the lines of a comment from one place to another (in doc_comment.c).
void doc_comment(struct buf *out, const char *from, const char *to);

// Append the example of a primitive and what the compiler makes of it, before
// and behind the call (in doc_example.c).  Returns false after reporting that
// it is refused.
bool doc_example(const char *primitive, struct buf *out);

#endif
