// The architectures and their lookup.

#include "nvptx/nvptx.h"

#include "ir/arch_set.h"
#include "ir/base/suggest.h"

#include <llvm/Config/llvm-config.h>
#include <string.h>

static const struct nvptx_target targets[] = {
#define SM(name, number, kind, ptx, shared, llvm)                              \
    {#name, number, kind, ptx, shared * 1024, llvm},
#include "nvptx/sm.def"
#undef SM
};

const struct nvptx_target *nvptx_targets(size_t *n)
{
    *n = sizeof targets / sizeof *targets;
    return targets;
}

bool nvptx_target_is_known(const struct nvptx_target *target)
{
    return target->llvm <= LLVM_VERSION_MAJOR;
}

bool nvptx_target_in(const struct nvptx_target *target, const char *set)
{
    return arch_set_has(set, target->number, target->kind);
}

// Say which architectures there are.
static void help_all(struct diag_list *diags)
{
    struct buf text = {0};
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", all[i].name);
    diag_help(diags, "the architectures: %s", text.data);
    buf_free(&text);
}

// Report that no architecture has that name.
static void report_unknown(const char *name, struct span span,
                           struct diag_list *diags)
{
    struct suggest near = {.wanted = name};
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < n; i++)
        suggest_offer(&near, all[i].name);
    diag_error(diags, span, D_unknown_architecture, name);
    if (suggest_any(&near))
        suggest_help(diags, &near);
    else
        help_all(diags);
}

const struct nvptx_target *nvptx_target_find_at(const char *name,
                                                struct span span,
                                                struct diag_list *diags)
{
    size_t n;
    const struct nvptx_target *all = nvptx_targets(&n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    }
    report_unknown(name, span, diags);
    return NULL;
}

const struct nvptx_target *nvptx_target_find(const char *name,
                                             struct diag_list *diags)
{
    return nvptx_target_find_at(name, (struct span){0}, diags);
}
