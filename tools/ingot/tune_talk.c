// What a tuner says to an agent, and what it makes of the answers.
//
//   ready -> problem -> (reference) -> first -> idle <-> busy

#include "tools/ingot/tune.h"

#include <stdlib.h>
#include <string.h>

#define WORK_PER_SECOND 1e8
#define WORK_MOST       1e18

// ---- The problem ----------------------------------------------------------

// Return settings of the command line as an object of texts.
static json_t *texts_json(const struct problem_settings *all)
{
    json_t *object = json_object();
    vec_foreach(one, all)
        json_object_set_new(object, one->name, json_text(one->text));
    return object;
}

double tune_most_work(const struct tune_problem *p)
{
    const struct definition_request *o = &p->options->problem.definition;
    double most = WORK_PER_SECOND * p->options->budget;
    if (o->by == DEFINITION_EVAL || o->by == DEFINITION_HOST)
        return WORK_MOST;
    return most < (double)o->steps ? most : (double)o->steps;
}

// Give an agent the problem, which it computes while it opens its driver.
static void send_problem(struct tune_problem *p, struct tune_agent *agent)
{
    const struct problem_options *o = &p->options->problem;
    json_t *request = json_object();
    json_object_set_new(request, "do", json_text("problem"));
    json_object_set_new(request, "source", way_source_json(&p->source));
    json_object_set_new(request, "values", texts_json(&p->request->values));
    json_object_set_new(request, "ranges", texts_json(&p->request->ranges));
    json_object_set_new(request, "seed",
                        json_integer((json_int_t)p->request->seed));
    json_object_set_new(request, "tolerance", json_real(o->tolerance));
    json_object_set_new(request, "reference", json_integer(o->definition.by));
    json_object_set_new(request, "work", json_real(tune_most_work(p)));
    if (o->unordered)
        json_object_set_new(request, "unordered", json_text(o->unordered));
    if (agent->state == TUNE_AGENT_READY)
        agent->state = TUNE_AGENT_PROBLEM;
    agent->is_given = true;
    tune_patience_begin(agent, p->options->limit, p->options->budget);
    wire_send(&agent->child.wire, request, NULL, 0);
}

// Ask for a measurement.
static void send_way(struct tune_problem *p, struct tune_agent *agent,
                     const struct tune_trial *t, const char *as, size_t turns)
{
    json_t *request = json_object();
    json_object_set_new(request, "do", json_text("measure"));
    json_object_set_new(request, "as", json_text(as));
    json_object_set_new(request, "way", way_json(&t->way));
    json_object_set_new(request, "turns", json_integer((json_int_t)turns));
    tune_patience_begin(agent, p->options->limit, 0);
    wire_send(&agent->child.wire, request, t->cubin, t->n);
}

// Go on to what waits for code: no answer is owed until then.
static void await_code(struct tune_problem *p, struct tune_agent *agent,
                       enum tune_agent_state state)
{
    agent->state = state;
    agent->child.deadline = 0;
    tune_agent_push(p, agent);
}

// Give an agent the kernel without its schedules, or do without it.
static void push_plain(struct tune_problem *p, struct tune_agent *agent)
{
    if (p->plain.cubin)
        send_way(p, agent, &p->plain, "reference", 1);
    else if (!p->awaits_plain)
        await_code(p, agent, TUNE_AGENT_FIRST);
}

void tune_agent_push(struct tune_problem *p, struct tune_agent *agent)
{
    bool waits = agent->child.deadline == 0;
    if (agent->state == TUNE_AGENT_GONE)
        tune_agent_start(agent);
    else if (agent->state == TUNE_AGENT_READY ||
             (agent->state == TUNE_AGENT_GREETING && !agent->is_given))
        send_problem(p, agent);
    else if (agent->state == TUNE_AGENT_REFERENCE && waits)
        push_plain(p, agent);
    else if (agent->state == TUNE_AGENT_FIRST && waits && p->build.cubin)
        send_way(p, agent, &p->build, "first", 20);
}

void tune_agent_ask(struct tune_problem *p, struct tune_agent *agent,
                    size_t trial)
{
    struct tune_trial *t = p->trials.at[trial];
    agent->state = TUNE_AGENT_BUSY;
    agent->trial = trial;
    agent->asked++;
    t->is_asked = false;
    send_way(p, agent, t, "other", t->job);
}

// ---- Answers --------------------------------------------------------------

// Return a copy of a text of an answer; NULL if there is none.
static const char *text_of(struct tune_problem *p, const struct wire_message *m,
                           const char *key)
{
    const char *text = json_string_value(json_object_get(m->json, key));
    return text ? arena_copy(&p->c->arena, text, strlen(text)) : NULL;
}

// Return a number of an answer; 0 if there is none.
static double number_of(const struct wire_message *m, const char *key)
{
    return json_number_value(json_object_get(m->json, key));
}

// Take what a way was measured as.  Returns whether it was.
static bool take_times(struct tune_problem *p, struct tune_trial *t,
                       const struct wire_message *m)
{
    const char *state = text_of(p, m, "state");
    bool ok = state && strcmp(state, "measured") == 0 &&
              number_of(m, "us") > 0 && number_of(m, "ratio") > 0;
    t->state =
        ok || (state && strcmp(state, "measured") != 0) ? state : "failed";
    t->why = text_of(p, m, "why");
    if (!ok)
        return false;
    t->us = number_of(m, "us");
    t->ratio = number_of(m, "ratio");
    t->spread = 100 * number_of(m, "spread");
    t->turns = (size_t)number_of(m, "turns");
    return true;
}

