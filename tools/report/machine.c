// What the assembler makes of the variant: registers, spills, and machine code beside
// the lines that it comes from.

#include "tools/report/report.h"

#include "tools/ingot/inspect_code.h"
#include "tools/ingot/targets.h"

// Return whether a CUDA tool is there; else `note` becomes what is said of it.
static bool has_tool(struct report *r, const char *name, const char *lacks,
                     json_t **note)
{
    struct diag_list quiet = {.arena = &r->c->arena};
    if (toolchain_find(r->tools, &r->c->arena, name, &quiet))
        return true;
    *note = json_sprintf("%s was not found: %s.", name, lacks);
    return false;
}

// Return what a kernel uses; -1 where it is not known.
static json_t *usage_json(const struct kernel_usage *u)
{
    return json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I}", "entry", json_text(u->name),
        "registers", (json_int_t)u->registers, "stack", (json_int_t)u->stack,
        "spill_stores", (json_int_t)u->spill_stores, "spill_loads",
        (json_int_t)u->spill_loads, "static_shared", (json_int_t)u->shared,
        "barriers", (json_int_t)u->barriers);
}

// ---- Machine code ---------------------------------------------------------

// Places of instructions, each list once.
struct places {
    struct report *report;
    struct VEC(const struct sass_places *) lists;
    json_t *json;
};

// Return whether two lists are of the same lines.
static bool is_same(const struct sass_places *a, const struct sass_places *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same = a->at[i].line == b->at[i].line &&
               strcmp(a->at[i].file, b->at[i].file) == 0;
    return same;
}

// Return the number of a list of places.
static size_t number_of(struct places *p, const struct sass_places *list)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < p->lists.n; i++)
        if (is_same(p->lists.at[i], list)) {
            json_decref(lines);
            return i;
        }
    vec_foreach(place, list)
        json_array_append_new(lines,
                              report_line(p->report, place->file, place->line));
    json_array_append_new(p->json, lines);
    vec_push(&p->report->c->arena, &p->lists, list);
    return p->lists.n - 1;
}

// Return the code of a kernel: address, text, class, number of its places.
static json_t *code_json(struct places *p, const struct sass_kernel *k)
{
    json_t *code = json_array();
    vec_foreach(one, &k->code)
        json_array_append_new(
            code,
            json_pack("[I, o, s, I]", (json_int_t)one->at, json_text(one->text),
                      sass_class_info(one->class)->name,
                      (json_int_t)number_of(p, &one->places)));
    return json_pack("{s:o, s:o}", "entry", json_text(k->name), "code", code);
}

// Return what the classes of instructions are.
static json_t *classes_json(void)
{
    json_t *classes = json_object();
    for (int i = 0; i < SASS_CLASSES; i++) {
        const struct sass_class_info *info =
            sass_class_info((enum sass_class)i);
        json_object_set_new(classes, info->name, json_text(info->meaning));
    }
    return classes;
}

// Append the machine code of an image; false after reporting.
static bool add_code(struct report *r, const struct compiled_image *image,
                     struct places *places, json_t *list)
{
    struct code_subject subject = {.c = r->c, .tools = r->tools};
    struct fatbin_image cubin = {
        .kind = image->kind, .bytes = image->bytes, .size = image->size};
    struct sass_kernels kernels = {0};
    if (!inspect_code_read(&subject, &cubin, &kernels))
        return false;
    vec_foreach(k, &kernels)
        json_array_append_new(list, code_json(places, k));
    return true;
}

// Set the machine code of all images; false after reporting.
static bool set_code(struct report *r, json_t *root)
{
    struct places places = {.report = r, .json = json_array()};
    json_t *list = json_array();
    bool ok = true;
    vec_foreach(image, &r->c->images)
        ok = ok &&
             (image->kind != IMAGE_CUBIN || add_code(r, image, &places, list));
    json_object_set_new(root, "code", list);
    json_object_set_new(root, "code_places", places.json);
    json_object_set_new(root, "code_classes", classes_json());
    return ok;
}

bool report_machine(struct report *r, json_t *root)
{
    struct ptxas tool;
    json_t *list = json_array(), *note = NULL;
    bool ok = true;
    json_object_set_new(root, "usage", list);
    if (has_tool(r, "ptxas", "registers, spills and machine code are missing",
                 &note)) {
        ok = cli_images(r->c, r->tools, r->options, &tool) ||
             compile_has_images(r->c);
        vec_foreach(image, &r->c->images)
            vec_foreach(usage, &image->usage)
                json_array_append_new(list, usage_json(usage));
        if (ok &&
            has_tool(r, "nvdisasm", "machine code cannot be shown", &note))
            ok = set_code(r, root);
    }
    json_object_set_new(root, "code_note", note ? note : json_null());
    return ok;
}
