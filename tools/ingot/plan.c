// ingot plan FILE: how long each candidate of a kernel would take.
//
//   ingot plan gemm.ing --kernel gemm_f16_nt --size M=4096,N=4096,K=4096
//
// Candidates are the schedules of the file, or the cases of the rule that was
// found, for one architecture.  Those whose guard holds at the sizes come first,
// by predicted time (passes/model); the one that a launch takes is marked.  The
// others follow, with what does not hold; then the rules that match and were left
// out, as one of their cases cannot be applied, with the diagnostic.  Nothing runs.

#include "tools/ingot/predict.h"
#include "tools/ingot/schedule_why.h"

enum { KEY_JSON = 9200 };

// What the command line says.
struct plan {
    struct predict predict;
    bool is_json;
};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct plan *o = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->predict; return 0;
    case KEY_JSON: o->is_json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

// Return the rules that were left out, each with its case that cannot be applied.
static json_t *left_out_json(const struct compilation *c,
                             const struct ir_kernel *kernel)
{
    json_t *list = json_array();
    vec_foreach(r, &c->refused) {
        json_t *object;
        if (r->kernel != kernel)
            continue;
        object = json_object();
        json_object_set_new(object, "rule", json_text(r->item->by->name));
        json_object_set_new(object, "case",
                            json_integer((json_int_t)r->number));
        json_object_set_new(object, "why",
                            r->why ? json_text(r->why) : json_null());
        json_array_append_new(list, object);
    }
    return list;
}

// Predict, and print.  Returns false after reporting, or with `wrong` set.
static bool predict(struct plan *o, bool *is_printed)
{
    struct predict *p = &o->predict;
    struct compilation *c = p->c;
    struct problem problem;
    struct buf text = {0};
    if (!predict_settle(p) || !predict_read(p, c, &problem) ||
        !compile_lower(c, &p->compile.options))
        return false;
    struct candidates rows = candidates_make(c, &problem, &p->device);
    if (o->is_json) {
        json_t *object =
            candidates_json(&c->arena, &problem, &p->device, &rows);
        json_object_set_new(object, "left_out",
                            left_out_json(c, problem.kernel));
        *is_printed = json_print(object);
        return true;
    }
    candidates_print(&c->arena, &problem, &p->device, &rows, &text);
    schedule_left_out_print(c, problem.kernel, "  left out: ", &text);
    *is_printed = cli_print(&text);
    buf_free(&text);
    return true;
}

// Do what was asked.
static int run(struct plan *o)
{
    bool is_printed = true, ok = predict(o, &is_printed);
    int code = predict_report(&o->predict, "plan", ok);
    return is_printed ? code : EXIT_TOOL;
}

static const struct argp_option options[] = {
    {"json", KEY_JSON, NULL, 0, "print JSON, with all limits of each launch",
     0},
    {0}};

static const struct argp_child children[] = {{&predict_argp, 0, NULL, 0}, {0}};

const struct argp plan_argp = {
    options,
    take,
    "FILE",
    "Predict how long each schedule of a kernel would take at some sizes, and what "
    "would bind it.  The one that a launch takes has a star.",
    children,
    0,
    0};

int command_plan(int argc, char **argv)
{
    struct compilation c;
    struct plan o = {.predict.c = &c};
    compile_start(&c);
    cli_parse(&plan_argp, argc, argv, &o);
    int code = run(&o);
    compile_end(&c);
    predict_end(&o.predict);
    return code;
}
