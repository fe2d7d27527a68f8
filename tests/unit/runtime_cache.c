/* Caches of compiled PTX: what is found, what is not used, what is stored, by
 * one process and by many.  Includes the cache to make allocations fail. */

#include "tests/fake_driver/harness.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/wait.h>
#endif

/* Allocations left before one fails; -1: none does. */
static int allocations_left = -1;

/* Is it this allocation's turn to fail? */
static bool fails_now(void)
{
    if (allocations_left < 0)
        return false;
    return allocations_left-- == 0;
}

static void *test_malloc_(size_t size)
{
    return fails_now() ? NULL : malloc(size);
}

static void *test_calloc_(size_t count, size_t size)
{
    return fails_now() ? NULL : calloc(count, size);
}

#undef malloc
#undef calloc
#define malloc(size)        test_malloc_(size)
#define calloc(count, size) test_calloc_(count, size)
#include "runtime/ingot_cache.c"
#undef malloc
#undef calloc

enum { ENTRY_MOST = 1024, THREADS = 4, ROUNDS = 200 };

/* A store of one entry in memory, with faults. */
struct shelf {
    char name[INGOT_CACHE_NAME_SIZE];
    unsigned char bytes[ENTRY_MOST];
    size_t size;
    int loads, stores; /* calls */
    size_t lie;        /* added to the size that the first call says */
    bool is_full;      /* stores fail */
};

static size_t load_shelf(void *user, const char *name, void *bytes, size_t room)
{
    struct shelf *shelf = user;

    shelf->loads++;
    if (strcmp(shelf->name, name))
        return 0;
    if (room)
        memcpy(bytes, shelf->bytes, room < shelf->size ? room : shelf->size);
    return room ? shelf->size : shelf->size + shelf->lie;
}

static int store_shelf(void *user, const char *name, const void *bytes,
                       size_t size)
{
    struct shelf *shelf = user;

    shelf->stores++;
    if (shelf->is_full || size > ENTRY_MOST)
        return 1;
    snprintf(shelf->name, sizeof shelf->name, "%s", name);
    memcpy(shelf->bytes, bytes, size);
    shelf->size = size;
    return 0;
}

/* A cache over a shelf. */
static struct ingot_cache *open_shelf(struct shelf *shelf)
{
    const struct ingot_cache_store functions = {shelf, load_shelf, store_shelf};
    struct ingot_cache *cache;

    assert_int_equal(ingot_cache_open(&cache, &functions), INGOT_OK);
    return cache;
}

/* Loads the sample `images` with a cache on the driver as it is.  Returns
 * whether the driver compiled. */
static bool compiles(struct ingot_cache *cache, const char *images)
{
    const struct fake_functions *driver = fake_driver();
    int before = driver->calls("cuLinkComplete");
    struct ingot_module *module;
    struct ingot_load load;
    struct sample sample;

    sample_make(&sample, images);
    module = open_sample(&sample, 0);
    assert_int_equal(ingot_cache_use(cache, module), INGOT_OK);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(launch_vadd(module, NULL), INGOT_OK);
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    close_balanced(module);
    assert_int_equal(load.refused, 0);
    if (driver->calls("cuLinkComplete") == before)
        assert_true(load.jit_ms <= 0);
    return driver->calls("cuLinkComplete") > before;
}

/* Has the cache counted so? */
static void counts(const struct ingot_cache *cache, uint32_t found,
                   uint32_t missing, uint32_t damaged, uint32_t stored,
                   uint32_t not_stored)
{
    struct ingot_cache_counts now;

    ingot_cache_count(cache, &now);
    assert_int_equal(now.found, found);
    assert_int_equal(now.missing, missing);
    assert_int_equal(now.damaged, damaged);
    assert_int_equal(now.stored, stored);
    assert_int_equal(now.not_stored, not_stored);
}

