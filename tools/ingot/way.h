// A way to run one kernel at certain sizes, and the text that it comes from: what
// `ingot tune` compiles, and what its agent runs.

#ifndef TOOLS_INGOT_WAY_H
#define TOOLS_INGOT_WAY_H

#include "tools/ingot/json.h"
#include "tools/libingot/compile.h"

// A file, or what --instance says.
struct way_text {
    const char *name, *text;
};

// What all ways of a problem have in common.
struct way_source {
    struct VEC(struct way_text) files; // the first has the kernel
    struct VEC(const char *) instances;
    struct sched_settings settings; // --set
    const char *kernel;
    const struct nvptx_target *target;
    bool fast_math, only_rules;
    unsigned opt_level;
};

// What of these it is.
enum way_kind {
    WAY_TEXT,  // the schedule `text`
    WAY_BUILD, // what a build without records takes: the variant of that name
    WAY_PLAIN, // the kernel without its schedules
};

// One way.
struct way {
    enum way_kind kind;
    const char *text;
    const char *variant; // "" if the kernel has one
};

// Read the source into a compilation that was started, and keep its kernel, with
// the schedules that the way has.  Returns the kernel; NULL after reporting, or with
// *wrong set to what of the source's name of the kernel cannot be.
struct ir_kernel *way_add(struct compilation *c, const struct way_source *s,
                          const struct way *w, const char **wrong);

// Enter how to compile into options.
void way_options(const struct way_source *s, const struct way *w,
                 struct compile_options *o);

// As JSON and back.  Those that read return false if it is none; what they read
// is in the arena.
json_t *way_source_json(const struct way_source *s);
bool way_source_read(struct arena *a, const json_t *json,
                     struct way_source *out);
json_t *way_json(const struct way *w);
bool way_read(struct arena *a, const json_t *json, struct way *out);

// Settings as an object and back.
json_t *way_settings_json(const struct sched_settings *all);
bool way_settings_read(struct arena *a, const json_t *json,
                       struct sched_settings *out);

#endif
