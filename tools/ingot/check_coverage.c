// The coverage of a variant: what ran, as the executor counts it, merged over all
// runs; as a line of text, as JSON, and as warnings of what was not checked.

#include "tools/ingot/check.h"

#include <string.h>

enum { UNREACHED_TOLD = 4 }; // places of a variant

// ---- In the child ---------------------------------------------------------

// Return a text of the points that were copied before, or a copy.
static const char *share_file(struct check_shared *s, const char *file)
{
    for (size_t i = 0; file && i < s->n_points; i++) {
        const struct simt_point *p = &s->points[i];
        if (p->place.file && strcmp(p->place.file, file) == 0)
            return p->place.file;
        if (p->schedule.file && strcmp(p->schedule.file, file) == 0)
            return p->schedule.file;
    }
    return check_share_text(s, file);
}

// Copy the points of the code, without their counts.
static void share_points(struct check_shared *s,
                         struct simt_point *const *points, size_t n)
{
    for (size_t i = 0; i < n && i < CHECK_POINTS; i++) {
        struct simt_point p = *points[i];
        p.count = p.most = 0;
        p.place.file = share_file(s, p.place.file);
        p.schedule.file = share_file(s, p.schedule.file);
        s->points[s->n_points++] = p;
    }
}

void check_cover(struct check_shared *s, const struct simt_code *code)
{
    struct simt_point *const *points;
    size_t n = simt_points(code, &points);
    if (!s->n_points)
        share_points(s, points, n);
    for (size_t i = 0; i < s->n_points; i++) {
        s->points[i].count += points[i]->count;
        if (points[i]->most > s->points[i].most)
            s->points[i].most = points[i]->most;
        points[i]->count = 0;
    }
}

// ---- Sums -----------------------------------------------------------------

// Return whether two points do the same for the same place in the source.
static bool same_point(const struct simt_point *a, const struct simt_point *b)
{
    return a->kind == b->kind && a->bytes == b->bytes &&
           check_same_place(&a->place, &b->place) &&
           check_same_place(&a->schedule, &b->schedule);
}

struct place_list VEC(struct check_point);

// Return the points by what they are for: the compiler makes copies of a loop's
// body, of which some can never run.
static struct place_list list_places(struct arena *a,
                                     const struct check_shared *s)
{
    struct place_list list = {0};
    for (size_t i = 0; s && i < s->n_points; i++) {
        const struct simt_point *p = &s->points[i];
        size_t k = 0;
        while (k < list.n && !same_point(list.at[k].point, p))
            k++;
        if (k == list.n)
            vec_push(a, &list, ((struct check_point){.point = p}));
        list.at[k].all++;
        list.at[k].missed += !p->count;
    }
    return list;
}

// Return whether something that writes never ran, in none of its copies.
static bool is_unwritten(const struct check_point *p)
{
    return simt_point_writes(p->point->kind) && p->missed == p->all;
}

void check_add_coverage(struct arena *a, const struct check_variant *v,
                        struct check_coverage *out)
{
    const struct check_shared *s = v->shared;
    struct place_list places = list_places(a, s);
    for (size_t i = 0; s && i < s->n_points; i++) {
        const struct simt_point *p = &s->points[i];
        out->all[p->kind]++;
        out->reached[p->kind] += p->count > 0;
        if (p->most > out->most)
            out->most = p->most;
    }
    for (size_t i = 0; i < places.n; i++)
        out->unwritten += is_unwritten(&places.at[i]);
    out->blocks += s ? s->blocks : 0;
    out->pairs += s ? s->pairs : 0;
    out->left_out += s ? s->left_out : 0;
}

// ---- Text -----------------------------------------------------------------

// Append "5 of 6 stores".
static void print_kind(const struct check_coverage *c,
                       enum simt_point_kind kind, struct buf *out)
{
    if (c->all[kind])
        buf_printf(out, ", %zu of %zu %s", c->reached[kind], c->all[kind],
                   simt_point_name(kind));
}

