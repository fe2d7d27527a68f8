// ingot image ACTION FILE: the images of an artefact, changed without its source.
//
//   ingot image list out/gemm.fatbin
//   ingot image add out/gemm.fatbin --arch sm_120a       of the PTX that it has
//   ingot image add out/gemm.fatbin --from more/gemm.json
//   ingot image remove out/gemm.fatbin --arch sm_80,compute_75
//
// The header and the program that was compiled with it stay as they are.

#include "tools/ingot/image.h"

#include "nvptx/package/output.h"
#include "tools/ingot/cli.h"
#include "tools/ingot/json.h"
#include "tools/ingot/targets.h"

#include <stdlib.h>
#include <string.h>

// What is done to the images; NULL: they are listed.
typedef bool act(struct image_request *r, struct diag_list *diags,
                 struct change *change);
struct action {
    const char *name;
    act *act;
};
static const struct action actions[] = {
    {"list", NULL}, {"add", image_add}, {"remove", image_remove}};
enum { ACTIONS = sizeof actions / sizeof *actions };

// The command line.
struct image {
    struct arena arena;
    const struct action *action;
    const char *file;
    struct image_request request;
    bool is_json;
};

enum { KEY_ARCH = 11264, KEY_FROM, KEY_CUDA, KEY_TIMEOUT, KEY_JSON };

static const struct argp_option options[] = {
    {"arch", KEY_ARCH, "LIST", 0,
     "the images to add or remove: sm_90a,... for machine code, compute_75,... for PTX",
     0},
    {"from", KEY_FROM, "FILE", 0,
     "add images of this other build of the same kernels, all that are new unless --arch "
     "names them",
     0},
    {"cuda", KEY_CUDA, "DIR", 0, "take ptxas from this folder only", 0},
    {"ptxas-timeout", KEY_TIMEOUT, "SECONDS", 0,
     "end a ptxas that uses more processor time, or does nothing for so long "
     "(default 600)",
     0},
    {"json", KEY_JSON, 0, 0, "list as JSON", 0},
    {0}};

// ---- The command line -----------------------------------------------------

// Add the names of a list, each once.
static void take_names(struct image *o, const char *list)
{
    for (size_t n = 0; *list; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        const char *name = arena_copy(&o->arena, list, n);
        bool is_known = n == 0;
        for (size_t i = 0; i < o->request.names.n; i++)
            is_known |= strcmp(o->request.names.at[i], name) == 0;
        if (!is_known)
            vec_push(&o->arena, &o->request.names, name);
    }
}

// Take the action, then the file.
static void take_word(struct image *o, const char *word,
                      struct argp_state *state)
{
    struct suggest s = {.wanted = word};
    if (o->action) {
        cli_take_file(&o->file, word, state);
        return;
    }
    for (int i = 0; i < ACTIONS; i++) {
        suggest_offer(&s, actions[i].name);
        if (strcmp(actions[i].name, word) == 0)
            o->action = &actions[i];
    }
    if (!o->action)
        argp_error(state, "list, add or remove images, not `%s`%s", word,
                   cli_hint(&o->arena, &s));
}