static void compiles_once(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);

    (void)state;
    fake_fresh();
    assert_true(compiles(cache, "ptx75"));
    assert_false(compiles(cache, "ptx75"));
    assert_false(compiles(cache, "ptx75"));
    counts(cache, 2, 1, 0, 1, 0);
    assert_true(strstr(shelf.name, "-sm90-13000-0.ingot1"));
    ingot_cache_close(cache);
}

static void an_entry_is_for_one_artefact_gpu_and_driver(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);
    struct fake *fake = fake_fresh();

    (void)state;
    assert_true(compiles(cache, "ptx75"));
    assert_true(compiles(cache, "ptx80"));
    fake->sm[0] = 100;
    assert_true(compiles(cache, "ptx80"));
    fake->driver_version = 12080;
    assert_true(compiles(cache, "ptx80"));
    assert_false(compiles(cache, "ptx80"));
    counts(cache, 1, 4, 0, 4, 0);
    assert_int_equal(fake->foreign, 0);
    ingot_cache_close(cache);
}

static void machine_code_of_the_fatbin_is_not_cached(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);
    struct fake *fake = fake_fresh();

    (void)state;
    assert_false(compiles(cache, "cubin90 ptx75"));
    fake->hidden[0] = "cuLinkCreate";
    assert_false(compiles(cache, "ptx75"));
    assert_int_equal(shelf.loads + shelf.stores, 0);
    ingot_cache_close(cache);
}

static void a_module_does_without_again(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);
    struct ingot_module *module;
    struct sample sample;

    (void)state;
    fake_fresh();
    sample_make(&sample, "ptx75");
    module = open_sample(&sample, 0);
    assert_int_equal(ingot_cache_use(cache, module), INGOT_OK);
    assert_int_equal(ingot_use_jit_cache(module, NULL), INGOT_OK);
    assert_int_equal(ingot_preload(module), INGOT_OK);
    assert_int_equal(shelf.loads + shelf.stores, 0);
    close_balanced(module);
    ingot_cache_close(cache);
}

/* Does the cache find an entry for `key`? */
static bool is_found(struct ingot_cache *cache, const struct ingot_jit_key *key)
{
    size_t size;
    const void *code = cache->hooks.find(cache, key, &size);

    if (code)
        cache->hooks.release(cache, code);
    return code;
}

static void every_damage_is_noticed(void **state)
{
    const struct ingot_jit_key key = {1, 2, 90, 13000, 0, 0};
    struct shelf shelf = {0}, good;
    struct ingot_cache *cache = open_shelf(&shelf);
    size_t i;

    (void)state;
    cache->hooks.store(cache, &key, "0123456789abcdef0123", 20);
    good = shelf;
    for (i = 0; i < good.size * 8; i++) {
        shelf.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
        assert_false(is_found(cache, &key));
        shelf.bytes[i / 8] ^= (unsigned char)(1 << i % 8);
    }
    for (shelf.size = 0; shelf.size < ENTRY_MOST; shelf.size++)
        assert_int_equal(is_found(cache, &key), shelf.size == good.size);
    shelf = good;
    assert_true(is_found(cache, &key));
    ingot_cache_close(cache);
}

static void an_entry_under_another_name_is_not_used(void **state)
{
    struct ingot_jit_key key = {1, 2, 90, 13000, 0, 0}, *changed = &key;
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);
    size_t i;

    (void)state;
    cache->hooks.store(cache, &key, "0123456789abcdef0123", 20);
    for (i = 0; i < offsetof(struct ingot_jit_key, reserved); i++) {
        ((unsigned char *)changed)[i] ^= 1;
        assert_false(is_found(cache, &key));
        name_entry(&key, shelf.name);
        assert_false(is_found(cache, &key));
        ((unsigned char *)changed)[i] ^= 1;
        name_entry(&key, shelf.name);
    }
    counts(cache, 0, (uint32_t)i, (uint32_t)i, 1, 0);
    assert_true(is_found(cache, &key));
    ingot_cache_close(cache);
}

