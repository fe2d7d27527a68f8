// ingot build FILE...: kernels to fatbins, headers and manifests.
//
//   ingot build gemm.ing -o out           out/gemm.fatbin, .h and .json
//   ingot build gemm.ing --emit ptx       gemm.compute_75.ptx
//   ingot build gemm.ing --emit cubin     gemm.sm_90.cubin

#include "tools/ingot/cli.h"

#include "nvptx/package/depfile.h"
#include "nvptx/package/driver.h"
#include "nvptx/package/output.h"
#include "tools/ingot/check.h"
#include "tools/ingot/json.h"
#include "tools/ingot/package_options.h"
#include "tools/ingot/prefix.h"
#include "tools/ingot/problem_options.h"
#include "tools/ingot/results.h"
#include "tools/ingot/targets.h"
#include "tools/libingot/artefact.h"
#include "tools/libingot/contracts.h"
#include "tools/libingot/jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What --emit can ask for.
enum emit_kind { EMIT_PACKAGE, EMIT_OBJECT, EMIT_CUBIN, EMIT_TEXT };
struct emit {
    const char *name;
    enum emit_kind kind;
    enum nvptx_form form;  // of a text
    const char *extension; // of a text or cubin
};

static const struct emit emits[] = {
    {"fatbin", EMIT_PACKAGE, NVPTX_PTX, ""},
    {"object", EMIT_OBJECT, NVPTX_PTX, ""},
    {"cubin", EMIT_CUBIN, NVPTX_PTX, "cubin"},
    {"ptx", EMIT_TEXT, NVPTX_PTX, "ptx"},
    {"optimised", EMIT_TEXT, NVPTX_OPTIMISED, "ll"},
    {"llvm", EMIT_TEXT, NVPTX_LLVM, "ll"},
};
enum { EMITS = sizeof emits / sizeof *emits };

// What the command line asks for, and what is done so far.
struct build {
    struct cli_compile compile;
    struct cli_targets targets;
    struct package_options package;
    struct toolchain tools;
    struct arena arena;
    struct VEC(const char *) files;
    struct VEC(struct nvptx_path_map) maps; // --path-map
    struct built_kernels kernels;
    const char *folder;  // -o
    const char *depfile; // or NULL
    const struct emit *emit;
    size_t jobs;     // --jobs, or 0
    bool fatbinary;  // --fatbinary
    bool check;      // --check
    json_t *results; // --json, else NULL
};

// One file on its way.
struct job {
    struct build *build;
    struct compilation *c;
    const char *path; // of the source
    const char *name; // of the results
    struct VEC(struct output) outputs;
    int driver;            // the oldest that runs them; 0: there is no package
    const char *needed_by; // what needs it
    double began;          // milliseconds, the phase that runs
};

enum {
    KEY_EMIT = 2048,
    KEY_DEPFILE,
    KEY_JSON,
    KEY_FATBINARY,
    KEY_CHECK,
    KEY_JOBS,
    KEY_PATH_MAP
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "write the results into this folder", 0},
    {"emit", KEY_EMIT, "WHAT", 0,
     "write this alone: fatbin (with its header and manifest), object (the "
     "same with an object file of the host that holds the fatbin), cubin, ptx, "
     "optimised or llvm (LLVM IR); texts are for --ptx unless --arch is given",
     0},
    {"depfile", KEY_DEPFILE, "FILE", 0,
     "write a rule of make: the header depends on the source", 0},
    {"fatbinary", KEY_FATBINARY, 0, 0,
     "let NVIDIA's fatbinary pack; the bytes are the same", 0},
    {"jobs", KEY_JOBS, "N", 0,
     "make images for so many architectures at a time (default: one for each "
     "processor; below make -j, what its jobserver allows)",
     0},
    {"check", KEY_CHECK, 0, 0,
     "run every kernel on the CPU at a few small sizes first, as `ingot check` "
     "does; a fault is an error",
     0},
    {"path-map", KEY_PATH_MAP, "OLD=NEW", 0,
     "name sources below the folder OLD as below NEW in what --lineinfo "
     "writes; the last one that fits counts",
     0},
    {"json", KEY_JSON, 0, 0, "print results and diagnostics as JSON", 0},
    {0}};

// Return the row of --emit with that name; ends the process if there is none.
static const struct emit *find_emit(const char *name, struct argp_state *state)
{
    for (int i = 0; i < EMITS; i++)
        if (strcmp(emits[i].name, name) == 0)
            return &emits[i];
    argp_error(
        state,
        "--emit takes fatbin, object, cubin, ptx, optimised or llvm, not "
        "`%s`",
        name);
    return NULL;
}

