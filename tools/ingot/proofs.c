// What was proved of a kernel for all sizes.

#include "tools/ingot/proofs.h"

#include "tools/ingot/json.h"
#include "tools/ingot/place.h"

#include <stdlib.h>
#include <string.h>

struct rows VEC(struct proof_item);

void proofs_count(const struct proof *proof,
                  struct proof_share out[CLAIM_COUNT])
{
    for (size_t i = 0; proof && i < proof->items.n; i++) {
        const struct proof_item *item = &proof->items.at[i];
        struct proof_share *s = &out[item->claim];
        s->all += item->times;
        s->proved += item->verdict == PROOF_PROVED ? item->times : 0;
    }
}

void proofs_print_shares(const struct proof_share shares[CLAIM_COUNT],
                         const char *head, struct buf *out)
{
    const char *separator = head;
    for (int i = 0; i < CLAIM_COUNT; i++) {
        if (!shares[i].all)
            continue;
        buf_printf(out, "%s%s %zu of %zu", separator,
                   proof_claim_name((enum proof_claim)i), shares[i].proved,
                   shares[i].all);
        separator = ", ";
    }
    buf_text(out, separator == head ? "" : "\n");
}

// ---- Rows -----------------------------------------------------------------

// Order rows: by place, then by all else; 0 if they are alike.
static int compare(const void *left, const void *right)
{
    const struct proof_item *x = left, *y = right;
    const int order[] = {
        place_compare(x->span, y->span),
        strcmp(x->buffer->name, y->buffer->name),
        x->writes - y->writes,
        (int)x->claim - (int)y->claim,
        (int)x->verdict - (int)y->verdict,
        (int)x->reason - (int)y->reason,
        place_compare(x->other, y->other),
    };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (order[i])
            return order[i];
    }
    return 0;
}

// Return the rows of a proof.
static struct rows rows_of(struct arena *a, const struct proof *proof)
{
    struct rows sorted = {0}, out = {0};
    vec_append(a, &sorted, &proof->items);
    if (sorted.n)
        qsort(sorted.at, sorted.n, sizeof *sorted.at, compare);
    for (size_t i = 0; i < sorted.n; i++) {
        struct proof_item *last = out.n ? &out.at[out.n - 1] : NULL;
        if (last && compare(last, &sorted.at[i]) == 0)
            last->times += sorted.at[i].times;
        else
            vec_push(a, &out, sorted.at[i]);
    }
    return out;
}

// Append why a claim is not proved, with what may show it.
static void print_reason(struct arena *a, const struct proof_item *item,
                         struct buf *out)
{
    if (item->verdict == PROOF_PROVED)
        return;
    buf_printf(out, "  %s", proof_reason_text(item->reason));
    if (item->other.source)
        buf_printf(out, "; the other: %s", place_text(a, item->other));
    for (size_t i = 0; i < item->sizes.n; i++)
        buf_printf(out, "%s%s=%lld", i ? "," : "; ",
                   item->sizes.at[i].var->name,
                   (long long)item->sizes.at[i].value);
}

void proofs_print(struct arena *a, const struct proof *proof, struct buf *out)
{
    struct rows rows = rows_of(a, proof);
    for (size_t i = 0; i < rows.n; i++) {
        const struct proof_item *item = &rows.at[i];
        buf_printf(out, "  %-28s  %-16s  %-5s  %-10s  %5u  %-7s",
                   place_text(a, item->span), item->buffer->name,
                   item->writes ? "write" : "read",
                   proof_claim_name(item->claim), item->times,
                   proof_verdict_name(item->verdict));
        print_reason(a, item, out);
        buf_text(out, "\n");
    }
}

// ---- JSON -----------------------------------------------------------------

// Return a row.
static json_t *row_json(const struct proof_item *item)
{
    json_t *object = json_object(), *sizes = json_object();
    json_object_set_new(object, "claim",
                        json_text(proof_claim_name(item->claim)));
    json_object_set_new(object, "verdict",
                        json_text(proof_verdict_name(item->verdict)));
    json_set_place(object, item->span);
    json_object_set_new(object, "array", json_text(item->buffer->name));
    json_object_set_new(object, "access",
                        json_text(item->writes ? "write" : "read"));
    json_object_set_new(object, "times", json_integer(item->times));
    if (item->verdict != PROOF_PROVED)
        json_object_set_new(object, "reason",
                            json_text(proof_reason_text(item->reason)));
    for (size_t i = 0; i < item->sizes.n; i++)
        json_object_set_new(sizes, item->sizes.at[i].var->name,
                            json_integer(item->sizes.at[i].value));
    if (item->sizes.n)
        json_object_set(object, "sizes", sizes);
    json_decref(sizes);
    return object;
}

json_t *proofs_json(struct arena *a, const struct proof *proof, bool has_all)
{
    json_t *object = json_object(), *list = json_array();
    json_t *shares = json_object();
    struct proof_share counted[CLAIM_COUNT] = {{0, 0}};
    proofs_count(proof, counted);
    for (int i = 0; i < CLAIM_COUNT; i++) {
        if (counted[i].all)
            json_object_set_new(shares, proof_claim_name((enum proof_claim)i),
                                json_pack("{s:I, s:I}", "all",
                                          (json_int_t)counted[i].all, "proved",
                                          (json_int_t)counted[i].proved));
    }
    struct rows rows = rows_of(a, proof);
    for (size_t i = 0; i < rows.n; i++) {
        if (has_all || rows.at[i].verdict != PROOF_PROVED)
            json_array_append_new(list, row_json(&rows.at[i]));
    }
    json_object_set_new(object, "shares", shares);
    json_object_set_new(object, "questions",
                        json_integer((json_int_t)proof->questions));
    json_object_set_new(object, "claims", list);
    return object;
}
