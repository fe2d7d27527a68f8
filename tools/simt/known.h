// What a thread knows of other blocks: a vector clock with a stamp for each block,
// whose accesses before it are known, and later stamps for single threads of it.
// Most blocks meet at a barrier before one thread releases, so a few numbers do.

#ifndef TOOLS_SIMT_KNOWN_H
#define TOOLS_SIMT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

// It never changes; those who share it are counted.
struct known;

// Return it once more, or give it up; NULL: nothing is known.
struct known *known_share(struct known *k);
void known_drop(struct known *k);

// Return whether an access is known of an agent of the block or cluster with
// that serial number.
bool known_has(const struct known *k, uint32_t serial, uint32_t agent,
               uint32_t stamp);

// Let `*to` know what `from` does, too.  Without memory it does not.
void known_join(struct known **to, struct known *from);

// Let `*to` know of the accesses before a stamp: `floor` of all agents, and
// more of those whose number in `seen` is higher.
void known_add(struct known **to, uint32_t serial, uint32_t floor,
               const uint32_t *seen, uint32_t agents);

// Raise `*floor` and `seen` to what is known of one block or cluster.
void known_take(const struct known *k, uint32_t serial, uint32_t *floor,
                uint32_t *seen);

#endif
