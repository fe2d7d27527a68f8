/* ingot_cache.h: machine code that the driver compiled from PTX, kept for the
 * next process.
 *
 * Where a fatbin has no machine code for a GPU, the driver compiles its PTX,
 * which takes from a tenth of a second to many.  With a cache this happens once
 * for each artefact, GPU and driver:
 *
 *   struct ingot_cache *cache;
 *   ingot_cache_open_folder(&cache, "/home/me/.cache/my-program");
 *   ingot_open_file(&module, &gemm_artifact, "gemm.fatbin", NULL);
 *   ingot_cache_use(cache, module);
 *   ...
 *   ingot_close(module);
 *   ingot_cache_close(cache);
 *
 * This header and ingot_cache.c stand on ingot.h and ingot.c, which do without
 * them.  What a cache cannot do never fails a load: the PTX is compiled then.
 * An entry says what it was made from and for, its size, and its hash; one of
 * which any of these is not so is not used, and is replaced.
 *
 * An entry is code that runs on the GPU: the hash finds damage, not malice.  Let
 * nobody else write where entries are.
 *
 * Any number of modules, threads and processes may use one cache, or have caches
 * of one folder.  Memory: one block for a cache; while a module loads, one of
 * the size of an entry. */

#ifndef INGOT_CACHE_INCLUDED
#define INGOT_CACHE_INCLUDED

#include "ingot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The longest name of an entry, its final NUL included. */
#define INGOT_CACHE_NAME_SIZE 96

/* The longest path of a folder, its final NUL included. */
#define INGOT_CACHE_FOLDER_SIZE 1024

/* The largest entry in bytes; larger ones are neither stored nor used. */
#define INGOT_CACHE_ENTRY_SIZE 268435456

/* A cache. */
struct ingot_cache;

/* Where a program keeps entries: bytes by name.  A name is that of a file:
 * letters, digits, '-' and '.'.  Called from all threads that load. */
struct ingot_cache_store {
    void *user; /* handed to both functions */

    /* Copies the first `room` bytes of entry `name` to `bytes`, or all if there
     * are fewer; returns the size of the entry, 0 if there is none.  Called with
     * a `room` of 0 first, then with what that returned. */
    size_t (*load)(void *user, const char *name, void *bytes, size_t room);

    /* Keeps a copy of `size` bytes as entry `name`, in place of one that there
     * may be.  Who loads meanwhile should get the old or the new one; a mixture
     * is noticed, and not used.  Returns 0, or another number if it did not. */
    int (*store)(void *user, const char *name, const void *bytes, size_t size);
};

/* Makes a cache over functions of the program; `*store` is copied.  Either
 * function may be NULL: nothing is found, nothing is stored.
 * INGOT_NO_MEMORY, then `*cache` is NULL. */
INGOT_API enum ingot_status
ingot_cache_open(struct ingot_cache **cache,
                 const struct ingot_cache_store *store);

/* Makes a cache over the files of a folder, which is made if its parent exists.
 * An entry is written to a file of another name, *.tmp, that is renamed when
 * it is whole, so no process sees half of one.  Files are never deleted: any may
 * be, at any time; a *.tmp older than its writer is what a crash left.
 * INGOT_FILE: there is no such folder and none can be made, it is none, or
 * everybody may write to it.  INGOT_INVALID: no path, or a longer one than
 * INGOT_CACHE_FOLDER_SIZE.  INGOT_NO_MEMORY.  After each `*cache` is NULL.  A
 * folder that cannot be written to is no failure. */
INGOT_API enum ingot_status ingot_cache_open_folder(struct ingot_cache **cache,
                                                    const char *folder);

/* Makes a module that was opened use the cache in all loads from now on; the
 * cache may be closed after the module.  Fails as ingot_use_jit_cache does;
 * INGOT_INVALID if either is NULL. */
INGOT_API enum ingot_status ingot_cache_use(struct ingot_cache *cache,
                                            struct ingot_module *module);

/* What a cache did since it was opened. */
struct ingot_cache_counts {
    uint32_t found;      /* entries that modules were given */
    uint32_t missing;    /* that there were none of, or no memory for */
    uint32_t damaged;    /* that were not what their name and hash say */
    uint32_t stored;     /* written */
    uint32_t not_stored; /* that could not be written */
};

/* Fills `*counts`; with zeros if the cache is NULL. */
INGOT_API void ingot_cache_count(const struct ingot_cache *cache,
                                 struct ingot_cache_counts *counts);

/* Frees a cache that no open module uses; NULL is allowed.  What it keeps
 * stays. */
INGOT_API void ingot_cache_close(struct ingot_cache *cache);

#ifdef __cplusplus
}
#endif

#endif
