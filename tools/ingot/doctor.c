// ingot doctor [FILE.fatbin]: what works on this machine; what an artefact runs on.
//
//   ingot doctor                    tools, driver and GPUs of this machine
//   ingot doctor out/gemm.fatbin    for each GPU the image and the oldest driver

#include "tools/ingot/cli.h"

#include "tools/ingot/doctor.h"
#include "tools/ingot/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The command line.
struct doctor {
    const char *file; // NULL: the machine
    const char *cuda, *driver;
    bool is_json;
};

enum { KEY_JSON = 9216, KEY_CUDA, KEY_DRIVER };

static const struct argp_option options[] = {
    {"cuda", KEY_CUDA, "DIR", 0, "look for the CUDA tools in this folder only",
     0},
    {"driver", KEY_DRIVER, "PATH", 0, "the libcuda.so.1 to look at", 0},
    {"json", KEY_JSON, 0, 0, "print it as JSON", 0},
    {0}};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct doctor *o = state->input;
    switch (key) {
    case KEY_CUDA: o->cuda = arg; return 0;
    case KEY_DRIVER: o->driver = arg; return 0;
    case KEY_JSON: o->is_json = true; return 0;
    case ARGP_KEY_ARG: cli_take_file(&o->file, arg, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp doctor_argp = {
    options,
    take,
    "[FILE.fatbin]",
    "Say which tools, drivers and GPUs this machine has, and whether they work; or "
    "which GPUs and drivers run an artefact, by which of its images.",
    0,
    0,
    0};

// Print text, or JSON if that is asked for.
static bool print(const struct doctor *o, struct buf *text, json_t *json)
{
    bool ok = o->is_json ? json_print(json) : cli_print(text);
    if (!o->is_json)
        json_decref(json);
    buf_free(text);
    return ok;
}

// Show this machine.  Returns the exit code.
static int show_machine(const struct doctor *o, struct arena *a)
{
    struct toolchain tools;
    struct doctor_machine m;
    struct buf text = {0};
    toolchain_start(&tools, o->cuda);
    doctor_machine(a, &tools, o->driver, &m);
    doctor_print_machine(&m, &text);
    bool ok = print(o, &text, doctor_machine_json(&m));
    return ok && doctor_is_well(&m) ? EXIT_DONE : EXIT_TOOL;
}

// Read what a manifest, which may be empty, says of tools and drivers.
static void read_manifest(struct arena *a, const struct buf *manifest,
                          struct doctor_artefact *out)
{
    json_t *root =
        manifest->n ? json_loadb(manifest->data, manifest->n, 0, NULL) : NULL;
    const char *version = json_string_value(
        json_object_get(json_object_get(root, "tools"), "ptxas"));
    const json_t *driver = json_object_get(root, "driver");
    const char *why = json_string_value(json_object_get(driver, "needed_by"));
    out->ptxas = version ? atoi(version) : 0;
    out->oldest =
        why ? (int)json_integer_value(json_object_get(driver, "oldest")) : 0;
    out->needed_by = why ? arena_printf(a, "%s", why) : NULL;
    json_decref(root);
}

// Read a fatbin and the manifest beside it.  Returns false after reporting.
static bool read_artefact(struct arena *a, const char *path,
                          struct diag_list *diags, struct buf *fatbin,
                          struct buf *manifest, struct doctor_artefact *out)
{
    const char *beside = cli_manifest(a, path);
    if (!cli_read(path, fatbin, diags) ||
        (access(beside, F_OK) == 0 && !cli_read(beside, manifest, diags)))
        return false;
    struct inspect_file bytes = {path, fatbin->data, fatbin->n};
    struct inspect_file text = {beside, manifest->data, manifest->n};
    out->path = path;
    read_manifest(a, manifest, out);
    return inspect_read(a, &bytes, manifest->n ? &text : NULL, diags,
                        &out->what);
}

// Show an artefact.  Returns the exit code.
static int show_artefact(const struct doctor *o, struct arena *a)
{
    struct diag_list diags = {.arena = a};
    struct buf fatbin = {0}, manifest = {0}, text = {0};
    struct doctor_artefact d;
    bool ok = read_artefact(a, o->file, &diags, &fatbin, &manifest, &d);
    if (ok) {
        doctor_print_artefact(a, &d, &text);
        ok = print(o, &text, doctor_artefact_json(a, &d));
    }
    int code = cli_report(&diags);
    buf_free(&fatbin);
    buf_free(&manifest);
    return code || ok ? code : EXIT_TOOL;
}

int command_doctor(int argc, char **argv)
{
    struct doctor o = {0};
    struct arena a = {0};
    cli_parse(&doctor_argp, argc, argv, &o);
    int code = o.file ? show_artefact(&o, &a) : show_machine(&o, &a);
    arena_reset(&a);
    return code;
}
