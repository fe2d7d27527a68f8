// What was proved of a kernel for all sizes, as text and as JSON.

#ifndef TOOLS_INGOT_PROOFS_H
#define TOOLS_INGOT_PROOFS_H

#include "ir/base/buf.h"
#include "passes/proof/proof.h"

#include <jansson.h>

// How many accesses (of coverage: results) a claim is made of, and for how many
// it is proved.
struct proof_share {
    size_t all, proved;
};

// Add those of a kernel, of NULL none.
void proofs_count(const struct proof *proof,
                  struct proof_share out[CLAIM_COUNT]);

// Append a line, "HEADbounds 12 of 12, block_race 3 of 4"; none if nothing is
// claimed.
void proofs_print_shares(const struct proof_share shares[CLAIM_COUNT],
                         const char *head, struct buf *out);

// Append a row for each claim and place, in the order of the places; accesses
// that differ in nothing are one.
void proofs_print(struct arena *a, const struct proof *proof, struct buf *out);

// Return the shares, and the rows of what is not proved, or of all.
json_t *proofs_json(struct arena *a, const struct proof *proof, bool has_all);

#endif