// Return why two files cannot be built by one command, or NULL: their results
// would have one name.
static const char *clash(const struct build *b, struct arena *a)
{
    for (size_t i = 0; i < b->files.n; i++)
        for (size_t k = 0; k < i; k++) {
            const char *one = cli_stem(a, b->files.at[i]);
            if (strcmp(one, cli_stem(a, b->files.at[k])) == 0)
                return arena_printf(a,
                                    "`%s` and `%s` would both be built as "
                                    "`%s`: give each a folder of its own",
                                    b->files.at[k], b->files.at[i], one);
        }
    return NULL;
}

// Check what options mean together.
static void check_options(struct build *b, struct argp_state *state)
{
    const char *wrong = b->compile.stop_after ? NULL : clash(b, &b->arena);
    if (wrong)
        argp_error(state, "%s", wrong);
    if (b->depfile && b->files.n > 1)
        argp_error(state, "--depfile is for one FILE");
    if (b->results && b->compile.stop_after)
        argp_error(state, "--json and --stop-after exclude each other");
    if (b->depfile && b->emit->kind > EMIT_OBJECT)
        argp_error(state, "--depfile is for the header; --emit writes none");
    package_options_check(&b->package, b->emit->kind == EMIT_OBJECT,
                          b->emit->kind > EMIT_OBJECT, state);
    if (b->targets.has_arch && !b->targets.cubins.n && !b->targets.ptx)
        argp_error(state, "--arch none --ptx none leaves nothing to build");
}

