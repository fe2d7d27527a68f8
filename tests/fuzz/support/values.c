// What the compiler says that kernels compute, for fuzzers in Python.
//
//   fuzz_values < CASES > RESULTS
//
// CASES is a JSON list of objects: `text`, a file with one kernel `f`; `sizes`,
// the values of its scalars; `arrays`, the bytes of its arrays but results, in
// hexadecimal digits; `target`, an architecture.  RESULTS has one object a line:
// `refused`, an error and its code, or
//
//   definition   the evaluator of the loop language on the kernel as written
//   lowered      the same on the kernel under the default schedule
//   executor     what would become PTX, by tools/simt
//
// each with the bytes of the arrays that it wrote, or a `fault`.  A case with
// `ways` is a program of explicit loops: there is only `executor`, which runs it
// under every policy, with the bytes and `faults`, the names of what was found
// under any; `differs` where results do.  The line is there before the next case
// begins, so that a crash says whose it is.

#define _DEFAULT_SOURCE

#include "ir/base/buf.h"
#include "ir/eval.h"
#include "tools/libingot/compile.h"
#include "tools/simt/simt.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 32 };
static const uint64_t steps_most = 20 * 1000 * 1000;
static const uint64_t program_steps_most = 400 * 1000;
static const uint32_t residents[] = {1, 2, 4}; // blocks that run in turns
enum { RESIDENTS = sizeof residents / sizeof *residents };
static const int64_t bytes_most = 1 << 22;

// A case under way.
struct subject {
    const json_t *given;
    uint64_t number;
    struct compilation c;
    const struct nvptx_target *target;
    struct eval_argument args[ARGUMENTS];
};

// ---- Bytes ----------------------------------------------------------------

// Return the value of a hexadecimal digit.
static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

// Fill n bytes from digits; false if there are not as many.
static bool read_bytes(const char *digits, unsigned char *to, size_t n)
{
    if (!digits || strlen(digits) != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++)
        to[i] = (unsigned char)(digit(digits[2 * i]) << 4 |
                                digit(digits[2 * i + 1]));
    return true;
}

// Append n bytes as digits.
static void print_bytes(const unsigned char *from, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%02x", from[i]);
}

// ---- Arguments ------------------------------------------------------------

// Give a scalar its value; false if the case has none.
static bool set_scalar(const struct subject *s, const struct ir_var *v,
                       struct eval_argument *out)
{
    const json_t *value =
        json_object_get(json_object_get(s->given, "sizes"), v->name);
    if (type_is_float(v->type))
        out->scalar.f = json_number_value(value);
    else
        out->scalar.i = json_integer_value(value);
    return value != NULL;
}

// Find the bytes of an array whose rows lie close; false if they are too many.
static bool count_bytes(const struct subject *s, const struct ir_kernel *kernel,
                        const struct ir_buffer *b, int64_t *bytes)
{
    *bytes = (int64_t)type_bytes(b->elem);
    for (uint32_t i = 0; i < b->rank; i++) {
        int64_t extent;
        if (!ir_eval_int(kernel, s->args, b->shape[i], &extent) || extent < 0)
            return false;
        *bytes *= extent;
        if (*bytes > bytes_most)
            return false;
    }
    return true;
}

// Give an array its bytes; results have 0xcd.
static bool set_array(const struct subject *s, const struct ir_kernel *kernel,
                      const struct ir_buffer *b, struct eval_argument *out)
{
    int64_t bytes;
    if (!count_bytes(s, kernel, b, &bytes))
        return false;
    out->size = (size_t)bytes;
    out->data = malloc(out->size + 1);
    if (!out->data)
        return false;
    memset(out->data, 0xcd, out->size);
    return b->role == ROLE_output ||
           read_bytes(json_string_value(json_object_get(
                          json_object_get(s->given, "arrays"), b->name)),
                      out->data, out->size);
}

// Release the arrays.
static void clear(struct subject *s)
{
    for (size_t i = 0; i < ARGUMENTS; i++) {
        free(s->args[i].data);
        s->args[i].data = NULL;
    }
}

