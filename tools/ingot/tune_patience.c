// How long an agent may take to answer.
//
//   GPU       `--limit`, of the time in which the agent says that the GPU works
//   host      six times that, of processor time; or doing nothing for as long
//
// So a busy machine makes no candidate `hung`.  An agent that says nothing of phases has
// `--limit` for all of it.

#include "tools/ingot/tune.h"

#include <string.h>

enum { HOST_TIMES = 6 };

// Less processor time than this is nothing: saying so takes that.
#define NOTHING_S 1e-3

void tune_patience_begin(struct tune_agent *agent, double limit, double more)
{
    double now = child_now();
    agent->patience = (struct tune_patience){.limit = limit + more,
                                             .gpu = limit + more,
                                             .host = HOST_TIMES * limit + more,
                                             .since = now,
                                             .is_gpu = true};
    agent->child.deadline = now + limit + more;
}

// Note what the host has used; it may go on for as long as it may do nothing.
static void take_host(struct tune_agent *agent, double used, bool is_new)
{
    struct tune_patience *p = &agent->patience;
    double now = child_now();
    if (used > p->host)
        agent->child.deadline = now;
    else if (is_new || used > p->used + NOTHING_S)
        agent->child.deadline = now + p->host;
    p->used = used;
}

bool tune_patience_take(struct tune_agent *agent, const struct wire_message *m)
{
    const char *phase = json_string_value(json_object_get(m->json, "phase"));
    struct tune_patience *p = &agent->patience;
    double used = json_number_value(json_object_get(m->json, "used"));
    double now = child_now();
    bool was_gpu = p->is_gpu;
    if (!phase)
        return false;
    if (was_gpu && p->has_phases)
        p->gpu -= now - p->since;
    p->is_gpu = strcmp(phase, "gpu") == 0;
    p->has_phases = true;
    p->since = now;
    if (p->is_gpu)
        agent->child.deadline = now + (p->gpu > 0 ? p->gpu : 0);
    else
        take_host(agent, used, was_gpu);
    return true;
}

const char *tune_patience_why(struct arena *a, const struct tune_agent *agent)
{
    const struct tune_patience *p = &agent->patience;
    if (!p->has_phases)
        return arena_printf(a, "no answer within %.3g s", p->limit);
    if (p->is_gpu)
        return arena_printf(a, "the GPU works for more than %.3g s", p->limit);
    if (p->used > p->host)
        return arena_printf(
            a,
            "what is done beside the GPU takes more than %.3g s of "
            "processor time",
            p->host);
    return arena_printf(a, "beside the GPU nothing is done for %.3g s",
                        p->host);
}
