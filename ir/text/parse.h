// The parser's inside, for those who extend the loop language: frontend/ adds
// definitions of computations, schedules and files to it.

#ifndef IR_TEXT_PARSE_H
#define IR_TEXT_PARSE_H

#include "ir/ir.h"
#include "ir/text/lex.h"

struct parser;

// What a name means where it is used.
enum entry_kind {
    ENTRY_VAR,
    ENTRY_BUFFER,
    ENTRY_STATIC, // a compile-time parameter of the kernel
    ENTRY_BROKEN, // its declaration was in error: uses are not reported again
};
struct scope_entry {
    enum entry_kind kind;
    const char *name; // interned
    struct span span;
    struct ir_var *var;            // ENTRY_VAR
    struct ir_buffer *buffer;      // ENTRY_BUFFER
    const struct ir_static *value; // ENTRY_STATIC
};

// A parameter and the values that it may have, one of which is given by its
// name alone where it is that of a parameter in front: `R = T`.
struct static_values {
    struct ir_static parameter; // its name and place; no value
    struct ir_statics values;
};

// A `for` clause of a kernel, which is compiled for each choice of one value
// for each parameter.
struct instance_clause {
    struct VEC(struct static_values) given;
    const char *pattern; // of their names: "gemm_{T}"; NULL: by rule
    struct span span;
};

// What a kernel with compile-time parameters is parsed for.
struct instance {
    const char *name; // interned
    struct ir_statics statics;
};

// In which order an array has the dimensions that the text writes.
struct dimension_order {
    const struct ir_buffer *buffer;
    const uint32_t *order; // dimension d is written at position order[d]
};

// The state of a run over the tokens of one file.
struct parser {
    struct arena *arena;
    struct str_table *names;
    struct diag_list *diags;
    const struct token *tokens;
    size_t at;      // next token
    int depth;      // of nested expressions and statements
    int operations; // in this statement so far
    struct VEC(struct scope_entry) scope; // what is visible, innermost last
    size_t scope_start;                   // where the innermost block begins
    struct ir_kernel *kernel;             // the one being parsed
    const struct instance *instance;      // of the kernel, or NULL
    struct VEC(struct dimension_order) orders; // of its arrays with a layout

    // Tried at every statement of a kernel's outermost block: parses a
    // definition and appends it; returns false without moving if there is
    // none, and somewhere behind its start after an error.
    bool (*define)(struct parser *p, struct ir_block *block);
    // Tried when a name is followed by `(`: if that is something that the
    // caller knows and that has no place here, reports it; else returns false.
    bool (*unknown_call)(struct parser *p);
    void *context; // of the two
};

// Tokens.
const struct token *parse_peek(const struct parser *p, size_t ahead);
// Return whether the next token is that punctuation or word.
bool parse_is(const struct parser *p, const char *text);
// Step over the next token if it is that.
bool parse_take(struct parser *p, const char *text);
// Step over the next token; report E0201 if it is not that.
bool parse_expect(struct parser *p, const char *text, const char *where);
// Say with the newest diagnostic what to write for the next token, if it is one of
// another language (foreign.def) where `wanted` was; false if it is none.
bool parse_foreign(struct parser *p, const char *wanted);
// Return how a message calls a token: "`x`", "the end of the line" ...
const char *parse_described(struct parser *p, const struct token *t);
// Step over a name and return it; report E0202 and return NULL otherwise.
const char *parse_name(struct parser *p, const char *what);
// Step over a number of at most 32 bits; report E0208 otherwise.
bool parse_count(struct parser *p, uint32_t *out);
void parse_skip_newlines(struct parser *p);
// After an error: step to the end of the statement.
void parse_recover(struct parser *p);
// After a statement: step over its end; report E0203 if it goes on.
void parse_end_statement(struct parser *p);
// Behind a statement that began at token number `first`: warn of a comment that was
// meant to be a division, `a // 2` (E0221).
void parse_check_comment(struct parser *p, size_t first);
// Return the span from token number `first` to the last token read.
struct span parse_span(const struct parser *p, size_t first);
// Count one more level of nesting; false, reported, if there are too many.
bool parse_enter(struct parser *p);
void parse_leave(struct parser *p);

