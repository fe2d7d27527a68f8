// ingot tune FILE: measure the schedules of a kernel, and keep the fastest.
//
//   ingot tune mm.ing --size M=4096,N=4096,K=4096 --budget 60s
//   ingot tune mm.ing --size M=512,N=512,K=64 --cross "ssh HOST ingot agent"
//
// What is measured goes to NAME.tuned.log, the fastest to NAME.tuned, where builds
// find it. A search that was ended goes on where it was.

#include "tools/ingot/tune.h"

#include <stdio.h>
#include <string.h>

// One call of the command.
struct call {
    struct tune_options *options;
    struct arena arena;
    struct diag_list diags; // of all that is not about one set of sizes
    struct tune_agents agents;
    struct tune_device device;
    bool is_guess;   // so, until an agent says the same
    json_t *results; // with --json
    int code;
};

// Set the architecture where there is a device: that of --arch, or the best for it.
// Returns false if there is none.
static bool choose_target(struct call *call, const struct nvptx_target **target)
{
    struct tune_options *o = call->options;
    *target = o->targets.cubins.n ? o->targets.cubins.at[0]
                                  : targets_best(call->device.sm);
    return *target != NULL;
}

// Start the agents, and find the device and the architecture: what is known at once, or
// else what the first agent says.  Returns false after reporting.
static bool find_device(struct call *call, bool may_guess,
                        const struct nvptx_target **target)
{
    struct tune_options *o = call->options;
    struct tune_agents *agents = &call->agents;
    call->is_guess = may_guess && tune_guess(&call->arena, o, &call->device) &&
                     choose_target(call, target);
    *agents = (struct tune_agents){0};
    tune_agents_open(&call->arena, o, agents);
    if (call->is_guess)
        return true;
    if (!tune_agents_meet(&call->arena, o, &call->diags, agents))
        return false;
    call->device = agents->at[0].device;
    return choose_target(call, target) ||
           diag_error(&call->diags, (struct span){0}, D_agent_failed,
                      agents->at[0].command,
                      "has a GPU that no architecture is for");
}

// Choose the architecture where nothing is measured: that of --arch, or sm_90a.
static const struct nvptx_target *assume_device(struct call *call)
{
    enum { SM = 90, SMS = 132 };
    struct tune_options *o = call->options;
    const struct nvptx_target *target =
        o->targets.cubins.n ? o->targets.cubins.at[0] : targets_best(SM);
    call->device =
        (struct tune_device){.name = "any", .sm = target->number, .sms = SMS};
    return target;
}

// Begin a problem.
static void start(struct call *call, struct tune_problem *p,
                  const struct problem_request *request,
                  const struct nvptx_target *target)
{
    struct tune_options *o = call->options;
    struct arena *a = &p->c->arena;
    p->options = o;
    p->arena = &call->arena;
    p->device = &call->device;
    p->device_name = call->device.name;
    p->is_guess = call->is_guess;
    p->request = request;
    p->source.target = target;
    p->began = child_now();
    p->ends = p->began + o->budget;
    p->log_path = tune_log_path(a, o->file);
    if (p->log_path)
        p->tuned_path =
            arena_printf(a, "%.*s", (int)(strlen(p->log_path) - strlen(".log")),
                         p->log_path);
}

// Begin the search.
static void start_search(struct tune_problem *p, size_t agents)
{
    struct tune_options *o = p->options;
    enum { FOR_EACH_AGENT = 4, LEAST = 8 };
    size_t width = FOR_EACH_AGENT * agents;
    struct search_options search = {
        .before = 1,
        .seed = p->request->seed,
        .trials = o->trials,
        .width = width > LEAST ? width : LEAST,
        .is_exhaustive = o->effort == TUNE_EXHAUSTIVE,
        .patience = o->effort == TUNE_QUICK ? 0.01 : -1};
    search_start(&p->search, &p->c->arena, &p->space, &search);
    tune_log_read(p);
    tune_seed(p);
}

// Tell of a problem.
static void tell(struct call *call, struct tune_problem *p)
{
    struct buf out = {0};
    if (call->options->emits_schedule)
        tune_print_schedule(p, &out);
    else if (!call->results)
        tune_print(p, &out);
    if (call->results)
        json_array_append_new(call->results, tune_json(p));
    if (!cli_print(&out))
        call->code = EXIT_TOOL;
    buf_free(&out);
}

// Search, and record.  Returns false after reporting.
static bool search(struct call *call, struct tune_problem *p)
{
    start_search(p, call->agents.n);
    if (call->options->effort == TUNE_NONE)
        tune_known(p);
    else
        tune_loop(p, &call->agents);
    cli_progress(NULL);
    if (p->other)
        return false;
    if (p->wrong)
        return diag_error(&p->c->diags, p->kernel->span, D_tune_refused,
                          p->kernel->name, p->wrong);
    if (p->is_lost || !tune_record(p))
        return false;
    tell(call, p);
    return true;
}

// Note the worse of two exit codes.
static void note_code(struct call *call, int code)
{
    call->code = code > call->code ? code : call->code;
}

// What came of one set of sizes.
enum tune_end {
    TUNED,
    TUNED_OTHER, // nothing: the agents have another device than was guessed
    TUNED_LOST,  // no more than what is reported: there are no agents
};

// Tune for one set of sizes.
static enum tune_end tune_for(struct call *call,
                              const struct problem_request *request,
                              const struct nvptx_target *target)
{
    struct compilation c;
    struct tune_problem p = {.c = &c};
    const char *wrong = NULL;
    compile_start(&c);
    start(call, &p, request, target);
    if (tune_space(&p, &wrong))
        search(call, &p);
    call->is_guess = p.is_guess;
    if (!p.other)
        note_code(call, cli_report(&c.diags));
    if (wrong) {
        fprintf(stderr, "ingot tune: %s\n", wrong);
        note_code(call, EXIT_USAGE);
    }
    compile_end(&c);
    return p.other ? TUNED_OTHER : p.is_lost ? TUNED_LOST : TUNED;
}

// Tune for all sets of sizes, again where the device was another one.
static void tune_all(struct call *call)
{
    const struct nvptx_target *target = NULL;
    struct problem_options *o = &call->options->problem;
    bool goes_on = true;
    if (call->options->effort == TUNE_NONE)
        target = assume_device(call);
    else
        goes_on = find_device(call, true, &target);
    for (size_t i = 0; goes_on && i < o->runs.n; i++) {
        enum tune_end end = tune_for(call, &o->runs.at[i], target);
        goes_on = end != TUNED_LOST;
        if (end != TUNED_OTHER)
            continue;
        tune_agents_close(&call->agents);
        goes_on = find_device(call, false, &target);
        i--;
    }
    tune_agents_close(&call->agents);
    if (call->results && !json_print(call->results))
        call->code = EXIT_TOOL;
}

int command_tune(int argc, char **argv)
{
    struct tune_options options;
    struct call call = {.options = &options};
    call.diags.arena = &call.arena;
    tune_parse(argc, argv, &options);
    if (options.is_json)
        call.results = json_array();
    if (tune_ranks(&call.arena, &options, argc, argv, &call.diags))
        tune_all(&call);
    else
        note_code(&call, EXIT_TOOL);
    note_code(&call, cli_report(&call.diags));
    arena_reset(&call.arena);
    arena_reset(&options.problem.arena);
    arena_reset(&options.targets.arena);
    cli_end(&options.compile);
    return call.code;
}
