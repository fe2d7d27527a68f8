// Puts the parts together, and the data into the page.

#include "tools/report/report.h"

#include "tools/ingot/accesses.h"
#include "tools/ingot/schedule_text.h"
#include "tools/ingot/work.h"
#include "tools/libingot/library.h"

#include "ir/text.h"

#include <stdlib.h>

// In the page, where the data go.
static const char hole[] = "@DATA@";

// ---- The device and the work ----------------------------------------------

// Return a device with its rates in GFLOP/s and GB/s.
static json_t *device_json(const struct model_device *d)
{
    static const char *const matrices[] = {"f16 matrix", "tf32 matrix",
                                           "byte matrix", "f64 matrix"};
    json_t *peaks = json_object(), *object = json_object();
    double clocks = 2 * d->clock * d->sms;
    json_set_real(peaks, "f32", clocks * d->fma);
    json_set_real(peaks, "f64", clocks * d->f64);
    for (int i = 0; i < MODEL_MATRICES; i++)
        if (d->matrix[i] > 1)
            json_set_real(peaks, matrices[i], clocks * d->matrix[i]);
    json_object_set_new(object, "name", json_text(d->name));
    json_object_set_new(object, "sms", json_integer(d->sms));
    json_object_set_new(object, "threads", json_integer(d->threads));
    json_object_set_new(object, "shared_kib", json_integer(d->shared));
    json_set_real(object, "clock_ghz", d->clock);
    json_set_real(object, "dram", d->dram);
    json_set_real(object, "l2", d->l2);
    json_object_set_new(object, "peaks", peaks);
    return object;
}

// Return what the definition computes, and the bytes of its arrays.
static json_t *work_json(const struct problem *p)
{
    struct work work = work_count(p->kernel, p->values);
    double bytes = 0;
    json_t *object = json_object();
    vec_foreach(array, &p->arrays)
        bytes += (double)array->bytes;
    json_set_real(object, "operations", work.operations);
    json_set_real(object, "bytes", bytes);
    json_object_set_new(object, "estimate", json_boolean(work.is_estimate));
    return object;
}

// Return what each limit is.
static json_t *limits_json(void)
{
    json_t *object = json_object();
    for (int i = 0; i < MODEL_LIMITS; i++)
        json_object_set_new(
            object, model_limit_name((enum model_limit)i),
            json_text(model_limit_meaning((enum model_limit)i)));
    return object;
}

// ---- The variant ----------------------------------------------------------

// Return the schedule of the variant, as a text of its own.
static json_t *schedule_json(struct report *r)
{
    struct buf text = {0};
    schedule_text_print(r->c, r->taken->variant, &text);
    json_t *out = json_text(text.n ? text.data : "");
    buf_free(&text);
    return out;
}

// Return a kernel as text.
static json_t *kernel_json(const struct ir_kernel *kernel)
{
    struct buf text = {0};
    ir_print_kernel(&text, kernel);
    json_t *out = json_text(text.n ? text.data : "");
    buf_free(&text);
    return out;
}

// Return the costs of the variant's accesses at these sizes.
static json_t *costs_json(struct report *r)
{
    const struct ir_kernel *k = r->taken->variant->kernel;
    int64_t *sizes = arena_array(&r->c->arena, int64_t, k->params.n + 1);
    for (size_t i = 0; i < k->params.n; i++) {
        const struct ir_var *var = k->params.at[i].var;
        bool is_size = var && type_is_index(var->type);
        sizes[i] = is_size ? r->problem->values[i].scalar.i : -1;
    }
    return accesses_json(&r->c->arena, k, sizes);
}

json_t *report_json(struct report *r)
{
    json_t *root = json_object();
    const struct ir_kernel *kernel = r->problem->kernel;
    json_object_set_new(root, "kernel", json_text(kernel->name));
    json_object_set_new(root, "version", json_text(INGOT_VERSION));
    json_object_set_new(root, "arch", json_text(r->options->targets[0]->name));
    json_object_set_new(root, "defined", report_place(r, kernel->span));
    json_object_set_new(root, "device", device_json(r->device));
    json_object_set_new(root, "work", work_json(r->problem));
    json_object_set_new(root, "limits", limits_json());
    json_object_set_new(
        root, "plan",
        candidates_json(&r->c->arena, r->problem, r->device, r->rows));
    json_object_set_new(root, "schedule", schedule_json(r));
    json_object_set_new(root, "program",
                        kernel_json(r->taken->variant->scheduled));
    json_object_set_new(root, "nest", report_nest(r));
    json_object_set_new(root, "accesses", costs_json(r));
    json_object_set_new(root, "pictures", report_pictures(r));
    json_object_set_new(root, "tuning", report_tuning(r));
    json_object_set_new(root, "profile", report_profile(r));
    if (!report_machine(r, root)) {
        json_decref(root);
        return NULL;
    }
    json_object_set_new(root, "texts", report_texts(r));
    return root;
}

// ---- The page -------------------------------------------------------------

// Append JSON that no text in it ends as a part of the page.
static void append_data(const json_t *data, struct buf *out)
{
    char *text = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(6));
    for (const char *at = text; at && *at;) {
        size_t n = strcspn(at, "<");
        buf_bytes(out, at, n);
        at += n;
        if (*at) {
            buf_text(out, "\\u003c");
            at++;
        }
    }
    free(text);
}

void report_page(const json_t *data, struct buf *out)
{
    const char *page = report_files[0].text, *at = strstr(page, hole);
    buf_bytes(out, page, (size_t)(at - page));
    append_data(data, out);
    buf_text(out, at + strlen(hole));
}