static void a_damaged_entry_is_replaced(void **state)
{
    struct shelf shelf = {0}, good;
    struct ingot_cache *cache = open_shelf(&shelf);

    (void)state;
    fake_fresh();
    assert_true(compiles(cache, "ptx75"));
    good = shelf;
    shelf.bytes[100] ^= 1;
    assert_true(compiles(cache, "ptx75"));
    assert_int_equal(memcmp(shelf.bytes, good.bytes, good.size), 0);
    shelf.size--;
    assert_true(compiles(cache, "ptx75"));
    assert_false(compiles(cache, "ptx75"));
    counts(cache, 1, 1, 2, 3, 0);
    ingot_cache_close(cache);
}

static void what_the_driver_refuses_is_replaced(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);
    struct fake *fake = fake_fresh();

    (void)state;
    assert_true(compiles(cache, "ptx75"));
    fake->fail_function = "cuModuleLoadDataEx";
    fake->fail_call = 2;
    fake->fail_result = 200;
    assert_true(compiles(cache, "ptx75"));
    assert_false(compiles(cache, "ptx75"));
    counts(cache, 2, 1, 0, 2, 0);
    ingot_cache_close(cache);
}

static void what_is_no_machine_code_never_meets_the_driver(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);
    struct sample sample;
    struct ingot_jit_key key = {0, 0, 90, 13000, 0, 0};

    (void)state;
    fake_fresh();
    sample_make(&sample, "ptx75");
    key.fatbin_hash = sample.artifact.fatbin_hash;
    key.image_hash = sample.images[0].hash;
    cache->hooks.store(cache, &key, "no machine code", 16);
    assert_true(compiles(cache, "ptx75"));
    assert_int_equal(fake_driver()->calls("cuModuleLoadDataEx"), 1);
    assert_false(compiles(cache, "ptx75"));
    ingot_cache_close(cache);
}

static void what_a_store_cannot_do_fails_no_load(void **state)
{
    const struct ingot_cache_store none = {NULL, NULL, NULL};
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);

    (void)state;
    fake_fresh();
    shelf.is_full = true;
    assert_true(compiles(cache, "ptx75"));
    counts(cache, 0, 1, 0, 0, 1);
    shelf.is_full = false;
    assert_true(compiles(cache, "ptx75"));
    shelf.lie = 1;
    assert_true(compiles(cache, "ptx75"));
    shelf.lie = SIZE_MAX / 2;
    assert_true(compiles(cache, "ptx75"));
    counts(cache, 0, 2, 2, 3, 1);
    ingot_cache_close(cache);
    assert_int_equal(ingot_cache_open(&cache, &none), INGOT_OK);
    assert_true(compiles(cache, "ptx75"));
    counts(cache, 0, 1, 0, 0, 1);
    ingot_cache_close(cache);
}

/* A folder of the test's own, whose path becomes `path`. */
static void make_scratch(char path[64])
{
    static int number;

    snprintf(path, 64, "/tmp/ingot-cache-%d-%d", (int)getpid(), ++number);
    assert_true(make_folder(path));
}

/* The number of files in the folder `path`; the last name goes to `name`. */
static int list(const char *path, char *name)
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    int files = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.') {
            snprintf(name, PATH_SIZE, "%s/%s", path, entry->d_name);
            files++;
        }
    closedir(folder);
    return files;
}

/* Removes a folder, and the files in it. */
static void remove_scratch(const char *path)
{
    char name[PATH_SIZE];

    while (list(path, name))
        assert_true(!remove(name) || !rmdir(name));
    rmdir(path);
}

