// The part of `ingot inspect` that shows code.

#include "tools/ingot/inspect_code.h"

#include "nvptx/package/elf.h"
#include "nvptx/tool.h"
#include "tools/ingot/banks.h"
#include "tools/ingot/json.h"
#include "tools/ingot/sass_print.h"

#include <string.h>

enum { KEY_SHOW_PTX = 4096, KEY_SASS, KEY_LINES, KEY_LOOP, KEY_BANKS };

static const struct argp_option options[] = {
    {"ptx", KEY_SHOW_PTX, "TARGET", OPTION_ARG_OPTIONAL,
     "print the PTX; of a kernel file, that for TARGET, or leave it out for "
     "`none`",
     0},
    {"sass", KEY_SASS, 0, 0, "print the machine code, by nvdisasm", 0},
    {"lines", KEY_LINES, 0, 0,
     "print the machine code beside the lines of the source and the schedule; "
     "of a fatbin that was built with --lineinfo",
     0},
    {"loop", KEY_LOOP, 0, 0,
     "print the main loop of each kernel, with a count of its instructions by "
     "what they are for",
     0},
    {"banks", KEY_BANKS, 0, 0,
     "print how many FFMAs wait for no bank of registers, by a model", 0},
    {0}};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct code_options *o = state->input;
    switch (key) {
    case KEY_SHOW_PTX:
        o->ptx_of = arg;
        o->ptx = !arg || strcmp(arg, "none") != 0;
        return 0;
    case KEY_SASS: o->sass = true; return 0;
    case KEY_LINES: o->lines = true; return 0;
    case KEY_LOOP: o->loop = true; return 0;
    case KEY_BANKS: o->banks = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp code_argp = {options, take, 0, 0, 0, 0, 0};

bool inspect_code_is_wanted(const struct code_options *o)
{
    return o->ptx || o->sass || o->lines || o->loop || o->banks;
}

bool inspect_code_has_lines(const struct code_options *o)
{
    return o->lines || o->loop;
}

// Append the disassembly of a cubin, with places as an option of nvdisasm
// says; false after reporting.
static bool disassemble(const struct code_subject *s,
                        const struct fatbin_image *image, const char *places,
                        struct buf *out)
{
    struct compilation *c = s->c;
    const char *path =
        toolchain_find(s->tools, &c->arena, "nvdisasm", &c->diags);
    if (!path)
        return false;
    const char *const argv[] = {path, "-c", places, "/dev/stdin", NULL};
    struct process_input input = {image->bytes, image->size};
    struct process p = {.argv = argv, .inputs = &input, .n_inputs = 1};
    process_run(&c->arena, &p, 1);
    bool ok = p.end == PROCESS_EXITED && p.code == 0;
    if (ok)
        buf_bytes(out, p.output.data, p.output.n);
    else
        tool_report(&c->arena, &p, "nvdisasm", &c->diags);
    process_free(&p);
    return ok;
}

bool inspect_code_read(const struct code_subject *s,
                       const struct fatbin_image *image,
                       struct sass_kernels *out)
{
    struct buf text = {0};
    bool ok = disassemble(s, image, "-gi", &text);
    if (ok)
        *out = sass_read(&s->c->arena, text.n ? text.data : "");
    buf_free(&text);
    return ok;
}

// Find the score of a kernel; false if there is no model.
static bool score(const struct code_subject *s,
                  const struct fatbin_image *image, const char *kernel,
                  struct bank_score *out)
{
    size_t size;
    const uint8_t *code =
        elf_code(&s->c->arena, image->bytes, image->size, kernel, &size);
    return banks_score(image->sm, code, size, out);
}

// ---- Text -----------------------------------------------------------------

// Append the main loop of a kernel.
static void print_loop(struct arena *a, const struct sass_kernel *k,
                       struct buf *out)
{
    struct sass_loop loop = sass_main_loop(a, k);
    if (!loop.in) {
        buf_printf(out, "%s: no loop\n", k->name);
        return;
    }
    buf_printf(out, "%s: main loop, %zu of %zu instructions\n", k->name, loop.n,
               k->code.n);
    sass_print_counts(k, &loop, out);
    sass_print(a, k, &loop, out);
}

// Append the score of a kernel.
static void print_score(const struct code_subject *s,
                        const struct fatbin_image *image, const char *kernel,
                        struct buf *out)
{
    struct bank_score x;
    buf_printf(out, "%s: ", kernel);
    if (!score(s, image, kernel, &x))
        buf_text(out, "no model of this architecture\n");
    else if (!x.all)
        buf_text(out, "no FFMA\n");
    else
        buf_printf(out,
                   "%.1f%% of %llu FFMAs at full rate, %.2f registers read "
                   "and %.2f cycles each\n",
                   100.0 * (double)x.full_rate / (double)x.all,
                   (unsigned long long)x.all, (double)x.reads / (double)x.all,
                   (double)x.cycles / (double)x.all);
}

// Append what is asked for of a cubin's kernels.
static bool print_kernels(const struct code_subject *s,
                          const struct fatbin_image *image, struct buf *out)
{
    const struct code_options *o = s->options;
    struct usage_list names = {0};
    struct sass_kernels kernels = {0};
    fatbin_kernels(&s->c->arena, image, &names);
    if ((o->lines || o->loop) && !inspect_code_read(s, image, &kernels))
        return false;
    for (size_t i = 0; i < kernels.n; i++) {
        if (o->lines) {
            buf_printf(out, "%s:\n", kernels.at[i].name);
            sass_print(&s->c->arena, &kernels.at[i], NULL, out);
        }
        if (o->loop)
            print_loop(&s->c->arena, &kernels.at[i], out);
    }
    for (size_t i = 0; i < names.n && o->banks; i++)
        print_score(s, image, names.at[i].name, out);
    return true;
}

// Append what is asked for of an image.
static bool print_image(const struct code_subject *s,
                        const struct fatbin_image *image, struct buf *out)
{
    const struct code_options *o = s->options;
    bool is_ptx = image->kind == IMAGE_PTX, ok = true;
    char name[IMAGE_NAME_SIZE];
    if (is_ptx ? !o->ptx : !(o->sass || o->lines || o->loop || o->banks))
        return true;
    image_name(image->kind, image->sm, image->suffix, name);
    buf_printf(out, "// %s\n", name);
    if (is_ptx)
        buf_bytes(out, image->bytes, image->size);
    else if (o->sass)
        ok = disassemble(s, image, "-g", out);
    ok = ok && (is_ptx || print_kernels(s, image, out));
    buf_char(out, '\n');
    return ok;
}

bool inspect_code(const struct code_subject *s, struct buf *out)
{
    for (size_t i = 0; i < s->fatbin->images.n; i++) {
        if (!print_image(s, &s->fatbin->images.at[i], out))
            return false;
    }
    return true;
}

// ---- JSON -----------------------------------------------------------------

// Append the main loops of a cubin; false after reporting.
static bool add_loops(const struct code_subject *s,
                      const struct fatbin_image *image, const char *target,
                      json_t *list)
{
    struct sass_kernels kernels = {0};
    if (!inspect_code_read(s, image, &kernels))
        return false;
    for (size_t i = 0; i < kernels.n; i++) {
        const struct sass_kernel *k = &kernels.at[i];
        struct sass_loop loop = sass_main_loop(&s->c->arena, k);
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:I, s:o}", "target", target, "kernel",
                      k->name, "instructions", (json_int_t)k->code.n, "loop",
                      loop.in ? sass_loop_json(k, &loop) : json_null()));
    }
    return true;
}

