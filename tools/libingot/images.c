// Makes all images of a compilation at the same time.
//
// Each image is a part of its own, which emits PTX and then assembles it; so an
// architecture's ptxas runs while LLVM still works on another one. The options say how
// many parts run at a time.

#include "tools/libingot/compile.h"
#include "tools/libingot/contracts.h"
#include "tools/libingot/jobs.h"

// An image on its way, with what only its part uses.
struct making {
    const struct ir_kernel *const *kernels;
    size_t n;
    struct nvptx_options options;
    const struct ptxas *tool; // NULL: the image is the PTX
    struct ptxas_job job;     // for it
    struct diag_list diags;
    struct phases times;
    struct buf text; // the PTX
    double emitted;  // milliseconds, when the PTX was there
    bool is_emitted, ok;
};

// Make one image.
static void make(struct making *m)
{
    struct arena *arena = m->diags.arena;
    m->options.times = &m->times;
    m->is_emitted = nvptx_emit_isolated(arena, m->kernels, m->n, &m->options,
                                        &m->text, &m->diags);
    m->emitted = phases_now();
    m->job.target = m->options.target;
    m->job.ptx = arena_copy(arena, m->text.n ? m->text.data : "", m->text.n);
    m->job.ptx_size = m->text.n;
    buf_free(&m->text);
    m->ok = m->is_emitted &&
            (!m->tool || ptxas_run(arena, m->tool, &m->job, 1, &m->diags));
}

// What is made at the same time: the assembler's version, if there is an assembler, and all
// images.
struct all {
    struct arena *arena; // of the version
    struct making *images;
    struct ptxas *tool;
};

// Make one part: the version comes first.
static void make_part(void *context, size_t i)
{
    struct all *all = context;
    size_t first = all->tool != NULL;
    if (i < first)
        all->tool->version = ptxas_version(all->arena, all->tool);
    else
        make(&all->images[i - first]);
}

// Return the places that the entries of an image come from: each one's
// schedule, or the name of the kernel.
static const struct span *places_of(struct compilation *c,
                                    const struct nvptx_target *target, size_t n)
{
    struct span *places = arena_array(&c->arena, struct span, n);
    size_t at = 0;
    for (size_t i = 0; i < c->variants.n; i++) {
        const struct variant *v = &c->variants.at[i];
        const struct ir_block *body = &v->kernel->body;
        if (!target_set_has(v->targets, target))
            continue;
        for (size_t k = 0; k < body->n; k++) {
            if (body->at[k]->kind == STMT_launch)
                places[at++] =
                    v->schedule ? v->schedule->span : v->source->span;
        }
    }
    return places;
}

// Return the making of an image; without a tool it is PTX.
static struct making making_of(struct compilation *c,
                               const struct compile_options *o,
                               const struct nvptx_target *target,
                               const struct ptxas *tool)
{
    struct arena *arena = arena_new(&c->arena, struct arena);
    struct making m = {.options = compile_emit_options(o, target, NVPTX_PTX),
                       .tool = tool,
                       .diags = {.arena = arena},
                       .times = {.arena = arena}};
    vec_push(&c->arena, &c->arenas, arena);
    m.kernels = compile_kernels(c, target, &m.n);
    nvptx_warn_lacks(m.kernels, m.n, target, &c->diags);
    m.job.entries = compile_entries(c, target, &m.job.n_entries);
    m.job.places = places_of(c, target, m.job.n_entries);
    return m;
}

// Add an image and what was reported on the way.
static void add_image(struct compilation *c, const struct making *m)
{
    struct compiled_image image = {.target = m->options.target,
                                   .kind = m->tool ? IMAGE_CUBIN : IMAGE_PTX,
                                   .ptx = m->job.ptx,
                                   .ptx_size = m->job.ptx_size,
                                   .usage = m->job.usage,
                                   .remarks = m->job.remarks};
    image.bytes = m->tool ? m->job.cubin : m->is_emitted ? m->job.ptx : NULL;
    image.size = m->tool ? m->job.cubin_size : m->job.ptx_size;
    vec_push(&c->arena, &c->images, image);
    vec_append(&c->arena, &c->diags.all, &m->diags.all);
    c->diags.errors += m->diags.errors;
}

// Note the times: of emission until the last PTX was there, of ptxas until the
// last cubin was.
static void add_times(struct phases *to, const struct making *all, size_t n,
                      double began)
{
    double emitted = began;
    bool assembles = false;
    for (size_t i = 0; i < n; i++) {
        emitted = all[i].emitted > emitted ? all[i].emitted : emitted;
        assembles |= all[i].tool != NULL;
    }
    phases_add(to, "emit", emitted - began);
    for (size_t i = 0; i < n; i++)
        phases_merge(to, "emit", all[i].options.target->name, &all[i].times);
    if (assembles)
        phases_add(to, "ptxas", phases_now() - emitted);
    for (size_t i = 0; i < n; i++) {
        if (all[i].tool)
            phases_add(to,
                       arena_printf(all[i].times.arena, "ptxas/%s",
                                    all[i].options.target->name),
                       all[i].job.ms);
    }
}

bool compile_has_images(const struct compilation *c)
{
    for (size_t i = 0; i < c->images.n; i++) {
        if (!c->images.at[i].bytes)
            return false;
    }
    return c->images.n > 0;
}

bool compile_images(struct compilation *c, const struct compile_options *o,
                    struct ptxas *tool)
{
    size_t cubins = o->n_targets, n = cubins + (o->ptx != NULL);
    struct making *all = arena_array(&c->arena, struct making, n);
    bool emitted = true, ok = true;
    for (size_t i = 0; i < n; i++)
        all[i] = i < cubins ? making_of(c, o, o->targets[i], tool)
                            : making_of(c, o, o->ptx, NULL);
    double began = phases_now();
    struct all parts = {&c->arena, all, cubins ? tool : NULL};
    nvptx_start();
    jobs_run(o->jobs, n + (cubins != 0), make_part, &parts);
    add_times(o->passes.times, all, n, began);
    for (size_t i = 0; i < n; i++) {
        if (emitted || all[i].is_emitted)
            add_image(c, &all[i]);
        emitted = emitted && all[i].is_emitted;
        ok = ok && all[i].ok;
    }
    for (size_t i = 0; i < c->images.n && emitted; i++)
        ok = contracts_check_image(c, &c->images.at[i]) && ok;
    return ok;
}