static void a_folder_outlives_its_cache(void **state)
{
    char path[64], name[PATH_SIZE];
    struct ingot_cache *cache;

    (void)state;
    fake_fresh();
    make_scratch(path);
    rmdir(path);
    assert_int_equal(ingot_cache_open_folder(&cache, path), INGOT_OK);
    assert_true(compiles(cache, "ptx75"));
    ingot_cache_close(cache);
    assert_int_equal(list(path, name), 1);
    assert_int_equal(ingot_cache_open_folder(&cache, path), INGOT_OK);
    assert_false(compiles(cache, "ptx75"));
    counts(cache, 1, 0, 0, 0, 0);
    assert_int_equal(remove(name), 0);
    assert_true(compiles(cache, "ptx75"));
    assert_int_equal(list(path, name), 1);
    ingot_cache_close(cache);
    remove_scratch(path);
}

static void what_is_no_folder_is_refused(void **state)
{
    char path[64], name[PATH_SIZE], most[INGOT_CACHE_FOLDER_SIZE + 1];
    struct ingot_cache *cache;

    (void)state;
    make_scratch(path);
    snprintf(name, sizeof name, "%s/no/folder", path);
    assert_int_equal(ingot_cache_open_folder(&cache, name), INGOT_FILE);
    assert_true(!cache);
    snprintf(name, sizeof name, "%s/file", path);
    fclose(fopen(name, "wb"));
    assert_int_equal(ingot_cache_open_folder(&cache, name), INGOT_FILE);
    memset(most, 'x', sizeof most);
    most[INGOT_CACHE_FOLDER_SIZE] = '\0';
    assert_int_equal(ingot_cache_open_folder(&cache, most), INGOT_INVALID);
    assert_int_equal(ingot_cache_open_folder(&cache, ""), INGOT_INVALID);
    assert_int_equal(ingot_cache_open_folder(&cache, NULL), INGOT_INVALID);
#ifndef _WIN32
    assert_int_equal(chmod(path, 0777), 0);
    assert_int_equal(ingot_cache_open_folder(&cache, path), INGOT_FILE);
    assert_true(!cache);
#endif
    remove_scratch(path);
}

static void a_folder_that_cannot_be_written_to_is_no_failure(void **state)
{
    const struct ingot_jit_key key = {1, 2, 90, 13000, 0, 0};
    char path[64], name[PATH_SIZE], entry[INGOT_CACHE_NAME_SIZE];
    struct ingot_cache *cache;

    (void)state;
    fake_fresh();
    make_scratch(path);
    assert_int_equal(ingot_cache_open_folder(&cache, path), INGOT_OK);
    name_entry(&key, entry);
    snprintf(name, sizeof name, "%s/%s", path, entry);
    assert_true(make_folder(name));
    assert_false(is_found(cache, &key));
    cache->hooks.store(cache, &key, "code", 4);
    assert_int_equal(list(path, name), 1);
    remove_scratch(path);
    assert_true(compiles(cache, "ptx75"));
    assert_int_equal(cache->not_stored, 2);
    ingot_cache_close(cache);
}

static void files_of_a_crashed_process_are_in_nobodys_way(void **state)
{
    const struct ingot_jit_key key = {1, 2, 90, 13000, 0, 0};
    char path[64], name[PATH_SIZE], entry[INGOT_CACHE_NAME_SIZE];
    struct ingot_cache *cache;
    int i;

    (void)state;
    make_scratch(path);
    assert_int_equal(ingot_cache_open_folder(&cache, path), INGOT_OK);
    name_entry(&key, entry);
    for (i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s/%s.%lu-%d.tmp", path, entry,
                 process_id(), i);
        fclose(fopen(name, "wb"));
    }
    cache->hooks.store(cache, &key, "code", 4);
    assert_true(is_found(cache, &key));
    assert_int_equal(list(path, name), 4);
    ingot_cache_close(cache);
    remove_scratch(path);
}

/* Stores and finds in turn in a folder of many; true if what was found was
 * always whole.  On Windows a file that is read cannot be replaced. */