// Append the scores of a cubin's kernels.
static void add_scores(const struct code_subject *s,
                       const struct fatbin_image *image, const char *target,
                       json_t *list)
{
    struct usage_list names = {0};
    struct bank_score x;
    fatbin_kernels(&s->c->arena, image, &names);
    for (size_t i = 0; i < names.n; i++) {
        if (!score(s, image, names.at[i].name, &x))
            continue;
        json_array_append_new(
            list,
            json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "target", target,
                      "kernel", names.at[i].name, "ffma", (json_int_t)x.all,
                      "full_rate", (json_int_t)x.full_rate, "reads",
                      (json_int_t)x.reads, "cycles", (json_int_t)x.cycles));
    }
}

bool inspect_code_json(const struct code_subject *s, json_t *root)
{
    json_t *loops = json_array(), *banks = json_array();
    bool ok = true;
    for (size_t i = 0; i < s->fatbin->images.n && ok; i++) {
        const struct fatbin_image *image = &s->fatbin->images.at[i];
        char name[IMAGE_NAME_SIZE];
        if (image->kind == IMAGE_PTX)
            continue;
        image_name(image->kind, image->sm, image->suffix, name);
        if (s->options->loop)
            ok = add_loops(s, image, name, loops);
        if (s->options->banks)
            add_scores(s, image, name, banks);
    }
    if (s->options->loop)
        json_object_set(root, "loops", loops);
    if (s->options->banks)
        json_object_set(root, "banks", banks);
    json_decref(loops);
    json_decref(banks);
    return ok;
}
