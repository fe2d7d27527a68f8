// Opens the driver for an agent, in a thread.  Who has no GPU ends at once, whatever the
// agent does meanwhile: what it computes would serve nobody.

#include "tools/ingot/agent_opening.h"

#include "tools/ingot/cli.h"
#include "tools/ingot/json.h"

#include <stdio.h>
#include <stdlib.h>

enum { PROTOCOL = 2 };

// Say what the GPU is.
static void greet(const struct agent_opening *o)
{
    json_t *hello = json_object();
    const struct driver *d = &o->driver;
    json_object_set_new(hello, "agent", json_integer(PROTOCOL));
    json_object_set_new(hello, "version", json_text(INGOT_VERSION));
    json_object_set_new(hello, "device", json_text(d->name));
    json_object_set_new(hello, "sm", json_integer(d->sm));
    json_object_set_new(hello, "sms", json_integer(d->sms));
    json_object_set_new(hello, "gpus", json_integer(d->count));
    json_object_set_new(hello, "driver", json_integer(d->version));
    json_object_set_new(hello, "memory", json_integer(driver_memory(d)));
    wire_send(o->wire, hello, NULL, 0);
}

// Open the driver, and greet.
static void *open_driver(void *context)
{
    struct agent_opening *o = context;
    const char *fault = driver_open(&o->driver, o->driver.path);
    if (fault) {
        fprintf(stderr, "ingot agent: %s\n", fault);
        exit(EXIT_TOOL);
    }
    greet(o);
    return NULL;
}

void agent_opening_begin(struct agent_opening *o, struct wire *wire,
                         const char *path)
{
    *o = (struct agent_opening){.wire = wire, .driver = {.path = path}};
    o->is_begun = true;
    o->has_thread = pthread_create(&o->thread, NULL, open_driver, o) == 0;
    if (!o->has_thread)
        open_driver(o);
}

void agent_opening_end(struct agent_opening *o, struct driver *out)
{
    if (!o->is_begun)
        return;
    if (o->has_thread)
        pthread_join(o->thread, NULL);
    o->is_begun = false;
    *out = o->driver;
    if (o->has_thread)
        out->cuCtxSetCurrent(out->context);
}
