// Every name that a header may have: against each macro and each identifier of
// what it includes, as the compilers at hand see them, not as a table lists
// them.

#include "ir/text/lex.h"
#include "nvptx/package/c_names.h"
#include "nvptx/process.h"
#include "support/package_fixture.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGS_MOST = 12, KERNELS_MOST = 4096 };

// A compiler and a language.
struct language {
    const char *compiler;
    const char *options[2];
};

static const struct language languages[] = {
    {"gcc", {"-xc", "-std=c99"}},      {"gcc", {"-xc", "-std=gnu17"}},
    {"g++", {"-xc++", "-std=c++11"}},  {"g++", {"-xc++", "-std=gnu++20"}},
    {"clang", {"-xc", "-std=gnu17"}},  {"clang", {"-xc++", "-std=gnu++20"}},
    {"clang-22", {"-xc", "-std=c23"}}, {"clang-22", {"-xc++", "-std=gnu++20"}},
};
enum { LANGUAGES = sizeof languages / sizeof *languages };

// The names of one language's headers.
struct scene {
    struct fixture f;
    const char *compiler; // its path
    const struct language *language;
    char folder[64], file[96];
    struct VEC(const char *) macros, names;
};

// Write a file.
static void write_file(const char *path, const char *text, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

// Run the scene's compiler on its file; returns what it wrote.
static const char *compile(struct scene *s, const char *one, const char *two)
{
    struct arena *a = &s->f.arena;
    const char *argv[ARGS_MOST] = {
        "/usr/bin/env",
        arena_printf(a, "PATH=%s", getenv("PATH")),
        s->compiler,
        s->language->options[0],
        s->language->options[1],
        arena_printf(a, "-I%s/runtime", getenv("SOURCE_DIR")),
        s->file,
        one,
        two};
    struct process p = {.argv = argv};
    process_run(a, &p, 1);
    if (p.end != PROCESS_EXITED || p.code != 0)
        fprintf(stderr, "%s %s: %.4000s\n", s->compiler,
                s->language->options[1], p.errors.data ? p.errors.data : "");
    assert_int_equal(p.end, PROCESS_EXITED);
    assert_int_equal(p.code, 0);
    const char *output =
        arena_copy(a, p.output.n ? p.output.data : "", p.output.n);
    process_free(&p);
    return output;
}

// Note the macro that each line of `cc -dM` defines.
static void note_macros(struct scene *s, const char *text)
{
    for (; (text = strstr(text, "#define ")); text++) {
        const char *name = text + strlen("#define ");
        size_t n = strcspn(name, " (\n");
        vec_push(&s->f.arena, &s->macros, arena_copy(&s->f.arena, name, n));
    }
}

// Return whether a list has a name.
static bool has(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

// Note each word of what the preprocessor leaves: types, functions, tags,
// enumerators, members and parameters.
static void note_names(struct scene *s, const char *text)
{
    while (*text) {
        size_t n = 0;
        while (isalnum((unsigned char)text[n]) || text[n] == '_')
            n++;
        const char *name = arena_copy(&s->f.arena, text, n);
        if (n && !isdigit((unsigned char)*text) &&
            !has(s->names.at, s->names.n, name))
            vec_push(&s->f.arena, &s->names, name);
        text += n ? n : 1;
    }
}

// Find the names of a language; false if its compiler is not there, or does
// not know it.
static bool start(struct scene *s, const struct language *language)
{
    static const char text[] = "#include \"ingot.h\"\n";
    if (!getenv("SOURCE_DIR"))
        skip();
    *s = (struct scene){.language = language};
    fixture_start(&s->f);
    s->compiler =
        process_find(&s->f.arena, language->compiler, NULL, 0, getenv("PATH"));
    if (!s->compiler)
        return false;
    snprintf(s->folder, sizeof s->folder, "/tmp/ingot-names-XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    snprintf(s->file, sizeof s->file, "%s/names.h", s->folder);
    write_file(s->file, text, strlen(text));
    note_macros(s, compile(s, "-dM", "-E"));
    note_names(s, compile(s, "-P", "-E"));
    return true;
}

// Remove what a scene wrote.
static void end(struct scene *s)
{
    if (*s->folder) {
        unlink(s->file);
        rmdir(s->folder);
    }
    fixture_end(&s->f);
}

// ---- Macros -----------------------------------------------------------------

// No macro is a free name: it would be replaced wherever it stands.
static void refuses_every_macro(void **state)
{
    (void)state;
    size_t seen = 0, free_names = 0;
    for (int i = 0; i < LANGUAGES; i++) {
        struct scene s;
        start(&s, &languages[i]);
        for (size_t k = 0; k < s.macros.n; k++) {
            seen++;
            if (c_name_taken(s.macros.at[k]))
                continue;
            free_names++;
            fprintf(stderr, "%s %s: the macro `%s` is a free name\n",
                    s.language->compiler, s.language->options[1],
                    s.macros.at[k]);
        }
        end(&s);
    }
    assert_true(seen > 0);
    assert_int_equal(free_names, 0);
}

// ---- Headers ----------------------------------------------------------------

// Return whether a name can stand in a file of ours at all.
static bool is_word(const char *name)
{
    struct type type;
    return !lex_is_reserved(name) && !type_find(name, &type);
}

// Append a kernel called `name` unless that is refused, and one whose size has
// that name.
static size_t add_kernels(struct scene *s, const char *name, size_t n,
                          const char **texts)
{
    static const char form[] =
        "kernel %s(%s: int, scale_q: f32, from_q: f32[%s]) -> to_q: f32[%s]\n"
        "    where %s %% 2 == 0\n"
        "    level flat\n{\n"
        "    launch %s_on_device grid(ceildiv(%s, 256), 1, 1) block(256, 1, 1) "
        "{\n    }\n}\n";
    struct arena *a = &s->f.arena;
    const char *size = arena_printf(a, "sized_%zu", n);
    if (!c_name_taken(name))
        texts[n++] = arena_printf(a, form, name, "n_q", "n_q", "n_q", "n_q",
                                  name, "n_q");
    texts[n++] =
        arena_printf(a, form, size, name, name, name, name, size, name);
    return n;
}

// Compile the header of a package of kernels.
static void compile_header(struct scene *s, const char *const *texts, size_t n)
{
    static const char *const target[] = {"compute_75"};
    struct package_files files;
    struct package p = fixture_package(&s->f, "names", texts, n);
    fixture_images(&s->f, &p, target, 1);
    bool ok = package_make(&s->f.arena, &p, &s->f.diags, &files);
    if (!ok)
        fprintf(stderr, "%s\n", fixture_message(&s->f));
    assert_true(ok);
    write_file(s->file, files.header.data, files.header.n);
    package_free(&files);
    compile(s, "-fsyntax-only", "-Werror");
}

// Each name of the headers is refused, or gives a header that compiles; a
// parameter of that name always does.
static void compiles_every_free_name(void **state)
{
    (void)state;
    size_t compiled = 0;
    for (int i = 0; i < LANGUAGES; i++) {
        struct scene s;
        bool has_names = start(&s, &languages[i]);
        const char **texts =
            arena_array(&s.f.arena, const char *, KERNELS_MOST);
        size_t n = 0;
        for (size_t k = 0; k < s.macros.n; k++)
            if (!has(s.names.at, s.names.n, s.macros.at[k]))
                vec_push(&s.f.arena, &s.names, s.macros.at[k]);
        for (size_t k = 0; k < s.names.n && n + 2 <= KERNELS_MOST; k++)
            if (is_word(s.names.at[k]))
                n = add_kernels(&s, s.names.at[k], n, texts);
        if (has_names)
            compile_header(&s, texts, n);
        compiled += n;
        end(&s);
    }
    assert_true(compiled > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_every_macro),
        cmocka_unit_test(compiles_every_free_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
