// `ingot tune`, in parts: the command line, the ways to run a kernel at some sizes,
// their compilation, the agents that measure them, the records, the report.

#ifndef TOOLS_INGOT_TUNE_H
#define TOOLS_INGOT_TUNE_H

#include "nvptx/watch.h"
#include "passes/model/model.h"
#include "tools/ingot/child.h"
#include "tools/ingot/problem_options.h"
#include "tools/ingot/targets.h"
#include "tools/ingot/way.h"
#include "tools/tune/search.h"

// How long to search.
enum tune_effort {
    TUNE_FULL,       // until the budget is used
    TUNE_QUICK,      // until trials bring little
    TUNE_NONE,       // measure nothing: what is known, or what a build takes
    TUNE_EXHAUSTIVE, // until all was measured
};

// The command line.
struct tune_options {
    struct cli_compile compile;
    struct cli_targets targets;
    struct problem_options problem;
    struct VEC(
        const char *) commands; // of the agents; none: the own executable
    const char *file, *driver;  // driver NULL: the system's
    enum tune_effort effort;
    double budget, limit; // seconds: of all, of one measurement
    size_t trials, jobs;  // 0: no limit; as many as there are processors
    long gpus;            // 0: the first; -1: all
    bool is_json, emits_schedule, is_forgetful;
};

// Read the command line; usage errors end the process.
void tune_parse(int argc, char **argv, struct tune_options *out);

// ---- tune_ranks.c

// Become a rank, if mpirun or srun started several processes: then this does not
// return.  Returns false where that cannot be; rank 0 reports it.
bool tune_ranks(struct arena *a, const struct tune_options *o, int argc,
                char **argv, struct diag_list *diags);

// What an agent says of its GPU; texts are in the arena of the tuner.
struct tune_device {
    const char *name;
    unsigned sm;
    int sms, gpus;
};

// ---- tune_guess.c

// Guess which GPU the agents have.  Returns false if nothing says so, or if how many of
// them there are is not known either.
bool tune_guess(struct arena *a, const struct tune_options *o,
                struct tune_device *out);

// A schedule of the kernel for the architecture.
struct tune_item {
    const struct sched_item *item;
    size_t number;
    struct sched_knobs knobs;
};

// What became of a trial, beside what the search knows.
struct tune_trial {
    struct way way;
    uint64_t hash; // of its text
    const struct tune_item *item;
    struct sched_settings settings;
    const char *state, *why; // of the record
    double us, ratio, spread;
    double predicted; // microseconds, by the model; INFINITY: not known
    size_t turns;     // that it was measured in; 0: not yet
    void *cubin;      // NULL: not compiled yet
    size_t n;         // its bytes
    size_t spills;    // bytes of a thread's registers in local memory
    size_t job;       // turns that are asked for
    bool is_put_off;  // it comes again behind all others
    bool is_asked;    // a measurement is asked for, and not on its way
    bool is_known;    // the log has it, which is taken once a build is measured
    bool is_taken;    // of what was compiled ahead: a trial has its code
};

// What is compiled before the search asks for it.
struct tune_ahead {
    struct search_points points; // that it is likely to ask for
    size_t next;                 // of these
    size_t state;                // of the search, when it was asked for them
    struct VEC(struct tune_trial *) trials;
};

// How the best became faster.
struct tune_step {
    size_t trials;
    double seconds, us;
};

// A kernel at some sizes.
struct tune_problem {
    struct tune_options *options;
    struct compilation *c;
    struct arena *arena; // of the whole command
    const struct tune_device *device;
    bool is_guess; // that is what the agents will say, perhaps
    const struct tune_device *other; // it was wrong: what they have; NULL
    struct way_source source;
    const struct problem_request *request;
    struct problem problem;
    struct work work;
    const struct ir_kernel *kernel;
    uint64_t kernel_hash;
    struct sched_settings sizes;
    struct VEC(struct tune_item) items;
    struct search_space space;
    struct search search;
    struct VEC(struct tune_trial *) trials; // as those of the search
    struct tune_trial build, plain;         // what a build takes; no schedule
    bool awaits_plain;                      // the latter is being compiled
    struct tune_ahead ahead;
    size_t build_number;                 // of its schedule
    const char *build_name;              // its variant
    const struct sched_item *build_item; // its schedule; NULL: the default
    struct records log;                  // of this kernel and device
    const char *log_path, *tuned_path;   // NULL: the standard input
    const char *reference; // what results were compared with; NULL: not yet
    struct VEC(struct tune_step) curve;
    double *order_us; // what is predicted of search.order; INFINITY: not known
    // Microseconds of the first in order, of what a build takes; INFINITY: unknown.
    double predicted, predicted_build;
    double limit_us; // the least that a schedule needs by the model; 0: unknown
    enum model_limit limit;  // of that
    const char *device_name; // of the records
    double began, ends;      // by child_now
    double told;             // when it last said how far it is
    const char *wrong;       // why it cannot be tuned; NULL
    bool is_lost;            // it cannot go on, which is reported
};

