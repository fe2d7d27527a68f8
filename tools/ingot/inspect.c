// ingot inspect FILE: what is in a fatbin, or would be in that of a kernel file.
//
//   ingot inspect out/gemm.fatbin       with out/gemm.json beside it, if there
//   ingot inspect gemm.ing --arch sm_80 built in memory
//   ingot inspect gemm.ing --loop       the main loop of its machine code
//   ingot inspect gemm.ing --accesses   what its accesses to memory cost

#include "tools/ingot/cli.h"

#include "nvptx/package/inspect.h"
#include "tools/ingot/inspect_accesses.h"
#include "tools/ingot/inspect_code.h"
#include "tools/ingot/json.h"
#include "tools/ingot/targets.h"
#include "tools/libingot/artefact.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The command line.
struct inspect {
    struct cli_compile compile;
    struct cli_targets targets;
    struct access_options accesses;
    const char *file;
    struct code_options code;
    bool is_json;
};

// What is looked at.
struct subject {
    const struct inspect *options;
    struct compilation *c; // owns memory and diagnostics
    struct toolchain tools;
    struct buf fatbin, manifest; // the manifest may be empty
    struct inspection what;
    json_t *root; // the manifest, or NULL
};

enum { KEY_JSON = 4480 };

static const struct argp_option options[] = {
    {"json", KEY_JSON, 0, 0, "print all that is known as JSON", 0}, {0}};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct inspect *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->compile;
        state->child_inputs[1] = &o->targets;
        state->child_inputs[2] = &o->code;
        state->child_inputs[3] = &o->accesses;
        return 0;
    case KEY_JSON: o->is_json = true; return 0;
    case ARGP_KEY_ARG: cli_take_file(&o->file, arg, state); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "name a file"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// ---- Reading --------------------------------------------------------------

// Return whether bytes begin like a fatbin.
static bool is_fatbin(const struct buf *b)
{
    static const unsigned char magic[] = {0x50, 0xed, 0x55, 0xba};
    return b->n >= sizeof magic && memcmp(b->data, magic, sizeof magic) == 0;
}

// Lower the kernels of a file.
static bool lower(struct subject *s, const struct buf *text,
                  struct compile_options *o)
{
    struct compilation *c = s->c;
    cli_ask_instances(&s->options->compile, c);
    bool ok =
        cli_add_tuned(c, s->options->file) &&
        compile_add(c, s->options->file, text->n ? text->data : "", text->n) &&
        cli_add_schedules(&s->options->compile, c);
    compile_choose_ptx(c, o);
    return ok && compile_lower(c, o);
}

// Compile a kernel file to a fatbin and a manifest in memory; not so far if
// only accesses are looked at.
static bool build(struct subject *s, const struct buf *text)
{
    struct compilation *c = s->c;
    struct compile_options o = s->options->compile.options;
    struct ptxas tool;
    struct package_files files;
    cli_targets_apply(&s->options->targets, &s->tools, &o);
    o.line_info |= inspect_code_has_lines(&s->options->code);
    if (inspect_code_is_wanted(&s->options->code) && !s->options->code.ptx)
        o.ptx = NULL;
    if (!lower(s, text, &o))
        return false;
    if (s->options->accesses.is_wanted)
        return true;
    if (!cli_images(c, &s->tools, &o, &tool) && !compile_has_images(c))
        return false;
    struct package p =
        artefact_package(c, cli_stem(&c->arena, s->options->file),
                         s->options->file, tool.path ? &tool : NULL);
    if (!package_make(&c->arena, &p, &c->diags, &files))
        return false;
    s->fatbin = files.fatbin;
    s->manifest = files.manifest;
    buf_free(&files.header);
    return true;
}

// Fill `fatbin` and `manifest` from the file.
static bool read_files(struct subject *s)
{
    struct buf text = {0};
    const char *path = s->options->file;
    if (!cli_read(path, &text, &s->c->diags))
        return false;
    if (!is_fatbin(&text)) {
        bool ok = build(s, &text);
        buf_free(&text);
        return ok;
    }
    s->fatbin = text;
    const char *beside = cli_manifest(&s->c->arena, path);
    return access(beside, F_OK) != 0 ||
           cli_read(beside, &s->manifest, &s->c->diags);
}

// Read everything that there is to show.
static bool read_subject(struct subject *s)
{
    struct arena *a = &s->c->arena;
    if (!read_files(s))
        return false;
    if (s->options->accesses.is_wanted)
        return true;
    struct inspect_file fatbin = {s->options->file, s->fatbin.data,
                                  s->fatbin.n};
    struct inspect_file manifest = {cli_manifest(a, s->options->file),
                                    s->manifest.data, s->manifest.n};
    if (!inspect_read(a, &fatbin, s->manifest.n ? &manifest : NULL,
                      &s->c->diags, &s->what))
        return false;
    if (s->manifest.n)
        s->root = json_loadb(s->manifest.data, s->manifest.n, 0, NULL);
    return true;
}