void check_print_coverage(const struct check_coverage *c, struct buf *out)
{
    size_t ways = c->all[SIMT_POINT_taken] + c->all[SIMT_POINT_passed];
    buf_printf(out, "  ran: %llu block%s", (unsigned long long)c->blocks,
               c->blocks == 1 ? "" : "s");
    if (c->pairs)
        buf_printf(out, ", %llu pairs of them on common elements",
                   (unsigned long long)c->pairs);
    for (int kind = 0; kind < SIMT_POINT_taken; kind++)
        print_kind(c, (enum simt_point_kind)kind, out);
    if (ways)
        buf_printf(out, ", %zu of %zu ways of branches",
                   c->reached[SIMT_POINT_taken] + c->reached[SIMT_POINT_passed],
                   ways);
    if (c->most)
        buf_printf(out, ", loops up to %llu times",
                   (unsigned long long)c->most);
    if (c->left_out)
        buf_printf(out, "; %llu runs left out after so many steps",
                   (unsigned long long)c->left_out);
    buf_text(out, "\n");
}

// ---- Diagnostics ----------------------------------------------------------

bool check_tell_unreached(struct check *check, const struct check_variant *v)
{
    struct arena *a = &check->c->arena;
    struct diag_list *diags = &check->c->diags;
    const struct ir_kernel *k = v->variant->source;
    struct check_coverage c = {0};
    check_add_coverage(a, v, &c);
    if (!c.unwritten)
        return false;
    struct place_list list = list_places(a, v->shared);
    size_t told = 0;
    (check->request->is_strict ? diag_error : diag_warning)(
        diags, k->span, D_check_unreached, check_name(v->variant), k->name,
        (long long)c.unwritten);
    for (size_t i = 0; i < list.n && told < UNREACHED_TOLD; i++) {
        const struct simt_point *p = list.at[i].point;
        if (!is_unwritten(&list.at[i]))
            continue;
        diag_note(diags, check_span(check->c, &p->place), "this %s never ran",
                  simt_point_one(p->kind));
        told++;
    }
    return check->request->is_strict;
}

// ---- JSON -----------------------------------------------------------------

// Return the counts of a kind.
static json_t *counts_json(size_t all, size_t reached)
{
    return json_pack("{s:I, s:I}", "all", (json_int_t)all, "reached",
                     (json_int_t)reached);
}

// Return one place that was not reached.
static json_t *unreached_json(const struct check_point *u)
{
    json_t *object = json_object();
    const char *way = u->point->kind == SIMT_POINT_taken    ? "true"
                      : u->point->kind == SIMT_POINT_passed ? "false"
                                                            : NULL;
    json_object_set_new(object, "kind",
                        json_text(simt_point_one(u->point->kind)));
    if (way)
        json_object_set_new(object, "way", json_text(way));
    check_set_place(object, &u->point->place);
    check_set_schedule(object, &u->point->schedule);
    json_object_set_new(object, "copies", json_integer((json_int_t)u->all));
    json_object_set_new(object, "missed", json_integer((json_int_t)u->missed));
    return object;
}

json_t *check_coverage_json(struct arena *a, const struct check_variant *v)
{
    struct check_coverage c = {0};
    json_t *object = json_object(), *unreached = json_array();
    check_add_coverage(a, v, &c);
    for (int kind = 0; kind < SIMT_POINT_taken; kind++)
        json_object_set_new(object, simt_point_name((enum simt_point_kind)kind),
                            counts_json(c.all[kind], c.reached[kind]));
    json_object_set_new(
        object, "branches",
        counts_json(c.all[SIMT_POINT_taken] + c.all[SIMT_POINT_passed],
                    c.reached[SIMT_POINT_taken] +
                        c.reached[SIMT_POINT_passed]));
    json_object_set_new(object, "most_iterations",
                        json_integer((json_int_t)c.most));
    json_object_set_new(object, "left_out",
                        json_integer((json_int_t)c.left_out));
    json_object_set_new(object, "pairs", json_integer((json_int_t)c.pairs));
    struct place_list list = list_places(a, v->shared);
    for (size_t i = 0; i < list.n; i++)
        if (list.at[i].missed)
            json_array_append_new(unreached, unreached_json(&list.at[i]));
    json_object_set_new(object, "unreached", unreached);
    return object;
}
