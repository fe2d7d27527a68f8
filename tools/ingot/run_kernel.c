// A kernel is made ready once: for the GPU that is found it is compiled,
// assembled and loaded, without one lowered to be evaluated.

#include "tools/ingot/run.h"

#include "ir/walk.h"
#include "tools/libingot/artefact.h"
#include "tools/libingot/contracts.h"

// ---- Where to run ---------------------------------------------------------

// Return whether the GPU runs cubins of an architecture.
static bool fits_device(const struct run_kernel *k,
                        const struct nvptx_target *t)
{
    unsigned sm = k->driver.sm;
    return t->number / 10 == sm / 10 && t->number <= sm &&
           (t->kind != 'a' || t->number == sm);
}

// Add the architecture of the GPU, as `ingot tune` does, or its next lower relative
// that the tools know.  Without one PTX has to do.
static void target_device(struct run_kernel *k)
{
    struct cli_targets *t = &k->options->targets;
    const struct nvptx_target *best = targets_best(k->driver.sm);
    if (best)
        vec_push(&t->arena, &t->cubins, best);
}

// Look for the GPU and compile for it; without one, for no architecture in
// particular.  Returns false after reporting that there must be one.
static bool find_device(struct run_kernel *k)
{
    struct run_options *o = k->options;
    k->fault = o->device == RUN_CPU ? "as --device says"
                                    : driver_open(&k->driver, o->driver);
    if (k->fault && o->device == RUN_GPU)
        diag_error(&k->c->diags, (struct span){0}, D_no_gpu, k->fault);
    if (k->fault)
        return o->device != RUN_GPU;
    if (!o->targets.has_arch && !o->is_jit)
        target_device(k);
    if (o->is_jit)
        o->targets.cubins.n = 0;
    toolchain_start(&k->tools, o->targets.cuda);
    cli_targets_apply(&o->targets, &k->tools, &o->compile.options);
    return true;
}

// ---- What to run ----------------------------------------------------------

// Return the architecture whose image the GPU loads; NULL where the lowered
// kernel is evaluated.
static const struct nvptx_target *loaded_target(const struct run_kernel *k)
{
    const struct compile_options *o = &k->options->compile.options;
    const struct nvptx_target *best = NULL;
    for (size_t i = 0; i < o->n_targets; i++) {
        const struct nvptx_target *t = o->targets[i];
        if (fits_device(k, t) && (!best || t->number >= best->number))
            best = t;
    }
    return best ? best : o->ptx;
}

// Return the variants that can run: of those evaluated, the ones without warp
// specialization, whose warpgroups wait for each other. An empty list is left as it
// is.
static const struct ir_kernel *const *
runnable(struct run_kernel *k, const struct ir_kernel *const *variants,
         size_t *n)
{
    const struct ir_kernel **kept =
        arena_array(&k->c->arena, const struct ir_kernel *, *n);
    size_t count = 0;
    for (size_t i = 0; i < *n; i++) {
        bool has_roles = ir_has_roles(&variants[i]->body);
        if (!has_roles || !k->fault || k->options->variant)
            kept[count++] = variants[i];
    }
    if (!count)
        return variants;
    *n = count;
    return kept;
}

// Lower the kernel.  Returns false after reporting.
static bool lower(struct run_kernel *k)
{
    struct compilation *c = k->c;
    if (!compile_lower(c, &k->options->compile.options) ||
        !contracts_check_lowered(c))
        return false;
    k->variants = compile_kernels(c, loaded_target(k), &k->n_variants);
    k->variants = runnable(k, k->variants, &k->n_variants);
    return true;
}

// Compile for the GPU and load.  Returns false after reporting.
static bool load(struct run_kernel *k)
{
    struct compilation *c = k->c;
    struct run_options *o = k->options;
    struct ptxas tool;
    if (!cli_images(c, &k->tools, &o->compile.options, &tool))
        return false;
    struct package package =
        artefact_package(c, k->kernel->name, o->file, &tool);
    return loaded_open(&c->arena, &package, o->driver, &c->diags, &k->loaded);
}

bool run_kernel_open(struct run_kernel *k)
{
    return find_device(k) && lower(k) && (k->fault || load(k));
}

void run_kernel_close(struct run_kernel *k)
{
    loaded_close(&k->loaded);
    if (!k->fault && k->driver.context)
        driver_close(&k->driver);
}
