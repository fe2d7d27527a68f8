// The search goes on while ways are compiled, each in a process, and agents measure.
//
//   search ──job──▶ compile ──cubin──▶ ask an agent ──time──▶ search
//
// Compilation runs ahead of the agents: the first candidates are compiled as soon as the
// model has ordered them, while agents start, compute what results are compared with and
// measure what a build takes; and while they measure what a stage of the search waits for,
// what the next one is likely to begin with. What the log has is not done again.

#include "tools/ingot/tune.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS_MOST = 64, TICK_MS = 200, RANKING_TICK_MS = 20 };

// What a compilation is for, beside numbers of trials.
enum { JOB_BUILD = -1, JOB_PLAIN = -2, JOB_AHEAD = -3 };

// A compilation on its way.
struct job {
    struct child child;
    struct watch watch;
    long trial;
    struct tune_trial *ahead; // JOB_AHEAD: whose code the search may ask for
};

// The loop.
struct loop {
    struct tune_problem *p;
    struct tune_agents *agents;
    struct ranking *ranking; // NULL: the order is there
    struct pollfd *files;    // room for all jobs and agents
    struct job jobs[JOBS_MOST];
    size_t n, most;   // of the jobs
    bool is_searched; // the search has ended
};

// ---- Trials ---------------------------------------------------------------

// Return the trial that a job is for.
static struct tune_trial *trial_of(struct tune_problem *p,
                                   const struct job *job)
{
    return job->trial == JOB_BUILD   ? &p->build
           : job->trial == JOB_PLAIN ? &p->plain
           : job->trial == JOB_AHEAD ? job->ahead
                                     : p->trials.at[job->trial];
}

// Note a new best: what is faster than what a build takes, and than all others.
static void note_step(struct tune_problem *p)
{
    const struct search_trial *best = search_best(&p->search);
    struct tune_step step = {search_count(&p->search), child_now() - p->began,
                             best->time * p->build.us};
    double before = p->curve.n ? p->curve.at[p->curve.n - 1].us : p->build.us;
    if (step.us < before)
        vec_push(&p->c->arena, &p->curve, step);
}

// Return how the search takes a state.
static enum search_end end_of(const char *state)
{
    return strcmp(state, "measured") == 0  ? SEARCH_MEASURED
           : strcmp(state, "refused") == 0 ? SEARCH_REFUSED
                                           : SEARCH_FAILED;
}

// Note what became of a trial, but for the log.
static void note(struct tune_problem *p, size_t trial, const char *state,
                 const char *why)
{
    struct tune_trial *t = p->trials.at[trial];
    t->state = state;
    t->why = why;
    t->is_asked = false;
    search_tell(&p->search, trial, end_of(state), t->ratio);
    if (search_best(&p->search))
        note_step(p);
    if (t->turns >= SEARCH_TURNS_SURE && tune_winner(p) == t)
        tune_record(p); // at once: the process may be killed
}

void tune_done(struct tune_problem *p, size_t trial, const char *state,
               const char *why)
{
    note(p, trial, state, why);
    tune_log_add(p, p->trials.at[trial]);
}

// Take what the log has of a trial.
static void take_known(struct tune_problem *p, size_t trial)
{
    struct tune_trial *t = p->trials.at[trial];
    const struct record *r = tune_log_find(p, t, t->job);
    t->us = r->us;
    t->ratio = r->ratio;
    t->spread = r->spread;
    t->turns = r->turns;
    note(p, trial, r->state, r->why);
}

// Take what the log has, once its ratios mean something.
static void take_all_known(struct tune_problem *p)
{
    for (size_t i = 0; p->build.turns && i < p->trials.n; i++) {
        if (!p->trials.at[i]->is_known)
            continue;
        p->trials.at[i]->is_known = false;
        take_known(p, i);
    }
}

// Return whether an earlier trial, that was not put off, has the same text.
static bool is_repeated(const struct tune_problem *p, size_t trial)
{
    for (size_t i = 0; i < trial; i++)
        if (p->trials.at[i]->hash == p->trials.at[trial]->hash &&
            !p->trials.at[i]->is_put_off)
            return true;
    return false;
}

// ---- Compiling ------------------------------------------------------------

