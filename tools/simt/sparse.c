// Copies of arrays of which little is accessed: their untouched pages stay so.

#define _DEFAULT_SOURCE // mincore

#include "tools/simt/sparse.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES_AT_ONCE = 4096 };

// Smaller arrays are copied whole.
static const size_t least_sparse = (size_t)1 << 24;

// Copy those of `n` pages that were accessed.  Returns false if that cannot be
// told of them.
static bool copy_pages(unsigned char *to, unsigned char *from, size_t n)
{
    unsigned char touched[PAGES_AT_ONCE];
    if (mincore(from, n * PAGE, touched) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (touched[i] & 1)
            memcpy(to + i * PAGE, from + i * PAGE, PAGE);
    return true;
}

void sparse_copy(void *to, const void *from, size_t bytes)
{
    unsigned char *out = to, *in = (unsigned char *)from;
    size_t head = (size_t)(-(uintptr_t)in & (PAGE - 1)), at = head;
    if (bytes < least_sparse) {
        memcpy(to, from, bytes);
        return;
    }
    memcpy(out, in, head);
    while (bytes - at >= PAGE) {
        size_t n = (bytes - at) / PAGE;
        n = n < PAGES_AT_ONCE ? n : PAGES_AT_ONCE;
        if (!copy_pages(out + at, in + at, n))
            break;
        at += n * PAGE;
    }
    memcpy(out + at, in + at, bytes - at);
}

bool sparse_is_untouched(const void *chunk, size_t bytes)
{
    unsigned char touched[PAGES_AT_ONCE];
    size_t n = (bytes + PAGE - 1) / PAGE;
    if ((uintptr_t)chunk & (PAGE - 1) || n > PAGES_AT_ONCE ||
        mincore((void *)chunk, bytes, touched) != 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (touched[i] & 1)
            return false;
    return true;
}