static bool takes_part(const char *path, unsigned char fill)
{
    const struct ingot_jit_key key = {1, 2, 90, 13000, 0, 0};
    unsigned char code[5000];
    struct ingot_cache *cache;
    bool is_right;
    int i;

    if (ingot_cache_open_folder(&cache, path))
        return false;
    for (i = 0; i < ROUNDS; i++) {
        memset(code, fill, sizeof code);
        cache->hooks.store(cache, &key, code, sizeof code);
        is_found(cache, &key);
    }
    is_right = !cache->damaged;
#ifndef _WIN32
    is_right = is_right && !cache->missing && !cache->not_stored;
#endif
    ingot_cache_close(cache);
    return is_right;
}

/* A thread of `many_use_one_folder`. */
static void *run_thread(void *path)
{
    return takes_part(path, 7) ? path : NULL;
}

static void many_use_one_folder(void **state)
{
    pthread_t threads[THREADS];
    char path[64], name[PATH_SIZE];
    void *result;
    int i;

    (void)state;
    make_scratch(path);
#ifndef _WIN32
    for (i = 0; i < THREADS; i++)
        if (!fork())
            _exit(!takes_part(path, (unsigned char)i));
    for (i = 0; i < THREADS; i++) {
        int status = -1;

        wait(&status);
        assert_int_equal(status, 0);
    }
#endif
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_thread, path),
                         0);
    for (i = 0; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        assert_non_null(result);
    }
    assert_int_equal(list(path, name), 1);
    remove_scratch(path);
}

static void every_allocation(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache;
    char path[64];

    (void)state;
    fake_fresh();
    make_scratch(path);
    allocations_left = 0;
    assert_int_equal(ingot_cache_open_folder(&cache, path), INGOT_NO_MEMORY);
    assert_true(!cache);
    remove_scratch(path);
    cache = open_shelf(&shelf);
    allocations_left = 0;
    assert_true(compiles(cache, "ptx75"));
    counts(cache, 0, 1, 0, 0, 1);
    allocations_left = -1;
    assert_true(compiles(cache, "ptx75"));
    counts(cache, 0, 2, 0, 1, 1);
    allocations_left = 0;
    assert_true(compiles(cache, "ptx75"));
    counts(cache, 0, 3, 0, 2, 1);
    allocations_left = -1;
    assert_false(compiles(cache, "ptx75"));
    ingot_cache_close(cache);
}

static void null_is_refused(void **state)
{
    struct shelf shelf = {0};
    struct ingot_cache *cache = open_shelf(&shelf);

    (void)state;
    assert_int_equal(ingot_cache_use(cache, NULL), INGOT_INVALID);
    assert_int_equal(ingot_cache_use(NULL, NULL), INGOT_INVALID);
    counts(NULL, 0, 0, 0, 0, 0);
    ingot_cache_close(NULL);
    ingot_cache_close(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_once),
        cmocka_unit_test(an_entry_is_for_one_artefact_gpu_and_driver),
        cmocka_unit_test(machine_code_of_the_fatbin_is_not_cached),
        cmocka_unit_test(a_module_does_without_again),
        cmocka_unit_test(every_damage_is_noticed),
        cmocka_unit_test(an_entry_under_another_name_is_not_used),
        cmocka_unit_test(a_damaged_entry_is_replaced),
        cmocka_unit_test(what_the_driver_refuses_is_replaced),
        cmocka_unit_test(what_is_no_machine_code_never_meets_the_driver),
        cmocka_unit_test(what_a_store_cannot_do_fails_no_load),
        cmocka_unit_test(a_folder_outlives_its_cache),
        cmocka_unit_test(what_is_no_folder_is_refused),
        cmocka_unit_test(a_folder_that_cannot_be_written_to_is_no_failure),
        cmocka_unit_test(files_of_a_crashed_process_are_in_nobodys_way),
        cmocka_unit_test(many_use_one_folder),
        cmocka_unit_test(every_allocation),
        cmocka_unit_test(null_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
