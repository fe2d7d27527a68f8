// Warnings for directives without effect: a directive does what it says, is
// refused, or gets a warning.
//
// A copy may become several stores: of full tiles and of tails. One that is as
// the directive asks is enough.

#include "passes/lower/dropped.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/analysis/copies.h"

#include <string.h>

// Return whether two spans are the same.
static bool same_span(struct span a, struct span b)
{
    return a.source == b.source && a.from == b.from && a.to == b.to;
}

// Warn, unless that was done already, in another variant.
static void warn(struct pass *p, struct span by, enum diag_code code,
                 const char *name, const char *why)
{
    const char *quoted = arena_printf(p->scratch, "`%s`", name);
    vec_foreach(d, &p->diags->all)
        if (d->code == code && same_span(d->span, by) &&
            strstr(d->text, quoted))
            return;
    diag_warning(p->diags, by, code, name, why);
}

void dropped_double(struct pass *p, const struct ir_buffer *b, const char *why)
{
    if (b->doubled.source)
        warn(p, b->doubled, D_double_dropped, b->name, why);
}

void dropped_swizzle(struct pass *p, const struct ir_buffer *b)
{
    int64_t rows = 1, extent;
    bool is_known = true;
    if (!b->swizzle.bits || !b->swizzled.source)
        return;
    for (uint32_t d = 0; d + 1 < b->rank && is_known; d++) {
        is_known = ir_int_value(b->shape[d], &extent);
        rows *= is_known ? extent : 1;
    }
    if (b->space == SPACE_fragment)
        warn(p, b->swizzled, D_swizzle_dropped, b->name, "it is in registers");
    else if (is_known && rows <= (int64_t)1 << b->swizzle.shift)
        warn(p, b->swizzled, D_swizzle_dropped, b->name,
             rows == 1 ? "it has one row" : "its rows have one pattern");
}

// What a directive asks of a copy.
struct wish {
    struct span by;
    const struct ir_stmt *store; // what one that is not so does
    bool is_hint, is_done;
};

// The wishes of a kernel.
struct wishes {
    struct pass *p;
    struct VEC(struct wish) all;
};

// Return the bytes that a store moves at a time.
static long long bytes_of(const struct ir_stmt *s)
{
    return (long long)type_bytes(s->u.store.value->type);
}

// Return whether accesses of so many bytes are those that instructions with
// hints, and asynchronous copies, have.
static bool is_width(long long bytes)
{
    return bytes == 4 || bytes == 8 || bytes == 16;
}

// Note what became of what a directive asks of a store.
static void note(struct wishes *w, const struct ir_stmt *s, struct span by,
                 bool is_hint, bool is_done)
{
    struct wish *wish = NULL;
    if (!by.source)
        return;
    for (size_t i = 0; i < w->all.n && !wish; i++)
        if (same_span(w->all.at[i].by, by) && w->all.at[i].is_hint == is_hint &&
            strcmp(w->all.at[i].store->u.store.buffer->name,
                   s->u.store.buffer->name) == 0)
            wish = &w->all.at[i];
    if (!wish) {
        struct wish new = {.by = by, .store = s, .is_hint = is_hint};
        vec_push(w->p->scratch, &w->all, new);
        wish = &w->all.at[w->all.n - 1];
    }
    wish->is_done |= is_done;
}

// Return why a store is not asynchronous.
static const char *why_now(struct pass *p, const struct ir_stmt *s)
{
    const struct ir_buffer *to = s->u.store.buffer;
    if (to->space != SPACE_shared)
        return arena_printf(p->scratch, "it is in %s memory",
                            space_name(to->space));
    if (!ir_block_reads(&p->kernel->body, to))
        return "nothing reads it";
    if (!copies_source(s))
        return "it is no copy of an element";
    if (!is_width(bytes_of(s)))
        return arena_printf(p->scratch, "it is copied by %lld bytes",
                            bytes_of(s));
    return "several threads make the same copy";
}

// Report a copy to an array whose mbarriers count copies by cp.async alone.
static void refuse_ordered(struct pass *p, const struct ir_stmt *s)
{
    diag_error(p->diags, s->u.store.copied, D_role_copy,
               s->u.store.buffer->name, why_now(p, s));
}

bool dropped_copies(struct pass *p)
{
    struct wishes w = {.p = p};
    ir_foreach_stmt(s, &p->kernel->body) {
        const struct ir_stmt *once = ir_at_once(p->scratch, s);
        if (once->kind != STMT_store)
            continue;
        if (once == s && s->u.store.copied.source &&
            s->u.store.buffer->is_ordered) {
            refuse_ordered(p, s);
            return false;
        }
        note(&w, once, once->u.store.copied, false, once != s);
        note(&w, once, once->u.store.hinted, true, is_width(bytes_of(once)));
    }
    vec_foreach(wish, &w.all) {
        const char *name = wish->store->u.store.buffer->name;
        if (wish->is_done)
            continue;
        if (wish->is_hint)
            warn(p, wish->by, D_hint_dropped, name,
                 arena_printf(p->scratch, "it is copied by %lld bytes",
                              bytes_of(wish->store)));
        else
            warn(p, wish->by, D_async_dropped, name, why_now(p, wish->store));
    }
    return true;
}
