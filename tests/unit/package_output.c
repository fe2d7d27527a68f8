// Tests of nvptx/package/output.c: files appear whole, all or none.

#include "nvptx/package/output.h"

#include "nvptx/package/depfile.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { LARGE = 100000, LIMIT = 4096 };

// A folder and what a test writes into it.
struct place {
    struct arena arena;
    struct diag_list diags;
    char folder[64];
};

// Make a fresh folder.
static void start(struct place *p)
{
    *p = (struct place){.folder = "/tmp/ingot-output-XXXXXX"};
    p->diags.arena = &p->arena;
    assert_non_null(mkdtemp(p->folder));
}

// Return the path of a file in the folder.
static const char *path_of(struct place *p, const char *name)
{
    return arena_printf(&p->arena, "%s/%s", p->folder, name);
}

// Return how many files and folders are in the folder.
static int count_files(const struct place *p)
{
    DIR *folder = opendir(p->folder);
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *e = readdir(folder); e; e = readdir(folder))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(folder);
    return n;
}

// Remove the folder and the files of these names.
static void end(struct place *p, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        remove(path_of(p, names[i]));
    assert_int_equal(rmdir(p->folder), 0);
    arena_reset(&p->arena);
}

// Check what a file holds.
static void holds(struct place *p, const char *name, const char *text)
{
    char bytes[64] = "";
    FILE *file = fopen(path_of(p, name), "rb");
    assert_non_null(file);
    bytes[fread(bytes, 1, sizeof bytes - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

// Write two files `a` and `b` with these texts.
static bool write_two(struct place *p, const char *a, const char *b)
{
    const struct output files[] = {{path_of(p, "a"), a, strlen(a)},
                                   {path_of(p, "b"), b, strlen(b)}};
    return output_write(&p->arena, NULL, files, 2, &p->diags);
}

static const char *const both[] = {"a", "b"};

static void writes_and_replaces(void **state)
{
    (void)state;
    struct place p;
    struct stat status;
    start(&p);
    assert_true(write_two(&p, "one", "two"));
    holds(&p, "a", "one");
    holds(&p, "b", "two");
    assert_true(write_two(&p, "three", ""));
    holds(&p, "a", "three");
    holds(&p, "b", "");
    assert_int_equal(count_files(&p), 2);
    assert_int_equal(p.diags.errors, 0);
    mode_t mask = umask(022);
    umask(mask);
    assert_int_equal(stat(path_of(&p, "a"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0666 & ~mask);
    end(&p, both, 2);
}

// A link is replaced, not followed.
static void replaces_links(void **state)
{
    static const char *const names[] = {"a", "b", "victim"};
    (void)state;
    struct place p;
    start(&p);
    const struct output victim = {path_of(&p, "victim"), "safe", 4};
    assert_true(output_write(&p.arena, NULL, &victim, 1, &p.diags));
    assert_int_equal(symlink(victim.path, path_of(&p, "a")), 0);
    assert_true(write_two(&p, "one", "two"));
    holds(&p, "victim", "safe");
    holds(&p, "a", "one");
    end(&p, names, 3);
}

// Nothing is changed when one file of several cannot be written.
static void changes_nothing_on_failure(void **state)
{
    (void)state;
    struct place p;
    start(&p);
    assert_int_equal(mkdir(path_of(&p, "b"), 0777), 0);
    assert_false(write_two(&p, "one", "two"));
    assert_int_equal(p.diags.all.at[0].code, D_output_failed);
    assert_string_equal(p.diags.all.at[0].text,
                        arena_printf(&p.arena,
                                     "cannot write `%s/b`: Is a directory",
                                     p.folder));
    assert_int_equal(count_files(&p), 1);
    end(&p, both, 2);
}

// Files that stood there before are as they were.
static void keeps_old_files_on_failure(void **state)
{
    (void)state;
    struct place p;
    start(&p);
    assert_true(write_two(&p, "old a", "old b"));
    const struct output files[] = {{path_of(&p, "a"), "new a", 5},
                                   {path_of(&p, "b"), "new b", 5},
                                   {path_of(&p, "."), "x", 1}};
    assert_false(output_write(&p.arena, NULL, files, 3, &p.diags));
    holds(&p, "a", "old a");
    holds(&p, "b", "old b");
    assert_int_equal(count_files(&p), 2);
    end(&p, both, 2);
}

static void reports_missing_folders(void **state)
{
    (void)state;
    struct place p;
    start(&p);
    const struct output file = {path_of(&p, "none/a"), "x", 1};
    assert_false(output_write(&p.arena, NULL, &file, 1, &p.diags));
    assert_non_null(
        strstr(p.diags.all.at[0].text, "No such file or directory"));
    const struct output inside = {path_of(&p, "none/b"), "x", 1};
    FILE *plain = fopen(path_of(&p, "none"), "wb");
    fclose(plain);
    assert_false(output_write(&p.arena, NULL, &inside, 1, &p.diags));
    assert_non_null(strstr(p.diags.all.at[1].text, "Not a directory"));
    end(&p, (const char *const[]){"none"}, 1);
}

// A limit of file sizes stands for a full disk: an error, not a signal, and
// nothing is left behind.
static void reports_full_disks(void **state)
{
    (void)state;
    struct place p;
    struct rlimit before;
    char *large = calloc(1, LARGE);
    start(&p);
    assert_true(write_two(&p, "old a", "old b"));
    getrlimit(RLIMIT_FSIZE, &before);
    const struct rlimit limit = {LIMIT, before.rlim_max};
    const struct output files[] = {{path_of(&p, "a"), "small", 5},
                                   {path_of(&p, "b"), large, LARGE}};
    setrlimit(RLIMIT_FSIZE, &limit);
    bool ok = output_write(&p.arena, NULL, files, 2, &p.diags);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_false(ok);
    assert_non_null(strstr(p.diags.all.at[0].text, "File too large"));
    holds(&p, "a", "old a");
    holds(&p, "b", "old b");
    assert_int_equal(count_files(&p), 2);
    free(large);
    end(&p, both, 2);
}

// Paths without a folder, and in the root.
static void splits_paths(void **state)
{
    (void)state;
    struct place p;
    char old[1024];
    start(&p);
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(p.folder), 0);
    const struct output file = {"a", "here", 4};
    assert_true(output_write(&p.arena, NULL, &file, 1, &p.diags));
    holds(&p, "a", "here");
    assert_int_equal(chdir(old), 0);
    const struct output root = {"/proc", "x", 1};
    assert_false(output_write(&p.arena, NULL, &root, 1, &p.diags));
    end(&p, both, 1);
}

static void writes_rules_of_make(void **state)
{
    static const char *const targets[] = {"out/a b.h", "c.fatbin"};
    static const char *const sources[] = {"$x#.ing", "lib.ing"};
    (void)state;
    struct buf out = {0};
    depfile_write(targets, 2, sources, 2, &out);
    assert_string_equal(out.data, "out/a\\ b.h c.fatbin: \\\n  $$x\\#.ing \\\n"
                                  "  lib.ing\n\n$$x\\#.ing:\n\nlib.ing:\n");
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_replaces),
        cmocka_unit_test(replaces_links),
        cmocka_unit_test(changes_nothing_on_failure),
        cmocka_unit_test(keeps_old_files_on_failure),
        cmocka_unit_test(reports_missing_folders),
        cmocka_unit_test(reports_full_disks),
        cmocka_unit_test(splits_paths),
        cmocka_unit_test(writes_rules_of_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
