// The agents of a tuner: processes that own a GPU each.
//
//   gone -> greeting -> ready -> problem -> (reference) -> first -> idle <-> busy
//
// One that ends, or does not answer in time, loses what it measures, and is started
// again.

#include "tools/ingot/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STARTS_MOST = 4 };

#define GREETING_S 120.0

// ---- Commands -------------------------------------------------------------

// Append a text in single quotes of the shell.
static void quote(const char *text, struct buf *out)
{
    buf_char(out, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buf_text(out, "'\\''");
        else
            buf_char(out, *text);
    buf_char(out, '\'');
}

// Append the name of GPU number `gpu` of those that this process may use.
static void name_gpu(int gpu, struct buf *out)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    for (int i = 0; visible && *visible; i++) {
        size_t n = strcspn(visible, ",");
        if (i == gpu) {
            buf_bytes(out, visible, n);
            return;
        }
        visible += n + (visible[n] == ',');
    }
    buf_printf(out, "%d", gpu);
}

const char *tune_own_command(struct arena *a, const struct tune_options *o,
                             int gpu)
{
    char path[4096];
    struct buf text = {0};
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    if (gpu >= 0) {
        buf_text(&text, "CUDA_VISIBLE_DEVICES=");
        name_gpu(gpu, &text);
        buf_char(&text, ' ');
    }
    buf_text(&text, "exec ");
    quote(path, &text);
    buf_text(&text, " agent");
    if (o->driver) {
        buf_text(&text, " --driver ");
        quote(o->driver, &text);
    }
    const char *command = arena_copy(a, text.data, text.n);
    buf_free(&text);
    return command;
}

// ---- Starting -------------------------------------------------------------

void tune_agent_start(struct tune_agent *agent)
{
    bool ok = agent->starts < STARTS_MOST;
    agent->starts++;
    agent->is_given = false;
    if (!ok || !child_run(&agent->child, agent->command)) {
        agent->state = TUNE_AGENT_DEAD;
        return;
    }
    agent->state = TUNE_AGENT_GREETING;
    agent->child.deadline = child_now() + GREETING_S;
}

const char *tune_agent_greeting(struct arena *a, struct tune_agent *agent,
                                const struct wire_message *m)
{
    const char *name = json_string_value(json_object_get(m->json, "device"));
    const char *version =
        json_string_value(json_object_get(m->json, "version"));
    if (!name || !version)
        return "does not say which GPU it has";
    if (strcmp(version, INGOT_VERSION) != 0)
        return "is of another version than this command, " INGOT_VERSION;
    agent->device = (struct tune_device){
        .name = arena_copy(a, name, strlen(name)),
        .sm = (unsigned)json_integer_value(json_object_get(m->json, "sm")),
        .sms = (int)json_integer_value(json_object_get(m->json, "sms")),
        .gpus = (int)json_integer_value(json_object_get(m->json, "gpus"))};
    agent->state = agent->is_given ? TUNE_AGENT_PROBLEM : TUNE_AGENT_READY;
    return NULL;
}

// Wait for what a new agent is.  Returns false after reporting.
static bool open_agent(struct arena *a, struct tune_agent *agent,
                       struct diag_list *diags)
{
    struct wire_message m;
    char text[CHILD_TEXT_SIZE] = "cannot be started";
    if (agent->state == TUNE_AGENT_GREETING &&
        wire_wait(&agent->child.wire, GREETING_S, &m)) {
        const char *wrong = tune_agent_greeting(a, agent, &m);
        wire_release(&m);
        if (!wrong)
            return true;
        snprintf(text, sizeof text, "%s", wrong);
    } else if (agent->child.id) {
        child_end(&agent->child, text, sizeof text);
    }
    return diag_error(diags, (struct span){0}, D_agent_failed, agent->command,
                      text);
}

// Add an agent.
static void add(struct arena *a, struct tune_agents *out, const char *command)
{
    struct tune_agent agent = {.command = command};
    vec_push(a, out, agent);
}

// Start the agents from number `first` on, all at the same time.
static void start_from(struct tune_agents *all, size_t first)
{
    for (size_t i = first; i < all->n; i++)
        tune_agent_start(&all->at[i]);
}

// Add agents of this command on GPUs behind the first.
static void add_gpus(struct arena *a, const struct tune_options *o, long gpus,
                     struct tune_agents *out)
{
    for (int i = 1; i < gpus; i++)
        add(a, out, tune_own_command(a, o, i));
}

void tune_agents_open(struct arena *a, const struct tune_options *o,
                      struct tune_agents *out)
{
    vec_foreach_value(command, &o->commands)
        add(a, out, command);
    if (!o->commands.n) {
        add(a, out, tune_own_command(a, o, -1));
        add_gpus(a, o, o->gpus, out);
    }
    start_from(out, 0);
}

bool tune_agents_meet(struct arena *a, const struct tune_options *o,
                      struct diag_list *diags, struct tune_agents *out)
{
    if (!open_agent(a, &out->at[0], diags))
        return false;
    size_t first = out->n;
    if (!o->commands.n && o->gpus < 0)
        add_gpus(a, o, out->at[0].device.gpus, out);
    start_from(out, first);
    return true;
}

// Return whether two devices are of a kind.
static bool is_like(const struct tune_device *a, const struct tune_device *b)
{
    return strcmp(a->name, b->name) == 0 && a->sm == b->sm && a->sms == b->sms;
}

void tune_agent_fail(struct tune_problem *p, const struct tune_agent *agent,
                     const char *why)
{
    p->is_lost = true;
    diag_error(&p->c->diags, (struct span){0}, D_agent_failed, agent->command,
               why);
}

void tune_agent_greet(struct tune_problem *p, struct tune_agent *agent,
                      const struct wire_message *m)
{
    bool is_new = !agent->device.name;
    const char *wrong = tune_agent_greeting(p->arena, agent, m);
    if (wrong && !is_new)
        agent->state = TUNE_AGENT_DEAD;
    else if (wrong)
        tune_agent_fail(p, agent, wrong);
    else if (is_like(&agent->device, p->device))
        p->is_guess = false;
    else if (p->is_guess)
        p->other = &agent->device;
    else
        tune_agent_fail(p, agent, "has another kind of GPU");
}

void tune_agents_close(struct tune_agents *all)
{
    char text[CHILD_TEXT_SIZE];
    vec_foreach(agent, all)
        if (agent->child.id)
            wire_close(&agent->child.wire);
    vec_foreach(agent, all)
        if (agent->child.id)
            child_end(&agent->child, text, sizeof text);
}
