/* ingot_cache.c: see ingot_cache.h.
 *
 *   find    name -> load -> is it what its head says? -> the code behind the head
 *   store   head, code -> name -> store
 *
 * A folder is one way to load and store; the functions of a program are another. */

#if !defined _WIN32 && !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "ingot_cache.h"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same atomics in C11 and in C++17. */
#ifdef __cplusplus
#include <atomic>
#define ATOMIC(type) std::atomic<type>
#else
#include <assert.h>
#include <stdatomic.h>
#define ATOMIC(type) _Atomic(type)
#endif

/* Room for the path of an entry, or of the file that becomes one. */
enum { PATH_SIZE = INGOT_CACHE_FOLDER_SIZE + INGOT_CACHE_NAME_SIZE + 32 };

/* How often a name for a new file is tried, if files of such names are there. */
enum { NEW_NAMES = 16 };

/* What begins an entry; its code follows. */
struct head {
    char magic[8];            /* MAGIC */
    struct ingot_jit_key key; /* what the code is for */
    uint64_t size;            /* of the code ... */
    uint64_t hash;            /* ... and ingot_hash of it */
    uint64_t reserved;        /* 0 */
};
static_assert(sizeof(struct head) == 64, "the code behind it is aligned");

/* The format of entries; their names have its number, too. */
#define MAGIC     "INGOTJ1"
#define EXTENSION ".ingot1"

struct ingot_cache {
    struct ingot_cache_store store;
    struct ingot_jit_cache hooks; /* what a module calls */
    ATOMIC(uint32_t) found;       /* of struct ingot_cache_counts ... */
    ATOMIC(uint32_t) missing;
    ATOMIC(uint32_t) damaged;
    ATOMIC(uint32_t) stored;
    ATOMIC(uint32_t) not_stored;
    ATOMIC(uint32_t) next;                /* number of the next new file */
    char folder[INGOT_CACHE_FOLDER_SIZE]; /* "" for a program's own store */
};

/* ---- The system ---------------------------------------------------------- */

#ifdef _WIN32

/* `path` as Windows takes it; "" if it is too long or not UTF-8. */
static const wchar_t *wide(const char *path, wchar_t to[MAX_PATH])
{
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, to,
                             MAX_PATH))
        *to = L'\0';
    return to;
}

/* Opens a file to be read; NULL if it cannot. */
static FILE *open_file(const char *path)
{
    wchar_t name[MAX_PATH];

    return _wfopen(wide(path, name), L"rbN");
}

/* Makes a file that is not there; NULL if it cannot, and `*exists` says whether
 * that was why. */
static FILE *make_file(const char *path, bool *exists)
{
    wchar_t name[MAX_PATH];
    HANDLE file = CreateFileW(wide(path, name), GENERIC_WRITE, 0, NULL,
                              CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);

    *exists =
        file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS;
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    CloseHandle(file);
    return _wfopen(name, L"wbN");
}

/* Gives a file another name, in place of a file that has it; false if not. */
static bool replace_file(const char *from, const char *to)
{
    wchar_t old[MAX_PATH], name[MAX_PATH];

    return MoveFileExW(wide(from, old), wide(to, name),
                       MOVEFILE_REPLACE_EXISTING);
}

static void delete_file(const char *path)
{
    wchar_t name[MAX_PATH];

    DeleteFileW(wide(path, name));
}

/* Makes a folder unless it is there; false if it is none that may be used. */
static bool make_folder(const char *path)
{
    wchar_t name[MAX_PATH];
    DWORD attributes;

    CreateDirectoryW(wide(path, name), NULL);
    attributes = GetFileAttributesW(name);
    return attributes != INVALID_FILE_ATTRIBUTES &&
           attributes & FILE_ATTRIBUTE_DIRECTORY;
}

static unsigned long process_id(void)
{
    return GetCurrentProcessId();
}

#else

/* Opens a file to be read; NULL if it cannot. */
static FILE *open_file(const char *path)
{
    return fopen(path, "rbe");
}

/* Makes a file that is not there; NULL if it cannot, and `*exists` says whether
 * that was why. */