// Scopes.
size_t scope_open(struct parser *p); // returns what scope_close needs
void scope_close(struct parser *p, size_t mark);
// Declare; an equal name in the same block (E0302) and a word of the language
// (E0320) are reported.
void scope_add(struct parser *p, struct scope_entry entry);
void scope_add_var(struct parser *p, struct ir_var *var);
void scope_add_buffer(struct parser *p, struct ir_buffer *buffer);
// Declare what was in error; nothing more is reported about the name.
void scope_add_broken(struct parser *p, const char *name, struct span span);
const struct scope_entry *scope_find(const struct parser *p, const char *name);
// Report an unknown name with suggestions.
void scope_unknown(struct parser *p, struct span span, const char *name);

// Expressions: NULL after an error was reported.  A value whose type is open
// (a literal, or a choice between such) comes back with `is_open` set.
struct ir_expr *parse_expr(struct parser *p);
// An expression whose literals take type `type` and whose value has it.
struct ir_expr *parse_typed(struct parser *p, struct type type,
                            const char *what);
// An expression usable as an index or extent: any integer, made `int`.
struct ir_expr *parse_index(struct parser *p, const char *what);
// The same, converted to `int`.
struct ir_expr *parse_size(struct parser *p, const char *what);
struct ir_expr *parse_condition(struct parser *p, const char *what);
// Give an open literal its own type (`int` or f32).
struct ir_expr *parse_close(struct parser *p, struct ir_expr *x);
// Give `x` the type `type` if it is open or an integer becoming `int`;
// otherwise the types must agree.  Reports E0305 and returns NULL if not.
struct ir_expr *parse_convert(struct parser *p, struct ir_expr *x,
                              struct type type, const char *what);

// Report `n` indices that are too many or too few.
void parse_wrong_rank(struct parser *p, struct span span,
                      const struct ir_buffer *buffer, uint32_t n);
// Report a write at `span` to an array that is only read; false then.
bool parse_check_writable(struct parser *p, const struct ir_buffer *buffer,
                          struct span span);

// Types and declarations.
bool parse_type(struct parser *p, struct type *out);
// Find a type by its name, or by that of a compile-time parameter.
bool parse_find_type(const struct parser *p, const char *name,
                     struct type *out);
// `: type[shape] in space strides [..] align n inout`, behind the name; the
// space of a ROLE_alloc, `inout` of a ROLE_input.
struct ir_buffer *parse_buffer(struct parser *p, const char *name,
                               struct span span, enum buffer_role role);

// Statements.
bool parse_block(struct parser *p, struct ir_block *out); // { ... }
// The statements up to `}`, in the current scope.
void parse_statements(struct parser *p, struct ir_block *out, bool is_top);

// Step over `=` (OP_const), `+=` (OP_add), `<<=` (OP_shl) ...; report E0201 otherwise.
bool parse_assign_op(struct parser *p, enum ir_op *op);
// The value behind `=` or `+=` ... that is stored where `old` was.
struct ir_expr *parse_new_value(struct parser *p, enum ir_op op,
                                struct ir_expr *old);

// A `let` and the rest of its line; false after an error.
bool parse_let_statement(struct parser *p, struct ir_block *out);

// A kernel, from the word `kernel` on; NULL after errors.  One with
// compile-time parameters is parsed for `instance`.
struct ir_kernel *parse_kernel(struct parser *p);

// Compile-time parameters.
// `[T, R = T]` behind the name of a kernel; a value is a default.
bool parse_static_parameters(struct parser *p, struct instance_clause *out);
// `for T in [f16, bf16], R = T as gemm_{T}`.
bool parse_instance_clause(struct parser *p, struct instance_clause *out);
// `gemm_{T}`, without spaces; NULL after an error.
const char *parse_pattern(struct parser *p, const char *what);
// Return a pattern with values in the place of parameters; interned.
const char *static_fill(struct parser *p, const char *pattern,
                        const struct ir_statics *statics);
// Return the parameter of that name, or NULL.
const struct ir_static *static_find(const struct ir_statics *statics,
                                    const char *name);
// Return how a value is written.
const char *static_text(struct parser *p, const struct ir_static *value);
// Step over a name and return the word that it stands for; NULL after an error.
const char *static_word(struct parser *p);
// Return whether a parameter comes next, or a type that is compared.
bool parse_is_static(const struct parser *p);
// A parameter as a value: a number, or `T == f16`.
struct ir_expr *parse_static(struct parser *p);
// The word behind `layout`: put the dimensions of the array in that order.
bool parse_layout(struct parser *p, struct ir_buffer *b);
// Return at which position of the text dimension `d` of an array is.
uint32_t parse_position(const struct parser *p, const struct ir_buffer *buffer,
                        uint32_t d);

#endif