// Make the arguments of a kernel; false if the case does not fit it.
static bool prepare(struct subject *s, const struct ir_kernel *kernel)
{
    bool fits = kernel->params.n <= ARGUMENTS;
    clear(s);
    for (size_t i = 0; fits && i < kernel->params.n; i++) {
        const struct ir_var *v = kernel->params.at[i].var;
        fits = !v || set_scalar(s, v, &s->args[i]);
    }
    for (size_t i = 0; fits && i < kernel->params.n; i++) {
        const struct ir_buffer *b = kernel->params.at[i].buffer;
        fits = !b || set_array(s, kernel, b, &s->args[i]);
    }
    return fits;
}

// ---- Results --------------------------------------------------------------

// Append `"NAME": {` and the arrays that a kernel has written.
static void print_results(const struct subject *s,
                          const struct ir_kernel *kernel, struct buf *out)
{
    const char *comma = "";
    for (size_t i = 0; i < kernel->params.n; i++) {
        const struct ir_buffer *b = kernel->params.at[i].buffer;
        if (!b || b->role == ROLE_input)
            continue;
        buf_printf(out, "%s\"%s\": \"", comma, b->name);
        print_bytes(s->args[i].data, s->args[i].size, out);
        buf_text(out, "\"");
        comma = ", ";
    }
}

// Append a member that is a text.
static void print_text(const char *name, const char *text, struct buf *out)
{
    json_t *value = json_string(text);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    buf_printf(out, "\"%s\": %s", name, quoted ? quoted : "\"?\"");
    free(quoted);
    json_decref(value);
}

// Append what the evaluator makes of a kernel.
static void evaluate(struct subject *s, const struct ir_kernel *kernel,
                     struct buf *out)
{
    if (!prepare(s, kernel)) {
        print_text("fault", "the arguments do not fit", out);
        return;
    }
    struct eval_result r = ir_eval(&s->c.scratch, kernel, s->args, steps_most);
    if (r.status == EVAL_DONE)
        print_results(s, kernel, out);
    else
        print_text("fault", r.text ? r.text : "too many steps", out);
    arena_reset(&s->c.scratch);
}

// Return the first finding that is an error, or NULL.
static const struct simt_finding *first_error(const struct simt_result *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (simt_fault_severity(r->findings[i].fault) == SIMT_ERROR)
            return &r->findings[i];
    }
    return NULL;
}

// Append what the executor makes of a kernel.
static void execute(struct subject *s, const struct ir_kernel *kernel,
                    struct buf *out)
{
    struct simt_options options = {
        .target = s->target, .opt_level = 2, .is_brief = true};
    struct simt_run how = {.policy =
                               (enum simt_policy)(s->number % SIMT_POLICIES),
                           .seed = s->number,
                           .most_steps = steps_most};
    struct simt_result result = {0};
    struct simt_code *code =
        simt_compile(&s->c.arena, kernel, &options, &s->c.diags);
    bool ran = code && prepare(s, kernel) &&
               simt_run(code, s->args, &how, &result, &s->c.diags);
    const struct simt_finding *found = first_error(&result);
    if (!ran)
        print_text("fault",
                   s->c.diags.all.n ? s->c.diags.all.at[0].text : "not run",
                   out);
    else if (found)
        print_text("fault", simt_fault_text(found->fault), out);
    else
        print_results(s, kernel, out);
    simt_free(code);
}

// Append the names of the errors of a run that are not there yet, each with a
// comma behind it.
static void add_names(const struct simt_result *r, struct buf *names)
{
    for (size_t i = 0; i < r->n; i++) {
        const char *name = simt_fault_name(r->findings[i].fault);
        if (simt_fault_severity(r->findings[i].fault) == SIMT_ERROR &&
            !(names->n && strstr(names->data, name)))
            buf_printf(names, "\"%s\",", name);
    }
}

// Run code under a policy; its results go to `bytes`.
static void run_policy(struct subject *s, struct simt_code *code,
                       const struct ir_kernel *kernel, enum simt_policy policy,
                       struct buf *bytes, struct buf *names)
{
    struct simt_run how = {.policy = policy,
                           .seed = s->number,
                           .most_steps = program_steps_most,
                           .resident =
                               residents[(s->number + policy) % RESIDENTS]};
    struct simt_result result = {0};
    if (prepare(s, kernel) &&
        simt_run(code, s->args, &how, &result, &s->c.diags))
        add_names(&result, names);
    else
        buf_text(names, "\"not run\",");
    print_results(s, kernel, bytes);
}

