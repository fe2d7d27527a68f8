// A way to run one kernel at certain sizes.

#include "tools/ingot/way.h"

#include "tools/ingot/problem_options.h"
#include "tools/libingot/recorded.h"

#include <string.h>

// ---- Compiling ------------------------------------------------------------

// Add the files, with the instances that are asked for.
static bool add_files(struct compilation *c, const struct way_source *s)
{
    bool ok = true;
    vec_foreach_value(text, &s->instances)
        compile_ask_instance(c, text);
    vec_foreach(f, &s->files)
        ok = compile_add(c, f->name, f->text, strlen(f->text)) && ok;
    instances_check(&c->program, &c->diags);
    return ok && !c->diags.errors;
}

// Put the schedule of a text in the place of the kernel's own.  Returns false
// after reporting.
static bool take_text(struct compilation *c, const char *text)
{
    struct sched_item *item =
        recorded_parse(c, "the schedule", text, &c->diags);
    c->program.schedules.schedules.n = 0;
    if (item)
        vec_push(&c->arena, &c->program.schedules.schedules, item);
    return item != NULL;
}

struct ir_kernel *way_add(struct compilation *c, const struct way_source *s,
                          const struct way *w, const char **wrong)
{
    struct problem_options named = {.kernel = s->kernel};
    if (!add_files(c, s))
        return NULL;
    struct ir_kernel *kernel = problem_kernel(&named, c, wrong);
    if (!kernel)
        return NULL;
    problem_keep_kernel(c, kernel);
    if (w->kind == WAY_TEXT && !take_text(c, w->text))
        return NULL;
    return kernel;
}

void way_options(const struct way_source *s, const struct way *w,
                 struct compile_options *o)
{
    bool is_text = w->kind == WAY_TEXT;
    o->targets = &s->target;
    o->n_targets = 1;
    o->ptx = NULL;
    o->ptx_is_open = false;
    o->fast_math = s->fast_math;
    o->opt_level = s->opt_level;
    o->settings = is_text ? NULL : s->settings.at;
    o->n_settings = is_text ? 0 : s->settings.n;
    o->no_records = true;
    o->no_schedule = w->kind == WAY_PLAIN;
    o->only_rules = s->only_rules && w->kind == WAY_BUILD;
    o->schedule = is_text                                 ? "1"
                  : w->kind == WAY_BUILD && w->variant[0] ? w->variant
                                                          : NULL;
}

// ---- JSON -----------------------------------------------------------------

json_t *way_settings_json(const struct sched_settings *all)
{
    json_t *object = json_object();
    vec_foreach(one, all)
        json_object_set_new(object, one->name, json_integer(one->value));
    return object;
}

bool way_settings_read(struct arena *a, const json_t *json,
                       struct sched_settings *out)
{
    const char *name;
    json_t *value;
    *out = (struct sched_settings){0};
    json_object_foreach((json_t *)json, name, value)
    {
        struct sched_setting one = {
            arena_copy(a, name, strlen(name)), json_integer_value(value), {0}};
        if (!json_is_integer(value))
            return false;
        vec_push(a, out, one);
    }
    return true;
}

// Return a copy of a text in JSON; NULL if it is none.
static const char *copy_text(struct arena *a, const json_t *json)
{
    const char *text = json_string_value(json);
    return text ? arena_copy(a, text, strlen(text)) : NULL;
}

// Return the files as a list.
static json_t *files_json(const struct way_source *s)
{
    json_t *list = json_array();
    vec_foreach(f, &s->files) {
        json_t *one = json_object();
        json_object_set_new(one, "name", json_text(f->name));
        json_object_set_new(one, "text", json_text(f->text));
        json_array_append_new(list, one);
    }
    return list;
}

json_t *way_source_json(const struct way_source *s)
{
    json_t *object = json_object(), *instances = json_array();
    vec_foreach_value(text, &s->instances)
        json_array_append_new(instances, json_text(text));
    json_object_set_new(object, "files", files_json(s));
    json_object_set_new(object, "instances", instances);
    json_object_set_new(object, "set", way_settings_json(&s->settings));
    json_object_set_new(object, "kernel", json_text(s->kernel));
    json_object_set_new(object, "arch", json_text(s->target->name));
    json_object_set_new(object, "fast_math", json_boolean(s->fast_math));
    json_object_set_new(object, "rules_only", json_boolean(s->only_rules));
    json_object_set_new(object, "level", json_integer(s->opt_level));
    return object;
}

// Read the list of files; false if it is none.
static bool read_files(struct arena *a, const json_t *list,
                       struct way_source *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        struct way_text file = {copy_text(a, json_object_get(one, "name")),
                                copy_text(a, json_object_get(one, "text"))};
        if (!file.name || !file.text)
            return false;
        vec_push(a, &out->files, file);
    }
    return out->files.n > 0;
}

// Read the list of instances; false if it is none.
static bool read_instances(struct arena *a, const json_t *list,
                           struct way_source *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = copy_text(a, json_array_get(list, i));
        if (!text)
            return false;
        vec_push(a, &out->instances, text);
    }
    return true;
}

bool way_source_read(struct arena *a, const json_t *json,
                     struct way_source *out)
{
    struct diag_list quiet = {.arena = a};
    const char *arch = json_string_value(json_object_get(json, "arch"));
    *out = (struct way_source){0};
    out->kernel = copy_text(a, json_object_get(json, "kernel"));
    out->target = arch ? nvptx_target_find(arch, &quiet) : NULL;
    out->fast_math = json_is_true(json_object_get(json, "fast_math"));
    out->only_rules = json_is_true(json_object_get(json, "rules_only"));
    out->opt_level =
        (unsigned)json_integer_value(json_object_get(json, "level"));
    return out->kernel && out->target &&
           read_files(a, json_object_get(json, "files"), out) &&
           read_instances(a, json_object_get(json, "instances"), out) &&
           way_settings_read(a, json_object_get(json, "set"), &out->settings);
}

static const char *const kinds[] = {"schedule", "build", "plain"};

json_t *way_json(const struct way *w)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_text(kinds[w->kind]));
    json_object_set_new(object, "schedule", json_text(w->text));
    json_object_set_new(object, "variant", json_text(w->variant));
    return object;
}

bool way_read(struct arena *a, const json_t *json, struct way *out)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    bool found = false;
    *out =
        (struct way){.text = copy_text(a, json_object_get(json, "schedule")),
                     .variant = copy_text(a, json_object_get(json, "variant"))};
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0) {
            out->kind = (enum way_kind)i;
            found = true;
        }
    return found && (out->kind != WAY_TEXT || out->text) &&
           (out->kind != WAY_BUILD || out->variant);
}