// End the process unless the options say what to do.
static void check(const struct image *o, struct argp_state *state)
{
    bool adds = o->action && o->action->act == image_add;
    if (!o->file)
        argp_error(state, "write `list`, `add` or `remove`, and a file");
    if (o->action->act && !o->request.names.n && !(adds && o->request.from))
        argp_error(state, "say which images by --arch%s",
                   adds ? ", or whose by --from" : "");
    for (size_t i = 0; adds && !o->request.from && i < o->request.names.n; i++)
        if (strncmp(o->request.names.at[i], "compute_", 8) == 0)
            argp_error(state, "`%s` is PTX, which another build has: --from",
                       o->request.names.at[i]);
}

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct image *o = state->input;
    switch (key) {
    case KEY_ARCH: take_names(o, arg); return 0;
    case KEY_FROM: o->request.from = arg; return 0;
    case KEY_CUDA: o->request.cuda = arg; return 0;
    case KEY_TIMEOUT:
        o->request.ptxas_limit_ms = cli_timeout(arg, state);
        return 0;
    case KEY_JSON: o->is_json = true; return 0;
    case ARGP_KEY_ARG: take_word(o, arg, state); return 0;
    case ARGP_KEY_END: check(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp image_argp = {
    options,
    take,
    "list|add|remove FILE.fatbin|FILE.json",
    "List the images of an artefact with the bytes of each kernel's machine code, add some, "
    "or remove some. Header and program stay as they are: the program's ingot_open_file takes "
    "the changed file.",
    0,
    0,
    0};

// ---- List -----------------------------------------------------------------

// Return the bytes of machine code of a kernel; -1: it is PTX.
static int64_t code_of(struct arena *a, const struct fatbin_image *image,
                       const char *kernel)
{
    size_t n = 0;
    if (image->kind == IMAGE_PTX)
        return -1;
    return elf_code(a, image->bytes, image->size, kernel, &n) ? (int64_t)n : -1;
}

// Append a row for each kernel of each image.
static void print_images(struct arena *a, const struct inspection *what,
                         struct buf *out)
{
    buf_printf(out, "%-12s %-6s %10s  %-24s %10s\n", "image", "kind", "bytes",
               "kernel", "code");
    for (size_t i = 0; i < what->fatbin.images.n; i++) {
        const struct fatbin_image *image = &what->fatbin.images.at[i];
        char name[IMAGE_NAME_SIZE];
        image_name(image->kind, image->sm, image->suffix, name);
        for (size_t k = 0; k < what->usage[i].n; k++) {
            const char *kernel = what->usage[i].at[k].name;
            int64_t code = code_of(a, image, kernel);
            buf_printf(out, "%-12s %-6s %10zu  %-24s ", name,
                       image->kind == IMAGE_PTX ? "PTX" : "cubin", image->size,
                       kernel);
            if (code < 0)
                buf_printf(out, "%10s\n", "-");
            else
                buf_printf(out, "%10lld\n", (long long)code);
        }
    }
    if (what->hash != what->fatbin.built)
        buf_printf(out, "changed since it was built as %016llx\n",
                   (unsigned long long)what->fatbin.built);
}

// Return the same as JSON.
static json_t *images_json(struct arena *a, const struct inspection *what)
{
    json_t *images = json_array();
    for (size_t i = 0; i < what->fatbin.images.n; i++) {
        const struct fatbin_image *image = &what->fatbin.images.at[i];
        char name[IMAGE_NAME_SIZE];
        json_t *kernels = json_array();
        image_name(image->kind, image->sm, image->suffix, name);
        for (size_t k = 0; k < what->usage[i].n; k++) {
            const char *kernel = what->usage[i].at[k].name;
            int64_t code = code_of(a, image, kernel);
            json_array_append_new(
                kernels,
                json_pack("{s:s, s:o}", "name", kernel, "code",
                          code < 0 ? json_null() : json_integer(code)));
        }
        json_array_append_new(
            images,
            json_pack("{s:s, s:s, s:I, s:o}", "target", name, "kind",
                      image->kind == IMAGE_PTX ? "ptx" : "cubin", "size",
                      (json_int_t)image->size, "kernels", kernels));
    }
    return json_pack("{s:o, s:b}", "images", images, "is_changed",
                     what->hash != what->fatbin.built);
}

// Print the images.  Returns false after saying why that failed.
static bool list(struct image *o)
{
    const struct inspection *what = &o->request.artefact.what;
    struct buf text = {0};
    if (o->is_json)
        return json_print(images_json(&o->arena, what));
    print_images(&o->arena, what, &text);
    bool ok = cli_print(&text);
    buf_free(&text);
    return ok;
}

// ---- Change ---------------------------------------------------------------

// Return what the artefact has.
static struct change unchanged(struct image *o)
{
    const struct artefact *artefact = &o->request.artefact;
    struct change change = {.built = artefact->what.fatbin.built};
    if (artefact->manifest.n)
        change.manifest = (struct inspect_file){
            artefact->beside, artefact->manifest.data, artefact->manifest.n};
    for (size_t i = 0; i < artefact->what.fatbin.images.n; i++) {
        vec_push(&o->arena, &change.images, artefact->what.fatbin.images.at[i]);
        vec_push(&o->arena, &change.usage, artefact->what.usage[i]);
    }
    return change;
}

// Write the new files, both or neither.  Returns false after reporting.
static bool write_files(struct image *o, struct change *change,
                        struct diag_list *diags)
{
    const struct artefact *artefact = &o->request.artefact;
    struct buf fatbin = {0}, manifest = {0};
    change_write(&o->arena, change, &fatbin, &manifest);
    const struct output files[] = {
        {artefact->path, fatbin.data, fatbin.n},
        {artefact->beside, manifest.data, manifest.n}};
    bool ok = output_write(&o->arena, NULL, files, manifest.n ? 2 : 1, diags);
    buf_free(&fatbin);
    buf_free(&manifest);
    return ok;
}

// Do what was asked for.  Returns false after reporting.
static bool run(struct image *o, struct diag_list *diags)
{
    if (!artefact_read(&o->arena, o->file, diags, &o->request.artefact))
        return false;
    if (!o->action->act)
        return list(o);
    struct change change = unchanged(o);
    return o->action->act(&o->request, diags, &change) &&
           write_files(o, &change, diags);
}

int command_image(int argc, char **argv)
{
    struct image o = {.action = NULL};
    struct diag_list diags = {.arena = &o.arena};
    o.request.arena = &o.arena;
    cli_parse(&image_argp, argc, argv, &o);
    bool ok = run(&o, &diags);
    int code = cli_report(&diags);
    artefact_free(&o.request.artefact);
    artefact_free(&o.request.other);
    arena_reset(&o.arena);
    return code || ok ? code : EXIT_TOOL;
}