// Begin to compile; `ahead` is that of JOB_AHEAD.
static void begin_job(struct loop *l, long trial, struct tune_trial *ahead)
{
    struct job *job = &l->jobs[l->n];
    job->trial = trial;
    job->ahead = ahead;
    if (tune_compile(l->p, trial_of(l->p, job), &job->child, &job->watch))
        l->n++;
    else if (trial == JOB_AHEAD)
        ahead->is_taken = true;
    else if (trial >= 0)
        tune_done(l->p, (size_t)trial, "refused", "no process to compile in");
    else
        l->p->wrong = "no process to compile in";
}

// Forget a job that has ended.
static void drop_job(struct loop *l, size_t i)
{
    l->jobs[i] = l->jobs[--l->n];
}

// Say that a job had no result.
static void fail_job(struct loop *l, size_t i, const char *state,
                     const char *why)
{
    long trial = l->jobs[i].trial;
    if (trial >= 0)
        tune_done(l->p, (size_t)trial, state, why);
    else if (trial == JOB_AHEAD) {
        l->jobs[i].ahead->state = state;
        l->jobs[i].ahead->why = why;
    } else if (trial == JOB_BUILD)
        l->p->wrong = arena_printf(
            &l->p->c->arena, "what a build takes does not compile: %s", why);
    else {
        l->p->plain.state = state;
        l->p->awaits_plain = false;
    }
}

// Take what a job has sent.
static void take_code(struct loop *l, size_t i, struct wire_message *m)
{
    struct tune_trial *t = trial_of(l->p, &l->jobs[i]);
    tune_compiled(l->p, t, m);
    long trial = l->jobs[i].trial;
    if (trial == JOB_PLAIN)
        l->p->awaits_plain = false;
    if (!t->cubin)
        fail_job(l, i, "refused", t->why);
    else if (trial >= 0 && !tune_put_off(l->p, (size_t)trial))
        t->is_asked = true;
}

// Read from a job that can be read from.
static void read_job(struct loop *l, size_t i)
{
    char text[CHILD_TEXT_SIZE];
    struct wire_message m;
    struct job *job = &l->jobs[i];
    bool goes_on = wire_read(&job->child.wire);
    if (wire_take(&job->child.wire, &m) == WIRE_MESSAGE) {
        take_code(l, i, &m);
        wire_release(&m);
    } else if (goes_on) {
        return;
    } else {
        child_end(&job->child, text, sizeof text);
        fail_job(l, i, "crashed",
                 arena_printf(&l->p->c->arena, "the compiler %s", text));
    }
    child_end(&job->child, text, sizeof text);
    drop_job(l, i);
}

// Give up jobs that use too much processor time, or do nothing.
static void end_late_jobs(struct loop *l)
{
    for (size_t i = l->n; i-- > 0;) {
        enum watch_end end = watch_look(&l->jobs[i].watch);
        if (end == WATCH_FINE)
            continue;
        child_stop(&l->jobs[i].child);
        fail_job(l, i, "hung",
                 end == WATCH_IDLE ? "the compiler does nothing"
                                   : "the compiler takes too long");
        drop_job(l, i);
    }
}

// ---- What to do next ------------------------------------------------------

// Return how many trials wait for an agent.
static size_t count_asked(const struct tune_problem *p)
{
    size_t n = 0;
    vec_foreach_value(t, &p->trials)
        n += t->is_asked;
    return n;
}

// Return the job that compiles a text ahead, or NULL.
static struct job *job_ahead(struct loop *l, const struct tune_trial *ahead)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->jobs[i].trial == JOB_AHEAD && l->jobs[i].ahead == ahead)
            return &l->jobs[i];
    return NULL;
}

// Get the code of a trial: that which was compiled ahead, or is being compiled, or new.
static void get_code(struct loop *l, size_t trial)
{
    struct tune_problem *p = l->p;
    struct tune_trial *t = p->trials.at[trial];
    struct tune_trial *ahead = tune_ahead_find(p, t->hash);
    struct job *job = ahead ? job_ahead(l, ahead) : NULL;
    if (!ahead) {
        begin_job(l, (long)trial, NULL);
    } else if (job) {
        ahead->is_taken = true;
        job->trial = (long)trial;
    } else {
        tune_ahead_take(ahead, t);
        if (!t->cubin)
            tune_done(p, trial, t->state, t->why);
        else
            t->is_asked = !tune_put_off(p, trial);
    }
}