// Append what the executor finds in a program.
static void search(struct subject *s, const struct ir_kernel *kernel,
                   struct buf *out)
{
    struct simt_options options = {
        .target = s->target, .opt_level = 2, .is_brief = true};
    struct buf names = {0}, first = {0};
    struct simt_code *code =
        simt_compile(&s->c.arena, kernel, &options, &s->c.diags);
    if (!code)
        buf_text(&names, "\"not compiled\",");
    for (int i = 0; code && i < SIMT_POLICIES; i++) {
        struct buf bytes = {0};
        run_policy(s, code, kernel, (enum simt_policy)i, &bytes, &names);
        if (first.n && strcmp(first.data, bytes.data) != 0 && names.n == 0)
            buf_text(&names, "\"differs\",");
        if (first.n == 0)
            buf_bytes(&first, bytes.data, bytes.n);
        buf_free(&bytes);
    }
    buf_printf(out, "\"faults\": [%.*s]", names.n ? (int)names.n - 1 : 0,
               names.n ? names.data : "");
    if (first.n)
        buf_printf(out, ", %s", first.data);
    simt_free(code);
    buf_free(&names);
    buf_free(&first);
}

// ---- Cases ----------------------------------------------------------------

// Return whether a variant's guard holds.
static bool is_taken(const struct subject *s, const struct ir_kernel *kernel)
{
    int64_t value = 1;
    for (size_t i = 0; i < kernel->guard.n && value; i++) {
        if (!ir_eval_int(kernel, s->args, kernel->guard.at[i], &value))
            return false;
    }
    return value != 0;
}

// Return the variant that a launch would take, or NULL.
static const struct ir_kernel *choose(struct subject *s)
{
    for (size_t i = 0; i < s->c.variants.n; i++) {
        const struct ir_kernel *kernel = s->c.variants.at[i].kernel;
        if (prepare(s, kernel) && is_taken(s, kernel))
            return kernel;
    }
    return NULL;
}

// Append what is refused, and why.
static void refuse(const struct subject *s, struct buf *out)
{
    const struct diag *first = s->c.diags.all.n ? &s->c.diags.all.at[0] : NULL;
    struct buf text = {0};
    buf_printf(&text, "%s: %s", first ? diag_code_text(first->code) : "?",
               first ? first->text : "no error, and no variant for the sizes");
    print_text("refused", text.data, out);
    buf_free(&text);
}

// Append the object of a case.
static void run(struct subject *s, struct buf *out)
{
    const char *text = json_string_value(json_object_get(s->given, "text"));
    const char *target = json_string_value(json_object_get(s->given, "target"));
    s->target = nvptx_target_find(target ? target : "sm_80", &s->c.diags);
    struct compile_options o = {.targets = &s->target,
                                .n_targets = 1,
                                .opt_level = 2,
                                .passes.checked = INGOT_CHECKED};
    const struct ir_kernel *lowered = NULL;
    if (text && s->target &&
        compile_add(&s->c, "case.ing", text, strlen(text)) &&
        compile_lower(&s->c, &o))
        lowered = choose(s);
    buf_text(out, "{");
    if (!lowered) {
        refuse(s, out);
    } else if (json_object_get(s->given, "ways")) {
        buf_text(out, "\"executor\": {");
        search(s, lowered, out);
        buf_text(out, "}");
    } else {
        buf_text(out, "\"definition\": {");
        evaluate(s, s->c.program.kernels.at[0], out);
        buf_text(out, "}, \"lowered\": {");
        evaluate(s, lowered, out);
        buf_text(out, "}, \"executor\": {");
        execute(s, lowered, out);
        buf_text(out, "}");
    }
    buf_text(out, "}\n");
}

int main(void)
{
    json_error_t error;
    json_t *cases = json_loadf(stdin, 0, &error);
    if (!json_is_array(cases)) {
        fprintf(stderr, "fuzz_values: no list of cases: %s\n", error.text);
        return 2;
    }
    for (size_t i = 0; i < json_array_size(cases); i++) {
        struct subject s = {.given = json_array_get(cases, i), .number = i};
        struct buf out = {0};
        compile_start(&s.c);
        run(&s, &out);
        clear(&s);
        compile_end(&s.c);
        fwrite(out.data, 1, out.n, stdout);
        fflush(stdout);
        buf_free(&out);
    }
    json_decref(cases);
    return 0;
}
