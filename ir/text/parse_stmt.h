// What the files of the statement parser share.

#ifndef IR_TEXT_PARSE_STMT_H
#define IR_TEXT_PARSE_STMT_H

#include "ir/text/parse.h"

// Parse a ring of a loop behind `ring`: `(slots 4, fill 40, use 232)`.
bool parse_ring(struct parser *p, struct ir_for *loop);

// Parse the value of an annotation behind its `(`.
bool parse_attr_value(struct parser *p, struct ir_attr *attr);

// Parse `launch_attribute a, b`, attributes to add to a set.
bool parse_launch_attributes(struct parser *p, uint32_t *set);

// Parse a stage, or a launch, behind its word, which is token `first`.
bool parse_stage(struct parser *p, struct ir_block *out, size_t first);
bool parse_launch(struct parser *p, struct ir_block *out, size_t first);

// Parse an instruction on matrices, likewise.
bool parse_matrix(struct parser *p, struct ir_block *out, size_t first);
// Parse the declaration of a tensor map behind the word `map`.
bool parse_map(struct parser *p);

// Parse a `print` behind its word, which is token `first`.
bool parse_print(struct parser *p, struct ir_block *out, size_t first);

// Parse a clause about the kernel's data or results, if that is what comes;
// `*ok` becomes whether it was right.
bool parse_terms(struct parser *p, bool *ok);

// Parse a copy, such as `tma_load`, if a statement begins with its word; `*ok`
// becomes whether it was one, or there was none.
bool parse_copy(struct parser *p, struct ir_block *out, bool *ok);

#endif
