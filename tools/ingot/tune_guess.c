// Guesses which GPU the agents have, before they say so, which takes a driver a second: of
// this machine what its kernel module lists, of others what the log of the file names.
// What is compiled until then is of use if the guess is right.

#define _DEFAULT_SOURCE // scandir

#include "tools/ingot/tune.h"

#include "tools/libingot/record.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The kernel module's folder of GPUs; each has a file `information`.
#define FOLDER "/proc/driver/nvidia/gpus"

// Read the model of a GPU from a file with a line `Model:  NVIDIA H200`, or NULL.
static const char *read_model(struct arena *a, const char *path)
{
    char line[256];
    const char *found = NULL;
    FILE *f = fopen(path, "r");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *text = line + strcspn(line, ":");
        if (strncmp(line, "Model", 5) != 0 || !*text)
            continue;
        text += 1 + strspn(text + 1, " \t");
        text[strcspn(text, "\n")] = '\0';
        found = arena_copy(a, text, strlen(text));
    }
    if (f)
        fclose(f);
    return found;
}

// Take the GPUs of this machine, if they are of one kind that the model knows.  Returns
// false if not.
static bool guess_local(struct arena *a, struct tune_device *out)
{
    struct dirent **entries = NULL;
    const char *model = NULL;
    bool is_one_kind = true;
    int n = scandir(FOLDER, &entries, NULL, NULL);
    for (int i = 0; i < n; i++) {
        const char *one =
            read_model(a, arena_printf(a, "%s/%s/information", FOLDER,
                                       entries[i]->d_name));
        is_one_kind &= !one || !model || strcmp(one, model) == 0;
        model = one ? one : model;
        free(entries[i]);
    }
    free(entries);
    const struct model_device *d = model ? model_device_called(model) : NULL;
    if (!d || !is_one_kind)
        return false;
    *out = (struct tune_device){model, d->sm, d->sms, 0};
    return true;
}

// Take the device of a record: of one that the model does not know what the architecture
// says.
static bool take_device(const struct record *r, struct tune_device *out)
{
    const struct model_device *d = model_device_called(r->device);
    unsigned sm = d ? d->sm : 0;
    if (!d && sscanf(r->arch, "sm_%u", &sm) != 1)
        return false;
    d = d ? d : model_device_for(sm);
    *out = (struct tune_device){r->device, sm, d->sms, 0};
    return true;
}

// Take the device of the last record of a log.  Returns false if there is none.
static bool guess_by_log(struct arena *a, const char *path,
                         struct tune_device *out)
{
    struct arena names_arena = {0};
    struct str_table names = {.arena = &names_arena};
    struct diag_list quiet = {.arena = a};
    struct buf text = {0};
    bool is_found = false;
    bool is_read = cli_read(path, &text, &quiet) && text.n;
    for (const char *line = text.data; is_read && *line;) {
        struct record r;
        const char *at = line, *end = line + strcspn(line, "\n");
        if (*end && record_read(a, &names, &at, &r))
            is_found |= take_device(&r, out);
        line = end + (*end != '\0');
    }
    buf_free(&text);
    arena_reset(&names_arena);
    return is_found;
}

bool tune_guess(struct arena *a, const struct tune_options *o,
                struct tune_device *out)
{
    if (o->gpus < 0)
        return false;
    if (!o->commands.n && !o->driver)
        return guess_local(a, out);
    const char *log = tune_log_path(a, o->file);
    return log && guess_by_log(a, log, out);
}
