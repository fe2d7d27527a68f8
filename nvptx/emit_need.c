// What only newer architectures have.

#include "nvptx/emit.h"

static const struct {
    unsigned number, ptx;
    enum diag_code code;
} features[] = {
#define FEATURE(name, number, ptx, diagnostic) {number, ptx, D_##diagnostic},
#include "nvptx/features.def"
#undef FEATURE
};

bool emit_need(struct emitter *e, enum feature f, struct span span,
               const char *what)
{
    const struct nvptx_target *target = e->options->target;
    emit_need_ptx(e, features[f].ptx);
    if (target->number >= features[f].number)
        return true;
    diag_error(e->diags, span, features[f].code, e->launch->name, what,
               target->name);
    diag_help(e->diags,
              "give the schedule the architectures that it is for: "
              "schedule %s for sm_%u { ... }",
              e->kernel->name, features[f].number);
    return false;
}