// Add `OLD=NEW` to the path maps.
static void add_path_map(struct build *b, const char *text,
                         struct argp_state *state)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        argp_error(state, "--path-map needs OLD=NEW, not `%s`", text);
    struct nvptx_path_map map = {
        arena_copy(&b->arena, text, (size_t)(equals - text)), equals + 1};
    vec_push(&b->arena, &b->maps, map);
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct build *b = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &b->compile;
        state->child_inputs[1] = &b->targets;
        state->child_inputs[2] = &b->package;
        return 0;
    case 'o': b->folder = arg; return 0;
    case KEY_EMIT: b->emit = find_emit(arg, state); return 0;
    case KEY_DEPFILE: b->depfile = arg; return 0;
    case KEY_FATBINARY: b->fatbinary = true; return 0;
    case KEY_CHECK: b->check = true; return 0;
    case KEY_JOBS: b->jobs = problem_count(arg, state); return 0;
    case KEY_JSON: b->results = json_array(); return 0;
    case KEY_PATH_MAP: add_path_map(b, arg, state); return 0;
    case ARGP_KEY_ARG: vec_push(&b->arena, &b->files, arg); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    case ARGP_KEY_END: check_options(b, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// ---- Results --------------------------------------------------------------

// Return the path of a result.
static const char *path_of(const struct job *j, const char *suffix)
{
    const char *folder = j->build->folder;
    size_t n = strlen(folder);
    const char *slash = n && folder[n - 1] != '/' ? "/" : "";
    return arena_printf(&j->c->arena, "%s%s%s%s", folder, slash, j->name,
                        suffix);
}

// Add a result: its bytes are copied.
static void add_output(struct job *j, const char *suffix, const struct buf *b)
{
    struct arena *a = &j->c->arena;
    struct output output = {path_of(j, suffix),
                            arena_copy(a, b->n ? b->data : "", b->n), b->n};
    vec_push(a, &j->outputs, output);
}

// Note the time that a phase took, if asked for, and begin the next.
static void end_phase(struct job *j, const char *name)
{
    double now = phases_now();
    if (name)
        phases_add(j->build->compile.options.passes.times, name,
                   now - j->began);
    j->began = now;
}

// Add the text of one target.
static bool add_text(struct job *j, const struct compile_options *o,
                     const struct nvptx_target *target, enum image_kind kind)
{
    struct buf text = {0};
    char name[IMAGE_NAME_SIZE];
    const struct emit *emit = j->build->emit;
    image_name(kind, target->number, target->kind, name);
    bool ok = compile_emit(j->c, o, target, emit->form, &text);
    if (ok)
        add_output(j,
                   arena_printf(&j->c->arena, ".%s.%s", name, emit->extension),
                   &text);
    buf_free(&text);
    return ok;
}

// Add the texts of all targets.
static bool add_texts(struct job *j, const struct compile_options *o)
{
    for (size_t i = 0; i < o->n_targets; i++)
        if (!add_text(j, o, o->targets[i], IMAGE_CUBIN))
            return false;
    return !o->ptx || add_text(j, o, o->ptx, IMAGE_PTX);
}

// Add the cubins.
static void add_cubins(struct job *j)
{
    for (size_t i = 0; i < j->c->images.n; i++) {
        const struct compiled_image *image = &j->c->images.at[i];
        struct buf bytes = {(char *)image->bytes, image->size, 0};
        char name[IMAGE_NAME_SIZE];
        image_name(image->kind, image->target->number, image->target->kind,
                   name);
        add_output(j, arena_printf(&j->c->arena, ".%s.cubin", name), &bytes);
    }
}

// Files by their paths.
struct paths VEC(const char *);

// Add a source and the records of tuning beside it.
static void add_dependency(struct job *j, const char *path, struct paths *to)
{
    const char *tuned = cli_tuned(&j->c->arena, path);
    vec_push(&j->c->arena, to, path);
    if (tuned)
        vec_push(&j->c->arena, to, tuned);
}

// Add the rule of make.
static void add_depfile(struct job *j)
{
    const char *header = path_of(j, ".h");
    const struct cli_compile *compile = &j->build->compile;
    struct paths sources = {0};
    struct buf rule = {0};
    add_dependency(j, j->path, &sources);
    for (size_t i = 0; i < compile->schedules.n; i++)
        add_dependency(j, compile->schedules.at[i], &sources);
    depfile_write(&header, 1, sources.at, sources.n, &rule);
    struct output output = {
        j->build->depfile, arena_copy(&j->c->arena, rule.data, rule.n), rule.n};
    vec_push(&j->c->arena, &j->outputs, output);
    buf_free(&rule);
}

// Add the callers in other languages.
static void add_bindings(struct job *j, const struct buf *manifest)
{
    for (int i = 0; i < BINDING_COUNT; i++) {
        struct buf text = {0};
        if (!j->build->package.bindings[i])
            continue;
        bindings_write(&j->c->arena, (enum binding)i, manifest->data,
                       manifest->n, &text);
        add_output(j,
                   arena_printf(&j->c->arena, ".%s",
                                binding_info((enum binding)i)->extension),
                   &text);
        buf_free(&text);
    }
}

// Add fatbin, manifest, the rule of make and, when all else is there, header.
static bool add_package(struct job *j, const struct ptxas *tool)
{
    struct package_files files;
    struct package p =
        artefact_package(j->c, j->name, j->path, tool->path ? tool : NULL);
    p.prefix = prefix_of(&j->c->arena, j->build->package.prefix, j->name);
    p.triple = j->build->package.triple;
    p.embed = j->build->package.embed;
    p.driver_floor = j->build->package.driver_floor;
    p.declarations = j->build->package.declarations;
    if (j->build->fatbinary &&
        !(p.fatbinary = toolchain_find(&j->build->tools, &j->c->arena,
                                       "fatbinary", &j->c->diags)))
        return false;
    if (!package_make(&j->c->arena, &p, &j->c->diags, &files))
        return false;
    add_output(j, p.triple ? ".o" : ".fatbin",
               p.triple ? &files.object : &files.fatbin);
    if (p.declarations)
        add_output(j, ".c", &files.source);
    add_output(j, ".json", &files.manifest);
    add_bindings(j, &files.manifest);
    if (j->build->depfile)
        add_depfile(j);
    add_output(j, ".h", &files.header);
    j->driver = files.oldest_driver;
    j->needed_by = files.needed_by;
    package_free(&files);
    return true;
}

// ---- Running --------------------------------------------------------------

// Make what was asked for.
static bool make_outputs(struct job *j, struct compile_options *o)
{
    struct ptxas tool;
    enum emit_kind kind = j->build->emit->kind;
    if (kind == EMIT_TEXT)
        return add_texts(j, o);
    if (!cli_images(j->c, &j->build->tools, o, &tool))
        return false;
    end_phase(j, NULL);
    if (kind <= EMIT_OBJECT && !add_package(j, &tool))
        return false;
    if (kind == EMIT_CUBIN)
        add_cubins(j);
    end_phase(j, "package");
    return true;
}

// Write the results.
static bool write_outputs(struct job *j)
{
    end_phase(j, NULL);
    bool ok = output_write(&j->c->scratch, j->build->folder, j->outputs.at,
                           j->outputs.n, &j->c->diags);
    end_phase(j, "write");
    return ok;
}

// Print which drivers run the package, if one was built.
static bool print_driver(struct job *j)
{
    struct buf text = {0};
    if (!j->driver || j->build->results)
        return true;
    buf_printf(&text, "%s: drivers for CUDA %s or newer\n", j->name,
               driver_release(&j->c->arena, j->driver));
    bool ok = cli_print(&text);
    buf_free(&text);
    return ok;
}

// Print the program as far as it came.
static bool print_variants(struct job *j)
{
    size_t n;
    const struct ir_kernel *const *kernels = compile_kernels(j->c, NULL, &n);
    return cli_print_kernels((struct ir_kernel *const *)kernels, n);
}

// Leave out the PTX that what is emitted does not hold.
static void narrow_targets(const struct job *j, struct compile_options *o)
{
    enum emit_kind kind = j->build->emit->kind;
    if (kind == EMIT_CUBIN || (kind == EMIT_TEXT && o->n_targets))
        o->ptx = NULL;
}

// Take one file all the way.
static bool run_job(struct job *j, struct compile_options o)
{
    narrow_targets(j, &o);
    end_phase(j, NULL);
    bool ok = cli_add_files(&j->build->compile, j->c, &j->path, 1);
    end_phase(j, "parse");
    compile_choose_ptx(j->c, &o);
    ok = ok && cli_lower(&j->build->compile, &o, j->c);
    end_phase(j, NULL);
    if (j->build->compile.stop_after)
        return ok && print_variants(j);
    ok = ok && contracts_check_lowered(j->c);
    if (ok && j->build->check) {
        ok = check_build(j->c, &o);
        end_phase(j, "check");
    }
    return ok && make_outputs(j, &o) && write_outputs(j) && print_driver(j);
}

// Add what came of a file to the JSON.
static void add_result(struct job *j, bool ok)
{
    json_t *object = json_object(), *outputs = json_array();
    for (size_t i = 0; ok && i < j->outputs.n; i++)
        json_array_append_new(outputs, json_text(j->outputs.at[i].path));
    json_object_set_new(object, "source", json_text(j->path));
    json_object_set_new(object, "ok", json_boolean(ok));
    json_object_set_new(object, "outputs", outputs);
    if (ok && j->driver) {
        json_object_set_new(object, "oldest_driver", json_integer(j->driver));
        json_object_set_new(object, "needed_by", json_text(j->needed_by));
    }
    json_object_set_new(object, "schedules", results_schedules(j->c));
    json_object_set_new(object, "diagnostics", json_diagnostics(&j->c->diags));
    if (j->build->compile.options.passes.times) {
        struct phases *times = &j->build->compile.times;
        json_object_set_new(object, "times", results_times(times));
        times->all.n = 0;
    }
    json_array_append_new(j->build->results, object);
}

// Build one file.  Returns the exit code that it calls for.
static int build_file(struct build *b, const char *path)
{
    struct compilation c;
    compile_start(&c);
    struct job j = {.build = b, .c = &c, .path = path};
    j.name = cli_stem(&c.arena, path);
    bool ok = run_job(&j, b->compile.options);
    if (b->emit->kind != EMIT_TEXT)
        prefix_note(&b->kernels, &b->arena, &c, b->package.prefix,
                    &(struct built){j.name, path});
    if (b->results)
        add_result(&j, ok);
    int code = cli_report(&c.diags);
    compile_end(&c);
    return code;
}

static const struct argp_child children[] = {
    {&cli_stop_argp, 0, "How to compile:", 1},
    {&cli_targets_argp, 0, "For what:", 2},
    {&package_options_argp, 0, "For whom:", 3},
    {0}};

const struct argp build_argp = {
    options,
    take,
    "FILE...",
    "Compile each FILE.ing to FILE.fatbin, the header FILE.h with its "
    "launch functions, and the manifest FILE.json.",
    children,
    0,
    0};

int command_build(int argc, char **argv)
{
    struct build b = {.folder = "", .emit = &emits[0]};
    int code = EXIT_DONE;
    cli_parse(&build_argp, argc, argv, &b);
    if (b.emit->kind != EMIT_TEXT)
        cli_targets_default(&b.targets);
    toolchain_start(&b.tools, b.targets.cuda);
    cli_targets_apply(&b.targets, &b.tools, &b.compile.options);
    struct jobs jobs;
    jobs_start(&jobs, getenv("MAKEFLAGS"), b.jobs);
    b.compile.options.jobs = &jobs;
    b.compile.options.path_maps = b.maps.at;
    b.compile.options.n_path_maps = b.maps.n;
    for (size_t i = 0; i < b.files.n; i++) {
        int one = build_file(&b, b.files.at[i]);
        code = one > code ? one : code;
    }
    if (b.results && !json_print(b.results))
        code = EXIT_TOOL;
    jobs_end(&jobs);
    arena_reset(&b.arena);
    arena_reset(&b.targets.arena);
    arena_reset(&b.package.arena);
    cli_end(&b.compile);
    return code;
}