// Compile ahead where processors have nothing else to do.
static void compile_ahead(struct loop *l)
{
    struct tune_trial *t;
    while (l->n < l->most && (t = tune_ahead_next(l->p)))
        begin_job(l, JOB_AHEAD, t);
}

// Begin what the search wants to have measured.
static void begin_trial(struct loop *l, const struct search_job *job)
{
    struct tune_problem *p = l->p;
    const struct search_point *point = &p->search.trials.at[job->trial].point;
    if (job->trial == p->trials.n)
        vec_push(&p->c->arena, &p->trials, tune_way(p, point));
    struct tune_trial *t = p->trials.at[job->trial];
    if (!t->cubin)
        t->predicted = tune_predicted(p, point);
    t->job = job->turns;
    if (!t->cubin && is_repeated(p, job->trial)) {
        note(p, job->trial, "refused", "the same as another one");
        return;
    }
    t->is_known = tune_log_find(p, t, t->job) != NULL;
    if (t->is_known)
        take_all_known(p);
    else if (t->cubin)
        t->is_asked = true;
    else
        get_code(l, job->trial);
}

// Take from the search as much as can be compiled, once it has its order.
static void take_jobs(struct loop *l)
{
    struct tune_problem *p = l->p;
    struct search_job job;
    if (l->ranking && !tune_rank_goes_on(l->ranking, 0))
        l->ranking = NULL;
    take_all_known(p);
    while (!l->ranking && l->n < l->most) {
        enum search_step step = search_next(&p->search, &job);
        l->is_searched = step == SEARCH_DONE;
        if (step == SEARCH_WAIT)
            compile_ahead(l);
        if (step != SEARCH_JOB)
            return;
        begin_trial(l, &job);
    }
}

// Return the first trial that waits for an agent, or the number of all.
static size_t first_asked(const struct tune_problem *p)
{
    size_t i = 0;
    while (i < p->trials.n && !p->trials.at[i]->is_asked)
        i++;
    return i;
}

// Return the idle agent that was asked least, or NULL: all get as much, also where
// compilation takes longer than measurement.
static struct tune_agent *idle_agent(const struct loop *l)
{
    struct tune_agent *least = NULL;
    vec_foreach(agent, l->agents)
        if (agent->state == TUNE_AGENT_IDLE &&
            (!least || agent->asked < least->asked))
            least = agent;
    return least;
}

// Give agents work.
static void use_agents(struct loop *l)
{
    struct tune_agent *idle;
    size_t trial;
    vec_foreach(agent, l->agents)
        if (agent->state < TUNE_AGENT_IDLE)
            tune_agent_push(l->p, agent);
    while ((trial = first_asked(l->p)) < l->p->trials.n &&
           (idle = idle_agent(l)))
        tune_agent_ask(l->p, idle, trial);
}

// ---- Waiting --------------------------------------------------------------

// Read from an agent that can be read from.
static void read_agent(struct loop *l, struct tune_agent *agent)
{
    struct wire_message m;
    bool goes_on = wire_read(&agent->child.wire);
    enum wire_state state;
    while ((state = wire_take(&agent->child.wire, &m)) == WIRE_MESSAGE) {
        tune_agent_take(l->p, agent, &m);
        wire_release(&m);
    }
    if (!goes_on || state == WIRE_GARBAGE)
        tune_agent_lost(l->p, agent);
}

// Return whether an agent owes an answer.
static bool owes_answer(const struct tune_agent *agent)
{
    return agent->child.id && agent->state != TUNE_AGENT_IDLE &&
           agent->state != TUNE_AGENT_READY && agent->child.deadline > 0;
}

