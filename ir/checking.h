// What the files of the check share: its state, scopes, and expressions.

#ifndef IR_CHECKING_H
#define IR_CHECKING_H

#include "ir/base/buf.h"
#include "ir/base/map.h"
#include "ir/ir.h"

// What became of a declaration.
enum scope_state { SCOPE_NEVER, SCOPE_OPEN, SCOPE_CLOSED };

// A check under way.
struct checking {
    struct arena *arena;
    const struct ir_kernel *kernel;
    struct map states;                 // declaration -> the state's address
    struct VEC(const void *) in_scope; // innermost last
    struct map positions;       // variables of loops over threads, and over
                                // blocks of a cluster
    const struct ir_stmt *stmt; // looked at; NULL in the kernel's head
    size_t n_maps;              // tensor maps that are declared
    uint32_t depth;             // of blocks around `stmt`
    bool in_host_expr;          // looking at what the launch function evaluates
    bool in_stage;              // looking at a statement of a stage
    struct buf faults;
};

// Note a fault unless `holds`, with the expression it is about or NULL.
// Returns `holds`.
bool check_must(struct checking *c, bool holds, const struct ir_expr *x,
                const char *what);

// The same, about something with a name.
bool check_must_name(struct checking *c, bool holds, const char *name,
                     const char *what);

// Bring a declaration into scope.
void check_declare(struct checking *c, const void *what, const char *name);

// Check that a variable or array is in scope.
void check_use(struct checking *c, const void *what, const char *name);

// End the scopes opened since there were `n`.
void check_close(struct checking *c, size_t n);

// Check an expression and all below it.
void check_expr(struct checking *c, const struct ir_expr *x);

// Check that an array holds mbarriers.
void check_mbarrier(struct checking *c, const struct ir_buffer *b);

// Check that an array may be written.
void check_writable(struct checking *c, const struct ir_buffer *b);

// Check the indices of an access; `*lanes` becomes the lanes they select.
void check_index(struct checking *c, const struct ir_buffer *b, uint32_t n,
                 struct ir_expr *const *index, unsigned *lanes);

// Check and declare the tensor maps of an array that is just declared, NULL: of
// the parameters.
void check_maps(struct checking *c, const struct ir_buffer *b);

// Check a copy by a tensor map.
void check_copy(struct checking *c, const struct ir_stmt *s);

#endif
