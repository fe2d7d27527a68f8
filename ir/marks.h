// Marks of loops and stages, from marks.def: `@persistent(132)`, `@via(tma)`.

#ifndef IR_MARKS_H
#define IR_MARKS_H

#include "ir/base/buf.h"
#include "ir/ir.h"

enum mark_takes { MARK_TAKES_NUMBER, MARK_TAKES_WORD, MARK_TAKES_MATRIX };

// A row of marks.def.
struct ir_mark_info {
    const char *name;
    enum ir_stmt_kind on; // STMT_for or STMT_stage
    enum mark_takes takes;
    int64_t least, most; // of a number
    const char *words;   // separated by spaces
    const char *by;      // the primitive or pass that sets it
    const char *until;   // the pass that consumes it; "NEVER"
    enum ir_level last;  // at which it may stand
    const char *meaning;
};

// Return what is known of a mark that is no note.
const struct ir_mark_info *ir_mark_info(enum ir_mark mark);

// Return the mark of a name; a note if no row has it.
enum ir_mark ir_mark_named(const char *name);

// Append what a mark takes: "a number from 2 to 16".
void ir_mark_takes(struct buf *out, const struct ir_mark_info *info);

// Return what is wrong with a mark on a statement of a kernel at a level, or
// NULL.  The text goes to the arena.
const char *ir_attr_fault(struct arena *a, const struct ir_attr *attr,
                          enum ir_stmt_kind on, enum ir_level level);

// Return the marks of a loop or a stage; NULL: it is neither.
struct ir_attrs *ir_attrs_of(struct ir_stmt *s);

// Return a mark of a loop or a stage; NULL if it has none, or is neither.
const struct ir_attr *ir_attr_get(const struct ir_stmt *s, enum ir_mark mark);

// Return the value of a mark; 0 if there is none.
int64_t ir_attr_value(const struct ir_stmt *s, enum ir_mark mark);

// Return the word of a mark of a list; NULL if it has none.
const char *ir_attrs_word(const struct ir_attrs *attrs, enum ir_mark mark);

// Mark a loop or a stage with a number, instead of what the mark was.
void ir_attr_set(struct arena *a, struct ir_stmt *s, enum ir_mark mark,
                 int64_t value);

// The same with an interned word.
void ir_attr_set_word(struct arena *a, struct ir_stmt *s, enum ir_mark mark,
                      const char *word);

// Take a mark of a loop or a stage away, if it has it; other marks stay, in
// their order.
void ir_attr_remove(struct ir_stmt *s, enum ir_mark mark);

// The same of a list.
void ir_attrs_remove(struct ir_attrs *attrs, enum ir_mark mark);

#endif