// ---- Text -----------------------------------------------------------------

// Append a number of known width, or `-`.
static void print_number(struct buf *out, int64_t value, int width)
{
    if (value < 0)
        buf_printf(out, "  %*s", width, "-");
    else
        buf_printf(out, "  %*lld", width, (long long)value);
}

// Append a row for each kernel of each image.
static void print_images(const struct subject *s, struct buf *out)
{
    buf_printf(out, "%-12s %8s  %-24s  %9s  %6s  %5s  %6s  %8s\n", "image",
               "bytes", "kernel", "registers", "spills", "stack", "shared",
               "barriers");
    for (size_t i = 0; i < s->what.fatbin.images.n; i++) {
        const struct fatbin_image *image = &s->what.fatbin.images.at[i];
        char name[IMAGE_NAME_SIZE];
        image_name(image->kind, image->sm, image->suffix, name);
        for (size_t k = 0; k < s->what.usage[i].n; k++) {
            const struct kernel_usage *u = &s->what.usage[i].at[k];
            buf_printf(out, "%-12s %8zu  %-24s", name, image->size, u->name);
            print_number(out, u->registers, 9);
            print_number(out, u->spill_stores, 6);
            print_number(out, u->stack, 5);
            print_number(out, u->shared, 6);
            print_number(out, u->barriers, 8);
            buf_char(out, '\n');
        }
    }
}

// Append the members of a list of texts or numbers with `between` in between.
static void print_list(const json_t *list, const char *between, struct buf *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        buf_text(out, i ? between : "");
        if (json_is_integer(item))
            buf_printf(out, "%lld", (long long)json_integer_value(item));
        else
            buf_text(out, json_is_string(item) ? json_string_value(item) : "?");
    }
}

// Return a text member of an object.
static const char *member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

// Append a line for a tensor map.
static void print_map(const json_t *map, struct buf *out)
{
    json_int_t swizzle = json_integer_value(json_object_get(map, "swizzle"));
    buf_printf(out, "    tensor map of %s: tiles of ", member(map, "array"));
    print_list(json_object_get(map, "box"), " x ", out);
    if (swizzle)
        buf_printf(out, ", rows of %lld bytes swizzled", (long long)swizzle);
    if (*member(map, "rounds_to"))
        buf_printf(out, ", rounded to %s", member(map, "rounds_to"));
    buf_char(out, '\n');
}

// Append a line for a launch.
static void print_launch(const json_t *launch, struct buf *out)
{
    const json_t *cluster = json_object_get(launch, "cluster");
    json_int_t shared =
        json_integer_value(json_object_get(launch, "dynamic_shared"));
    json_int_t barriers =
        json_integer_value(json_object_get(launch, "barriers"));
    bool has_clusters = false;
    for (size_t i = 0; i < json_array_size(cluster); i++)
        has_clusters |= json_integer_value(json_array_get(cluster, i)) > 1;
    buf_printf(out, "    %s: grid ", member(launch, "entry"));
    print_list(json_object_get(launch, "grid"), " x ", out);
    if (has_clusters) {
        buf_text(out, ", cluster ");
        print_list(cluster, " x ", out);
    }
    buf_text(out, ", block ");
    print_list(json_object_get(launch, "block"), " x ", out);
    if (shared)
        buf_printf(out, ", %lld bytes of dynamic shared memory",
                   (long long)shared);
    if (barriers)
        buf_printf(out, ", %lld barrier%s", (long long)barriers,
                   barriers > 1 ? "s" : "");
    buf_char(out, '\n');
}

// Append a variant: its guard, then a line for each launch and tensor map.
static void print_variant(const json_t *variant, struct buf *out)
{
    const json_t *guard = json_object_get(variant, "guard");
    const json_t *launches = json_object_get(variant, "launches");
    const char *name = member(variant, "name");
    buf_printf(out, "  variant %s", *name ? name : "general");
    buf_text(out, json_array_size(guard) ? ", when " : "");
    print_list(guard, " && ", out);
    buf_char(out, '\n');
    for (size_t i = 0; i < json_array_size(launches); i++)
        print_launch(json_array_get(launches, i), out);
    const json_t *maps = json_object_get(variant, "maps");
    for (size_t i = 0; i < json_array_size(maps); i++)
        print_map(json_array_get(maps, i), out);
}