// Return whether an agent ends behind a kernel of that state.
static bool ends_behind(const char *state)
{
    return strcmp(state, "fault") == 0 || strcmp(state, "wrong") == 0;
}

// Let an agent end, which is started again.
static void let_end(struct tune_agent *agent)
{
    agent->state = TUNE_AGENT_LAST;
    agent->child.deadline = child_now() + 1;
}

// Take the answer to a problem.
static void take_problem(struct tune_problem *p, struct tune_agent *agent,
                         const struct wire_message *m)
{
    const char *reference = text_of(p, m, "reference");
    if (!reference) {
        const char *why = text_of(p, m, "why");
        p->wrong = why ? why : "the agent does not take it";
        return;
    }
    p->reference = reference;
    await_code(p, agent,
               strcmp(reference, "none") != 0 ? TUNE_AGENT_FIRST
                                              : TUNE_AGENT_REFERENCE);
}

// Do without the kernel that has no schedule.
static void drop_plain(struct tune_problem *p)
{
    free(p->plain.cubin);
    p->plain.cubin = NULL;
}

// Note what results are compared with, as an answer says.
static void note_reference(struct tune_problem *p, const char *what,
                           const struct wire_message *m)
{
    const char *checked = text_of(p, m, "checked");
    bool is_right = checked && strcmp(checked, "right") == 0;
    p->reference = arena_printf(
        &p->c->arena, "%s, %s", what,
        is_right ? "which was compared with the definition at small sizes"
                 : "which was not compared with the definition");
}

// Take the answer to the reference.
static void take_reference(struct tune_problem *p, struct tune_agent *agent,
                           const struct wire_message *m)
{
    const char *state = text_of(p, m, "state");
    if (!state || strcmp(state, "measured") != 0) {
        drop_plain(p);
        if (state && ends_behind(state)) {
            let_end(agent);
            return;
        }
    } else {
        note_reference(p, "the kernel without its schedules", m);
    }
    await_code(p, agent, TUNE_AGENT_FIRST);
}

// Take the measurement of what a build takes.
static void take_first(struct tune_problem *p, struct tune_agent *agent,
                       const struct wire_message *m)
{
    struct tune_trial once = p->build;
    if (!take_times(p, &once, m)) {
        p->wrong = arena_printf(
            &p->c->arena, "what a build takes, %s, %s: %s", p->build_name,
            strcmp(once.state, "wrong") == 0 ? "computes something else"
                                             : "does not run",
            once.why ? once.why : "no answer");
        return;
    }
    if (json_object_get(m->json, "checked"))
        note_reference(p, "what a build takes", m);
    if (!p->build.turns) {
        p->build = once;
        tune_log_add(p, &p->build);
    }
    agent->starts = 0;
    agent->state = TUNE_AGENT_IDLE;
}

// Take the measurement of a trial.
static void take_trial(struct tune_problem *p, struct tune_agent *agent,
                       const struct wire_message *m)
{
    struct tune_trial *t = p->trials.at[agent->trial];
    take_times(p, t, m);
    agent->starts = 0;
    agent->state = TUNE_AGENT_IDLE;
    if (ends_behind(t->state))
        let_end(agent);
    tune_done(p, agent->trial, t->state, t->why);
}

void tune_agent_take(struct tune_problem *p, struct tune_agent *agent,
                     struct wire_message *m)
{
    if (tune_patience_take(agent, m))
        return;
    switch (agent->state) {
    case TUNE_AGENT_GREETING: tune_agent_greet(p, agent, m); break;
    case TUNE_AGENT_PROBLEM: take_problem(p, agent, m); break;
    case TUNE_AGENT_REFERENCE: take_reference(p, agent, m); break;
    case TUNE_AGENT_FIRST: take_first(p, agent, m); break;
    case TUNE_AGENT_BUSY: take_trial(p, agent, m); break;
    case TUNE_AGENT_GONE:
    case TUNE_AGENT_READY:
    case TUNE_AGENT_IDLE:
    case TUNE_AGENT_LAST:
    case TUNE_AGENT_DEAD: break;
    }
}

void tune_agent_lost(struct tune_problem *p, struct tune_agent *agent)
{
    char text[CHILD_TEXT_SIZE];
    bool is_late = child_now() > agent->child.deadline;
    bool is_busy = agent->state == TUNE_AGENT_BUSY;
    if (agent->state == TUNE_AGENT_REFERENCE && agent->child.deadline > 0)
        drop_plain(p);
    child_end(&agent->child, text, sizeof text);
    if (!agent->device.name)
        tune_agent_fail(p, agent, text);
    if (agent->state != TUNE_AGENT_DEAD)
        agent->state = TUNE_AGENT_GONE;
    if (!is_busy)
        return;
    agent->starts = 0;
    const char *why = is_late
                          ? tune_patience_why(&p->c->arena, agent)
                          : arena_printf(&p->c->arena, "the agent %s", text);
    tune_done(p, agent->trial, is_late ? "hung" : "crashed", why);
}
