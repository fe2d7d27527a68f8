// ingot agent: measures kernels on the GPU for `ingot tune`.
//
//   {"agent": 2, "version": "0.1.0", "device": "NVIDIA H200", "sm": 90, ...}
//   < {"do": "problem", "source": {...}, "values": {"n": "4096"}, "seed": 1}
//   > {"phase": "host", "used": 0.1}       and others, see agent_phases.h
//   > {"ok": true, "reference": "host"}
//   < {"do": "measure", "way": {...}, "turns": 10, "cubin": 5120} and 5120 bytes
//   > {"state": "measured", "us": 9.1, "base": 9.6, "ratio": 0.95, ...}
//
// It reads requests from the standard input, one a line, answers each by a line on
// the standard output, and ends with the input.  A problem may come before it has said
// what it is: the driver takes a second to open, and what results are compared with is
// computed meanwhile.  A kernel that the GPU gives up on takes the process with it: who
// asked starts another.

#include "tools/ingot/agent.h"

#include <string.h>
#include <unistd.h>

enum { KEY_DRIVER = 10240 };

// The command line.
struct agent_options {
    const char *driver; // NULL: the system's
};

// Take one option.
static error_t take(int key, char *arg, struct argp_state *state)
{
    struct agent_options *o = state->input;
    switch (key) {
    case KEY_DRIVER: o->driver = arg; return 0;
    case ARGP_KEY_ARG: argp_usage(state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"driver", KEY_DRIVER, "PATH", 0, "the libcuda.so.1 to use", 0}, {0}};

const struct argp agent_argp = {
    options,
    take,
    "",
    "Measure kernels on the first GPU, as `ingot tune` asks on the standard "
    "input; for --cross.",
    NULL,
    0,
    0};

// Answer a problem.
static bool answer_problem(struct agent *a, const struct wire_message *m)
{
    json_t *answer = json_object();
    const char *reference = "none";
    agent_phases_begin(&a->phases, &a->wire);
    const char *wrong = agent_problem(a, m->json, &reference);
    agent_phases_end(&a->phases);
    agent_opening_end(&a->opening, &a->driver);
    json_object_set_new(answer, "ok", json_boolean(!wrong));
    if (wrong)
        json_object_set_new(answer, "why", json_text(wrong));
    else
        json_object_set_new(answer, "reference", json_text(reference));
    return wire_send(&a->wire, answer, NULL, 0);
}

// Measure what a request asks for.
static struct agent_result measure(struct agent *a, const struct way *w,
                                   const struct wire_message *m)
{
    const char *as = json_string_value(json_object_get(m->json, "as"));
    if (as && strcmp(as, "reference") == 0)
        return agent_reference(a, w, m);
    if (as && strcmp(as, "first") == 0)
        return agent_first(a, w, m);
    return agent_measure(a, w, m);
}

// Return a result as JSON.
static json_t *result_json(const struct agent_result *r)
{
    static const char *const ends[] = {"measured", "refused", "wrong", "fault"};
    json_t *answer = json_object();
    json_object_set_new(answer, "state", json_text(ends[r->end]));
    if (r->end != AGENT_MEASURED) {
        json_object_set_new(answer, "why", json_text(r->why));
        return answer;
    }
    if (r->checked)
        json_object_set_new(answer, "checked", json_text(r->checked));
    json_set_real(answer, "us", r->us);
    json_set_real(answer, "base", r->base);
    json_set_real(answer, "ratio", r->ratio);
    json_set_real(answer, "spread", r->spread);
    json_object_set_new(answer, "turns", json_integer((json_int_t)r->turns));
    return answer;
}

// Answer a measurement.  Returns false if the process is of no further use.
static bool answer_measure(struct agent *a, const struct wire_message *m)
{
    struct way way;
    struct arena room = {0};
    struct agent_result result = {.end = AGENT_REFUSED,
                                  .why = "this is no kernel"};
    if (a->has_problem && m->bytes &&
        way_read(&room, json_object_get(m->json, "way"), &way)) {
        agent_opening_end(&a->opening, &a->driver);
        agent_phases_begin(&a->phases, &a->wire);
        result = measure(a, &way, m);
        agent_phases_end(&a->phases);
    }
    bool ok = wire_send(&a->wire, result_json(&result), NULL, 0);
    arena_reset(&room);
    return ok && result.end != AGENT_FAULT && result.end != AGENT_WRONG;
}

// Answer a message.  Returns false at the end.
static bool answer(struct agent *a, const struct wire_message *m)
{
    const char *what = json_string_value(json_object_get(m->json, "do"));
    if (what && strcmp(what, "problem") == 0)
        return answer_problem(a, m);
    if (what && strcmp(what, "measure") == 0)
        return answer_measure(a, m);
    return false;
}

// Answer all messages.
static void serve(struct agent *a)
{
    struct wire_message m;
    bool goes_on = true;
    while (goes_on && wire_wait(&a->wire, 0, &m)) {
        goes_on = answer(a, &m);
        wire_release(&m);
    }
}

int command_agent(int argc, char **argv)
{
    struct agent_options o = {0};
    cli_parse(&agent_argp, argc, argv, &o);
    struct agent a = {.wire = {STDIN_FILENO, STDOUT_FILENO, {0}},
                      .driver_path = o.driver};
    agent_opening_begin(&a.opening, &a.wire, o.driver);
    serve(&a);
    agent_opening_end(&a.opening, &a.driver);
    agent_forget(&a);
    driver_close(&a.driver);
    buf_free(&a.wire.got);
    return EXIT_DONE;
}