// Wait for what is on its way, and take it.
static void wait_for_any(struct loop *l)
{
    struct pollfd *all = l->files;
    size_t jobs = l->n, agents = l->agents->n;
    for (size_t i = 0; i < jobs; i++)
        all[i] = (struct pollfd){l->jobs[i].child.wire.in, POLLIN, 0};
    for (size_t i = 0; i < agents; i++) {
        const struct tune_agent *agent = &l->agents->at[i];
        int file = agent->child.id ? agent->child.wire.in : -1;
        all[jobs + i] = (struct pollfd){file, POLLIN, 0};
    }
    poll(all, jobs + agents, l->ranking ? RANKING_TICK_MS : TICK_MS);
    for (size_t i = agents; i-- > 0;)
        if (all[jobs + i].revents)
            read_agent(l, &l->agents->at[i]);
    for (size_t i = jobs; i-- > 0;)
        if (all[i].revents)
            read_job(l, i);
}

// Give up agents that do not answer.
static void end_late_agents(struct loop *l)
{
    vec_foreach(agent, l->agents)
        if (owes_answer(agent) && child_now() > agent->child.deadline)
            tune_agent_lost(l->p, agent);
}

// Return whether an agent can still measure.
static bool has_agents(const struct loop *l)
{
    vec_foreach(agent, l->agents)
        if (agent->state != TUNE_AGENT_DEAD)
            return true;
    return false;
}

// Return whether an agent measures a trial.
static bool is_measuring(const struct loop *l)
{
    vec_foreach(agent, l->agents)
        if (agent->state == TUNE_AGENT_BUSY)
            return true;
    return false;
}

// Return how many jobs are for what was asked for.
static size_t count_jobs(const struct loop *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++)
        n += l->jobs[i].trial != JOB_AHEAD;
    return n;
}

// Return whether there is something left to do, and time for it.
static bool goes_on(struct loop *l)
{
    const struct tune_problem *p = l->p;
    if (p->wrong || p->is_lost || p->other || child_now() > p->ends)
        return false;
    return !p->build.turns || !l->is_searched || count_jobs(l) ||
           count_asked(p) || is_measuring(l);
}

// Bring all agents back to where they have no problem.
static void reset_agents(struct loop *l)
{
    vec_foreach(agent, l->agents) {
        bool is_given = agent->state == TUNE_AGENT_GREETING && agent->is_given;
        if (is_given || (agent->state > TUNE_AGENT_READY &&
                         agent->state != TUNE_AGENT_IDLE)) {
            child_stop(&agent->child);
            agent->state = TUNE_AGENT_GONE;
        } else if (agent->state == TUNE_AGENT_IDLE) {
            agent->state = TUNE_AGENT_READY;
        }
    }
}

// Release what the search has compiled.
static void release(struct loop *l)
{
    for (size_t i = 0; i < l->n; i++)
        child_stop(&l->jobs[i].child);
    if (l->ranking)
        tune_rank_end(l->ranking);
    tune_ahead_release(l->p);
    free(l->p->build.cubin);
    free(l->p->plain.cubin);
    vec_foreach_value(t, &l->p->trials)
        free(t->cubin);
}

// Return whether the definition takes too long to be evaluated, so that the
// kernel without its schedules is needed.
static bool needs_plain(const struct tune_problem *p)
{
    return p->options->problem.definition.by != DEFINITION_NONE &&
           (double)p->work.steps > tune_most_work(p);
}

void tune_loop(struct tune_problem *p, struct tune_agents *agents)
{
    size_t jobs = p->options->jobs;
    struct loop l = {.p = p, .agents = agents};
    l.files = arena_array(&p->c->arena, struct pollfd, JOBS_MOST + agents->n);
    l.most = jobs ? jobs : (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    l.most = l.most < JOBS_MOST ? l.most : JOBS_MOST - 2;
    use_agents(&l);
    begin_job(&l, JOB_BUILD, NULL);
    p->awaits_plain = needs_plain(p);
    if (p->awaits_plain)
        begin_job(&l, JOB_PLAIN, NULL);
    if (p->options->effort != TUNE_EXHAUSTIVE)
        l.ranking = tune_rank_begin(p);
    while (goes_on(&l)) {
        use_agents(&l);
        take_jobs(&l);
        use_agents(&l);
        tune_progress(p);
        wait_for_any(&l);
        end_late_jobs(&l);
        end_late_agents(&l);
        if (!has_agents(&l))
            p->wrong = "the agents end again and again";
    }
    if (!p->build.turns && !p->wrong && !p->is_lost && !p->other)
        p->wrong = "the budget ended before anything was measured";
    reset_agents(&l);
    release(&l);
}