// Append the parameters of a kernel.
static void print_parameters(const json_t *kernel, struct buf *out)
{
    const json_t *all = json_object_get(kernel, "parameters");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *p = json_array_get(all, i);
        const json_t *shape = json_object_get(p, "shape");
        buf_printf(out, "%s%s: %s", i ? ", " : "", member(p, "name"),
                   member(p, "type"));
        buf_text(out, json_array_size(shape) ? "[" : "");
        print_list(shape, ", ", out);
        buf_text(out, json_array_size(shape) ? "]" : "");
    }
}

// Append the kernels of the manifest.
static void print_kernels(const json_t *root, struct buf *out)
{
    const json_t *kernels = json_object_get(root, "kernels");
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *kernel = json_array_get(kernels, i);
        const json_t *variants = json_object_get(kernel, "variants");
        bool fast = json_is_true(json_object_get(kernel, "fast_math"));
        buf_printf(out, "\nkernel %s(", member(kernel, "name"));
        print_parameters(kernel, out);
        buf_printf(out, ")%s\n", fast ? ", approximate math" : "");
        for (size_t v = 0; v < json_array_size(variants); v++)
            print_variant(json_array_get(variants, v), out);
    }
}

// ---- The command ----------------------------------------------------------

// Return all that is known: the manifest, or the images if there is none.
static json_t *subject_json(const struct subject *s)
{
    json_t *images = json_array();
    if (s->root) {
        json_decref(images);
        if (s->c->variants.n)
            json_object_set_new(
                s->root, "accesses",
                inspect_accesses_json(&s->options->accesses, s->c));
        return json_incref(s->root);
    }
    for (size_t i = 0; i < s->what.fatbin.images.n; i++) {
        const struct fatbin_image *image = &s->what.fatbin.images.at[i];
        char name[IMAGE_NAME_SIZE];
        json_t *kernels = json_array();
        image_name(image->kind, image->sm, image->suffix, name);
        for (size_t k = 0; k < s->what.usage[i].n; k++) {
            const struct kernel_usage *u = &s->what.usage[i].at[k];
            json_array_append_new(
                kernels, json_pack("{s:s, s:I, s:I, s:I}", "name", u->name,
                                   "registers", (json_int_t)u->registers,
                                   "stack", (json_int_t)u->stack, "shared",
                                   (json_int_t)u->shared));
        }
        json_array_append_new(
            images, json_pack("{s:s, s:I, s:o}", "target", name, "size",
                              (json_int_t)image->size, "kernels", kernels));
    }
    return json_pack("{s:o}", "images", images);
}

// Show the subject.  Returns false after reporting.
static bool show(const struct subject *s)
{
    struct buf out = {0};
    if (s->options->accesses.is_wanted)
        return inspect_accesses(&s->options->accesses, s->c,
                                s->options->is_json);
    struct code_subject code = {&s->options->code, s->c, &s->tools,
                                &s->what.fatbin};
    if (s->options->is_json) {
        json_t *root = subject_json(s);
        if (inspect_code_json(&code, root))
            return json_print(root);
        json_decref(root);
        return false;
    }
    bool ok = true;
    if (inspect_code_is_wanted(&s->options->code)) {
        ok = inspect_code(&code, &out);
    } else {
        print_images(s, &out);
        print_kernels(s->root, &out);
    }
    ok = ok && cli_print(&out);
    buf_free(&out);
    return ok;
}

static const struct argp_child children[] = {
    {&cli_compile_argp, 0, "How to compile a kernel file:", 1},
    {&cli_machine_argp, 0, "For what:", 2},
    {&code_argp, 0, "Code:", 3},
    {&access_argp, 0, "Accesses to memory of a kernel file:", 4},
    {0}};

const struct argp inspect_argp = {
    options,
    take,
    "FILE.ing|FILE.fatbin",
    "Say what is in a fatbin, or would be in that of a kernel file: "
    "images, registers, spills, shared memory, launches.",
    children,
    0,
    0};

int command_inspect(int argc, char **argv)
{
    struct inspect o = {0};
    struct compilation c;
    cli_parse(&inspect_argp, argc, argv, &o);
    cli_targets_default(&o.targets);
    compile_start(&c);
    struct subject s = {.options = &o, .c = &c};
    toolchain_start(&s.tools, o.targets.cuda);
    bool ok = read_subject(&s);
    bool is_usage = ok && !inspect_accesses_fit(&o.accesses, &c);
    ok = ok && !is_usage && show(&s);
    int code = cli_report(&c.diags);
    json_decref(s.root);
    buf_free(&s.fatbin);
    buf_free(&s.manifest);
    compile_end(&c);
    arena_reset(&o.targets.arena);
    arena_reset(&o.accesses.arena);
    cli_end(&o.compile);
    if (ok || code)
        return code;
    return is_usage ? EXIT_USAGE : EXIT_TOOL;
}