static FILE *make_file(const char *path, bool *exists)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *stream = file < 0 ? NULL : fdopen(file, "wb");

    *exists = file < 0 && errno == EEXIST;
    if (file >= 0 && !stream) {
        close(file);
        unlink(path);
    }
    return stream;
}

/* Gives a file another name, in place of a file that has it; false if not. */
static bool replace_file(const char *from, const char *to)
{
    return !rename(from, to);
}

static void delete_file(const char *path)
{
    unlink(path);
}

/* Makes a folder unless it is there; false if it is none that may be used. */
static bool make_folder(const char *path)
{
    struct stat status;

    return (!mkdir(path, 0700) || errno == EEXIST) && !stat(path, &status) &&
           S_ISDIR(status.st_mode) && !(status.st_mode & S_IWOTH);
}

static unsigned long process_id(void)
{
    return (unsigned long)getpid();
}

#endif

/* ---- Folders ------------------------------------------------------------- */

/* `load` of a folder. */
static size_t load_file(void *user, const char *name, void *bytes, size_t room)
{
    const struct ingot_cache *cache = (const struct ingot_cache *)user;
    char path[PATH_SIZE];
    long size = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", cache->folder, name);
    file = open_file(path);
    if (!file)
        return 0;
    if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) || fread(bytes, 1, room, file) != room)
        size = 0;
    fclose(file);
    return (size_t)size;
}

/* Makes a file beside entry `name`, whose path becomes `path`; NULL if not. */
static FILE *new_file(struct ingot_cache *cache, const char *name, char *path)
{
    bool exists = true;
    FILE *file = NULL;
    int i;

    for (i = 0; i < NEW_NAMES && exists && !file; i++) {
        snprintf(path, PATH_SIZE, "%s/%s.%lu-%" PRIu32 ".tmp", cache->folder,
                 name, process_id(), (uint32_t)cache->next++);
        file = make_file(path, &exists);
    }
    return file;
}

/* `store` of a folder. */
static int store_file(void *user, const char *name, const void *bytes,
                      size_t size)
{
    struct ingot_cache *cache = (struct ingot_cache *)user;
    char path[PATH_SIZE], to[PATH_SIZE];
    FILE *file = new_file(cache, name, path);
    bool is_whole;

    if (!file)
        return -1;
    is_whole = fwrite(bytes, 1, size, file) == size;
    is_whole = !fclose(file) && is_whole;
    snprintf(to, sizeof to, "%s/%s", cache->folder, name);
    if (is_whole && replace_file(path, to))
        return 0;
    delete_file(path);
    return -1;
}

/* ---- Entries ------------------------------------------------------------- */

/* Writes the name of the entry for `key`. */
static void name_entry(const struct ingot_jit_key *key,
                       char name[INGOT_CACHE_NAME_SIZE])
{
    snprintf(name, INGOT_CACHE_NAME_SIZE,
             "%016" PRIx64 "-%016" PRIx64 "-sm%" PRIu32 "-%" PRIu32
             "-%" PRIu32 EXTENSION,
             key->fatbin_hash, key->image_hash, key->device_sm,
             key->driver_version, key->options);
}

/* The head of an entry of `size` bytes of code for `key`. */
static struct head make_head(const struct ingot_jit_key *key, const void *code,
                             size_t size)
{
    struct head head;

    memset(&head, 0, sizeof head);
    memcpy(head.magic, MAGIC, sizeof head.magic);
    head.key = *key;
    head.size = size;
    head.hash = ingot_hash(code, size);
    return head;
}

/* Is `entry`, of `size` bytes, one for `key`, and whole? */
static bool is_entry(const unsigned char *entry, size_t size,
                     const struct ingot_jit_key *key)
{
    struct head head;

    if (size <= sizeof head)
        return false;
    head = make_head(key, entry + sizeof head, size - sizeof head);
    return !memcmp(entry, &head, sizeof head);
}

/* Loads entry `name`; `*size` becomes its size, 0 if there is none or it is gone
 * meanwhile.  NULL then, and if it is too large or was replaced meanwhile. */
