// What only some architectures have.

#include "nvptx/emit.h"

#include "ir/arch_set.h"

static const struct {
    const char *set;
    unsigned ptx;
    enum diag_code code; // of NEEDED, else 0
} features[] = {
#define NEEDED(name, set, ptx, diagnostic) {set, ptx, D_##diagnostic},
#define PREFERRED(name, set, ptx)          {set, ptx, 0},
#include "nvptx/features.def"
#undef NEEDED
#undef PREFERRED
};

bool nvptx_target_has(const struct nvptx_target *target, enum feature f)
{
    return nvptx_target_in(target, features[f].set);
}

bool emit_prefer(struct emitter *e, enum feature f)
{
    bool has = nvptx_target_has(e->options->target, f);
    emit_need_ptx(e, has ? features[f].ptx : 0);
    return has;
}

bool emit_need(struct emitter *e, enum feature f, struct span span,
               const char *what)
{
    const struct nvptx_target *target = e->options->target;
    emit_need_ptx(e, features[f].ptx);
    if (nvptx_target_has(target, f))
        return true;
    diag_error(e->diags, span, features[f].code, e->launch->name, what,
               target->name);
    diag_help(e->diags,
              "give the schedule the architectures that it is for: "
              "schedule %s for %s { ... }",
              e->kernel->name, arch_set_names(e->arena, features[f].set));
    return false;
}