// ---- tune_space.c

// Read the kernel, find its schedules for the device, and what a build takes.
// Returns false after reporting, or with *wrong set to what of the command line
// cannot be.
bool tune_space(struct tune_problem *p, const char **wrong);

// Return the way of a point.
struct tune_trial *tune_way(struct tune_problem *p,
                            const struct search_point *point);

// ---- tune_rank.c

// What the model says of a way.
struct tune_prediction {
    double us;       // INFINITY: not known
    double least_us; // by the rates of the GPU; 0: not known
    enum model_limit by;
};

// Predict what a compilation has lowered of the kernel, and assembled perhaps; what
// cannot be predicted stays as it is.
void tune_predict(const struct tune_problem *p, struct compilation *c,
                  struct ir_kernel *kernel, struct tune_prediction *out);

struct ranking; // on its way, in processes

// Order the points of the search by what the model predicts.
void tune_rank(struct tune_problem *p);

// Begin with that.
struct ranking *tune_rank_begin(struct tune_problem *p);

// Return whether it goes on, after waiting a little.  If not, the order is there, and
// this must not be asked again.
bool tune_rank_goes_on(struct ranking *r, int wait_ms);

// Give it up.
void tune_rank_end(struct ranking *r);

// Return what it predicted of one; INFINITY: nothing.
double tune_predicted(const struct tune_problem *p,
                      const struct search_point *point);

// ---- tune_compile.c

// Begin to compile a way in a process of its own, under watch.
bool tune_compile(struct tune_problem *p, const struct tune_trial *t,
                  struct child *out, struct watch *watch);

// Take what it sent: code, or why there is none, which becomes the state.
void tune_compiled(struct tune_problem *p, struct tune_trial *t,
                   struct wire_message *m);

// Put a trial behind all others if its code spills registers, unless it was so before.
// Returns whether it was put off.
bool tune_put_off(struct tune_problem *p, size_t trial);

// ---- tune_agents.c

enum tune_agent_state {
    TUNE_AGENT_GONE,      // not started
    TUNE_AGENT_GREETING,  // it has not said which GPU it has
    TUNE_AGENT_READY,     // it has no problem
    TUNE_AGENT_PROBLEM,   // it takes the problem ...
    TUNE_AGENT_REFERENCE, // ... computes what results are compared with ...
    TUNE_AGENT_FIRST,     // ... and measures what a build takes; both wait for
                          // code, while there is no deadline
    TUNE_AGENT_IDLE,      // it can measure
    TUNE_AGENT_BUSY,      // it measures
    TUNE_AGENT_LAST,      // it has answered, and ends: memory may be spoilt
    TUNE_AGENT_DEAD,      // it was started too often
};

// How long an answer may take; times are in seconds.
struct tune_patience {
    double limit; // of what the GPU does
    double gpu;   // what is left of that
    double
        host; // processor time that may be used beside, and the time in which
              // nothing may happen
    double used;     // of that, as the agent says
    double since;    // when the phase began, by child_now
    bool is_gpu;     // the phase is that of the GPU
    bool has_phases; // the agent says so
};

// One agent.
struct tune_agent {
    const char *command;
    struct child child;
    enum tune_agent_state state;
    size_t trial;                  // TUNE_AGENT_BUSY
    size_t starts;                 // without a measurement
    size_t asked;                  // measurements of trials
    struct tune_patience patience; // with what it answers next
    struct tune_device device;     // without a name: it has not greeted yet
    bool is_given; // TUNE_AGENT_GREETING: it has got the problem
};
struct tune_agents VEC(struct tune_agent);

// Return the command of an agent of this machine, on GPU number `gpu`; below 0 on
// the first.
const char *tune_own_command(struct arena *a, const struct tune_options *o,
                             int gpu);

// Start the agents that are known; of all GPUs of this machine the first.
void tune_agents_open(struct arena *a, const struct tune_options *o,
                      struct tune_agents *out);