static unsigned char *load_entry(const struct ingot_cache_store *store,
                                 const char *name, size_t *size)
{
    size_t room = store->load ? store->load(store->user, name, NULL, 0) : 0;
    unsigned char *entry = NULL;

    *size = room;
    if (!room || room > INGOT_CACHE_ENTRY_SIZE)
        return NULL;
    entry = (unsigned char *)malloc(room);
    *size = entry ? store->load(store->user, name, entry, room) : 0;
    if (*size == room)
        return entry;
    free(entry);
    return NULL;
}

/* `find` of the hooks. */
static const void *find(void *user, const struct ingot_jit_key *key,
                        size_t *size)
{
    struct ingot_cache *cache = (struct ingot_cache *)user;
    char name[INGOT_CACHE_NAME_SIZE];
    unsigned char *entry;
    size_t whole;

    name_entry(key, name);
    entry = load_entry(&cache->store, name, &whole);
    if (entry && is_entry(entry, whole, key)) {
        cache->found++;
        *size = whole - sizeof(struct head);
        return entry + sizeof(struct head);
    }
    free(entry);
    if (whole)
        cache->damaged++;
    else
        cache->missing++;
    return NULL;
}

/* `release` of the hooks. */
static void release(void *user, const void *code)
{
    (void)user;
    free((unsigned char *)(uintptr_t)code - sizeof(struct head));
}

/* Stores an entry of head and code; false if not. */
static bool store_entry(const struct ingot_cache_store *store,
                        const struct ingot_jit_key *key, const void *code,
                        size_t size)
{
    const struct head head = make_head(key, code, size);
    char name[INGOT_CACHE_NAME_SIZE];
    unsigned char *entry;
    bool is_stored;

    if (!store->store || size > INGOT_CACHE_ENTRY_SIZE - sizeof head)
        return false;
    entry = (unsigned char *)malloc(sizeof head + size);
    if (!entry)
        return false;
    memcpy(entry, &head, sizeof head);
    memcpy(entry + sizeof head, code, size);
    name_entry(key, name);
    is_stored = !store->store(store->user, name, entry, sizeof head + size);
    free(entry);
    return is_stored;
}

/* `store` of the hooks. */
static void store(void *user, const struct ingot_jit_key *key, const void *code,
                  size_t size)
{
    struct ingot_cache *cache = (struct ingot_cache *)user;

    if (store_entry(&cache->store, key, code, size))
        cache->stored++;
    else
        cache->not_stored++;
}

/* ---- Caches -------------------------------------------------------------- */

enum ingot_status ingot_cache_open(struct ingot_cache **cache,
                                   const struct ingot_cache_store *from)
{
    const struct ingot_jit_cache hooks = {NULL, find, release, store};

    *cache = (struct ingot_cache *)calloc(1, sizeof **cache);
    if (!*cache)
        return INGOT_NO_MEMORY;
    (*cache)->store = *from;
    (*cache)->hooks = hooks;
    (*cache)->hooks.user = *cache;
    return INGOT_OK;
}

enum ingot_status ingot_cache_open_folder(struct ingot_cache **cache,
                                          const char *folder)
{
    const struct ingot_cache_store files = {NULL, load_file, store_file};
    enum ingot_status status;

    *cache = NULL;
    if (!folder || !*folder || strlen(folder) >= INGOT_CACHE_FOLDER_SIZE)
        return INGOT_INVALID;
    if (!make_folder(folder))
        return INGOT_FILE;
    status = ingot_cache_open(cache, &files);
    if (status)
        return status;
    (*cache)->store.user = *cache;
    strcpy((*cache)->folder, folder);
    return INGOT_OK;
}

enum ingot_status ingot_cache_use(struct ingot_cache *cache,
                                  struct ingot_module *module)
{
    return cache ? ingot_use_jit_cache(module, &cache->hooks) : INGOT_INVALID;
}

void ingot_cache_count(const struct ingot_cache *cache,
                       struct ingot_cache_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    if (!cache)
        return;
    counts->found = cache->found;
    counts->missing = cache->missing;
    counts->damaged = cache->damaged;
    counts->stored = cache->stored;
    counts->not_stored = cache->not_stored;
}

void ingot_cache_close(struct ingot_cache *cache)
{
    free(cache);
}
