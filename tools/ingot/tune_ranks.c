// Whether a tuner was started as several processes, by mpirun or srun.  Then it becomes
// ingot-mpi (tools/mpi), which makes rank 0 a tuner again, with each other rank as one
// of its agents.

#include "tools/ingot/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELPER "ingot-mpi"

// What launchers tell a process: how many there are, and which it is.
static const struct launcher {
    const char *size, *rank;
} launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, // Open MPI
                 {"PMI_SIZE", "PMI_RANK"},                 // MPICH, Intel MPI
                 {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}, // srun
                 {NULL, NULL}};

// Return the number that a variable of the environment has; 0 if there is none.
static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

// Return the launcher that started several processes, or NULL.
static const struct launcher *find_launcher(void)
{
    for (const struct launcher *l = launchers; l->size; l++)
        if (number_of(l->size) > 1)
            return getenv("INGOT_RANKS") ? NULL : l;
    return NULL;
}

// Return a path beside the own executable; the own one for NULL.
static char *path_beside(struct arena *a, const char *name)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(path, '/');
    return name ? arena_printf(a, "%.*s/%s", (int)(slash ? slash - path : 0),
                               path, name)
                : arena_copy(a, path, strlen(path));
}

// Become the helper, with this command line: `HELPER ranks agent ingot tune ...`.
static void become(struct arena *a, const char *helper, long ranks,
                   const struct tune_options *o, int argc, char **argv)
{
    const char *own = tune_own_command(a, o, -1);
    char **out = arena_array(a, char *, (size_t)argc + 7);
    size_t n = 0;
    out[n++] = arena_copy(a, helper, strlen(helper));
    out[n++] = arena_printf(a, "%ld", ranks);
    out[n++] = arena_printf(a, "%s", o->commands.n ? o->commands.at[0] : own);
    out[n++] = path_beside(a, NULL);
    out[n++] = arena_printf(a, "tune");
    if (!o->commands.n) {
        out[n++] = arena_printf(a, "--cross");
        out[n++] = arena_printf(a, "%s", own);
    }
    for (int i = 1; i < argc; i++)
        out[n++] = argv[i];
    out[n] = NULL;
    execv(helper, out);
}

bool tune_ranks(struct arena *a, const struct tune_options *o, int argc,
                char **argv, struct diag_list *diags)
{
    const struct launcher *l = find_launcher();
    if (!l)
        return true;
    long ranks = number_of(l->size);
    const char *helper = path_beside(a, HELPER);
    const char *why = NULL;
    if (o->gpus)
        why = "--gpus does not go with that: each has one GPU";
    else if (o->commands.n > 1)
        why = "each runs the same agent, so that only one can be named";
    else if (access(helper, X_OK) != 0)
        why = "this build has no MPI: there is no `" HELPER "` beside it";
    else
        become(a, helper, ranks, o, argc, argv);
    if (number_of(l->rank) != 0)
        return false;
    return diag_error(diags, (struct span){0}, D_ranks_refused, ranks,
                      why ? why : "`" HELPER "` cannot be run");
}