// Wait for what the first one is, and start those on all GPUs that it tells of.  Returns
// false after reporting.
bool tune_agents_meet(struct arena *a, const struct tune_options *o,
                      struct diag_list *diags, struct tune_agents *out);
void tune_agents_close(struct tune_agents *all);

// Start the process of an agent.
void tune_agent_start(struct tune_agent *agent);

// Take what an agent says of its GPU.  Returns NULL, or what is wrong with it.
const char *tune_agent_greeting(struct arena *a, struct tune_agent *agent,
                                const struct wire_message *m);

// Take it while there is a problem: it should be what the others have.
void tune_agent_greet(struct tune_problem *p, struct tune_agent *agent,
                      const struct wire_message *m);

// Report what is wrong with an agent; the search cannot go on.
void tune_agent_fail(struct tune_problem *p, const struct tune_agent *agent,
                     const char *why);

// ---- tune_patience.c

// Begin to wait for an answer: for `limit` seconds of work on the GPU, and `more` on
// either side.
void tune_patience_begin(struct tune_agent *agent, double limit, double more);

// Take what an agent says of its phase.  Returns whether it is that.
bool tune_patience_take(struct tune_agent *agent, const struct wire_message *m);

// Return why an agent that was given up has taken too long.
const char *tune_patience_why(struct arena *a, const struct tune_agent *agent);

// ---- tune_talk.c

// Bring an agent on its way to TUNE_AGENT_IDLE: start it, or give it the problem.
void tune_agent_push(struct tune_problem *p, struct tune_agent *agent);

// Take an answer.
void tune_agent_take(struct tune_problem *p, struct tune_agent *agent,
                     struct wire_message *m);

// Note that an agent has ended, or is given up; it may be started again.
void tune_agent_lost(struct tune_problem *p, struct tune_agent *agent);

// Return how many operations of the definition a reference may take: a tenth of the
// budget on one core, and --steps at most; all, if --reference asks for it.
double tune_most_work(const struct tune_problem *p);

// Ask an idle agent to measure a trial.
void tune_agent_ask(struct tune_problem *p, struct tune_agent *agent,
                    size_t trial);

// ---- tune_ahead.c

// Return what should be compiled ahead next; NULL: nothing.
struct tune_trial *tune_ahead_next(struct tune_problem *p);

// Return what was compiled ahead of that text, or is being compiled, or NULL.
struct tune_trial *tune_ahead_find(const struct tune_problem *p, uint64_t hash);

// Give a trial what came of it.
void tune_ahead_take(struct tune_trial *from, struct tune_trial *to);

// Release code that no trial took.
void tune_ahead_release(struct tune_problem *p);

// ---- tune_loop.c

// Search until the end.
void tune_loop(struct tune_problem *p, struct tune_agents *agents);

// Note what became of a trial: in the search, the records and the curve.
void tune_done(struct tune_problem *p, size_t trial, const char *state,
               const char *why);

// ---- tune_known.c

// Find the winner without measuring.
void tune_known(struct tune_problem *p);

// ---- tune_log.c

// Return the path of what was measured of a file; NULL for the standard input.
const char *tune_log_path(struct arena *a, const char *file);

// Read what was measured of the problem.
void tune_log_read(struct tune_problem *p);

// Have the search begin with what was fastest at similar sizes.
void tune_seed(struct tune_problem *p);

// Set `out` to the point of a record's schedule.  Returns false if there is none.
bool tune_point(struct tune_problem *p, const struct record *r,
                struct search_point *out);

// Return what the log has of a trial in at least so many turns, or NULL.
const struct record *tune_log_find(const struct tune_problem *p,
                                   const struct tune_trial *t, size_t turns);

// Append what was measured of a trial.
void tune_log_add(struct tune_problem *p, const struct tune_trial *t);

// Return the best trial if it is worth a record, or NULL.
const struct tune_trial *tune_winner(const struct tune_problem *p);

// Put the winner into the records of the file.  Returns false after reporting.
bool tune_record(struct tune_problem *p);

// ---- tune_report.c

// Show on a terminal how far it is, or now and then as a line if mpirun started this.
void tune_progress(struct tune_problem *p);

// Append what came of it as text, the schedule that won, or return it as JSON.
void tune_print(const struct tune_problem *p, struct buf *out);
void tune_print_schedule(const struct tune_problem *p, struct buf *out);
json_t *tune_json(const struct tune_problem *p);

#endif
