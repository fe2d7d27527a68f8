// Reading and running inline PTX that works on matrices.

#include "tools/simt/ptx.h"

#include "tools/simt/async.h"
#include "tools/simt/intrinsics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 96, NAMES_MOST = 16, WORD_BYTES = 4 };

// ---- Steps ----------------------------------------------------------------

// setp.ne.b32 p, a, b
static void step_differ(struct machine *m, const struct site *s,
                        const struct ptx_step *step, uint64_t *v)
{
    (void)m, (void)s;
    const struct ptx_argument *a = step->argument;
    v[*a[0].slot] = (uint32_t)v[*a[1].slot] != (uint32_t)v[*a[2].slot];
}

// add.s64 d, a, b
static void step_add(struct machine *m, const struct site *s,
                     const struct ptx_step *step, uint64_t *v)
{
    (void)m, (void)s;
    const struct ptx_argument *a = step->argument;
    v[*a[0].slot] = v[*a[1].slot] + v[*a[2].slot];
}

// wgmma.fence
static void step_fence(struct machine *m, const struct site *s,
                       const struct ptx_step *step, uint64_t *v)
{
    (void)step, (void)v;
    product_fence(m, s, NULL);
}

// wgmma.commit_group
static void step_commit(struct machine *m, const struct site *s,
                        const struct ptx_step *step, uint64_t *v)
{
    (void)step, (void)v;
    product_commit(m, s, NULL);
}

// wgmma.wait_group n
static void step_wait(struct machine *m, const struct site *s,
                      const struct ptx_step *step, uint64_t *v)
{
    product_wait(m, s, &v[*step->argument[0].slot]);
}

// createpolicy p
static void step_policy(struct machine *m, const struct site *s,
                        const struct ptx_step *step, uint64_t *v)
{
    (void)m, (void)s;
    v[*step->argument[0].slot] = 0;
}

// ld {d, ...}, [p], policy
static void step_load(struct machine *m, const struct site *s,
                      const struct ptx_step *step, uint64_t *v)
{
    const struct ptx_argument *d = &step->argument[0];
    uint32_t bytes = d->n * WORD_BYTES;
    const unsigned char *p = pointer_of(v[*step->argument[1].slot]);
    p = access_now(m, (void *)(uintptr_t)p, bytes, ACCESS_READ, s);
    for (uint32_t i = 0; p && i < d->n; i++) {
        v[d->slot[i]] = 0;
        memcpy(&v[d->slot[i]], p + i * WORD_BYTES, WORD_BYTES);
    }
}

// st [p], {a, ...}, policy
static void step_store(struct machine *m, const struct site *s,
                       const struct ptx_step *step, uint64_t *v)
{
    const struct ptx_argument *a = &step->argument[1];
    uint32_t bytes = a->n * WORD_BYTES;
    unsigned char *p = pointer_of(v[*step->argument[0].slot]);
    p = access_now(m, p, bytes, ACCESS_WRITE, s);
    for (uint32_t i = 0; p && i < a->n; i++)
        memcpy(p + i * WORD_BYTES, &v[a->slot[i]], WORD_BYTES);
}

// cp.async [to], [from], bytes, read, policy
static void step_copy(struct machine *m, const struct site *s,
                      const struct ptx_step *step, uint64_t *v)
{
    const struct ptx_argument *a = step->argument;
    uint64_t operands[] = {v[*a[0].slot], v[*a[1].slot], v[*a[3].slot]};
    async_copy_part(m, s, operands);
}

// What is not in ir/matrix.def.
static const struct {
    const char *name;
    void (*run)(struct machine *m, const struct site *s,
                const struct ptx_step *step, uint64_t *v);
    uint32_t arguments;
    bool has_products;
} others[] = {
    {"setp.ne.b32", step_differ, 3, false},
    {"add.s64", step_add, 3, false},
    {"createpolicy.fractional.L2::evict_first.b64", step_policy, 1, false},
    {"createpolicy.fractional.L2::evict_last.b64", step_policy, 1, false},
    {"ld.global.L2::cache_hint.b32", step_load, 3, false},
    {"ld.global.L2::cache_hint.v2.b32", step_load, 3, false},
    {"ld.global.L2::cache_hint.v4.b32", step_load, 3, false},
    {"st.global.L2::cache_hint.b32", step_store, 3, false},
    {"st.global.L2::cache_hint.v2.b32", step_store, 3, false},
    {"st.global.L2::cache_hint.v4.b32", step_store, 3, false},
    {"cp.async.ca.shared.global.L2::cache_hint", step_copy, 5, false},
    {"cp.async.cg.shared.global.L2::cache_hint", step_copy, 5, false},
    {"wgmma.fence.sync.aligned", step_fence, 0, true},
    {"wgmma.commit_group.sync.aligned", step_commit, 0, true},
    {"wgmma.wait_group.sync.aligned", step_wait, 1, true},
};

// ---- Reading --------------------------------------------------------------

// What reads a text.
struct reader_of_ptx {
    struct arena *arena;
    struct ptx_program *program;
    const char *at;
    char names[NAMES_MOST][NAME_MOST]; // of its registers
    uint16_t slots[NAMES_MOST];
    uint32_t n_names;
};

// Step over white space and newlines.
static void skip_space(struct reader_of_ptx *r)
{
    r->at += strspn(r->at, " \t\n\r");
}

// Take a character if it comes next.
static bool take(struct reader_of_ptx *r, char c)
{
    skip_space(r);
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

// Take a word into `out`; returns its length, 0 if none comes next.
static size_t take_word(struct reader_of_ptx *r, char *out)
{
    skip_space(r);
    size_t n = 0;
    while (isalnum((unsigned char)r->at[n]) || strchr("._:%", r->at[n]))
        if (!r->at[n] || ++n == NAME_MOST)
            break;
    if (n == NAME_MOST)
        return 0;
    memcpy(out, r->at, n);
    out[n] = 0;
    r->at += n;
    return n;
}

// Return a new slot that holds a constant at first, or -1.
static int add_slot(struct ptx_program *p, uint64_t value)
{
    uint32_t n = p->slots - p->operands;
    if (p->slots == OPERANDS_MOST - 2)
        return -1;
    p->constants[n] = value;
    return (int)p->slots++;
}

// Declare registers, ".reg .pred p, q;".
static bool read_registers(struct reader_of_ptx *r)
{
    char type[NAME_MOST];
    bool ok = take_word(r, type);
    do {
        int slot = add_slot(r->program, 0);
        ok = ok && slot >= 0 && r->n_names < NAMES_MOST &&
             take_word(r, r->names[r->n_names]);
        if (ok)
            r->slots[r->n_names++] = (uint16_t)slot;
    } while (ok && take(r, ','));
    return ok && take(r, ';');
}

// Read an operand: "$4", a number or a register.  Returns its slot, or -1.
static int read_slot(struct reader_of_ptx *r)
{
    char word[NAME_MOST];
    char *end;
    if (take(r, '$')) {
        unsigned long i = strtoul(r->at, &end, 10);
        bool ok = end != r->at && i < r->program->operands;
        r->at = end;
        return ok ? (int)i : -1;
    }
    skip_space(r);
    if (isdigit((unsigned char)*r->at) || *r->at == '-') {
        long long value = strtoll(r->at, &end, 0);
        r->at = end;
        return add_slot(r->program, (uint64_t)value);
    }
    if (!take_word(r, word))
        return -1;
    for (uint32_t i = 0; i < r->n_names; i++)
        if (strcmp(r->names[i], word) == 0)
            return r->slots[i];
    return -1;
}

// Read an argument.
static bool read_argument(struct reader_of_ptx *r, struct ptx_argument *out)
{
    uint16_t slots[OPERANDS_MOST];
    bool is_list = take(r, '{'), is_address = !is_list && take(r, '[');
    uint32_t n = 0;
    do {
        int slot = read_slot(r);
        if (slot < 0 || n == OPERANDS_MOST)
            return false;
        slots[n++] = (uint16_t)slot;
    } while (is_list && take(r, ','));
    uint16_t *copy = arena_array(r->arena, uint16_t, n);
    memcpy(copy, slots, n * sizeof *slots);
    *out = (struct ptx_argument){n, copy};
    return (!is_list || take(r, '}')) && (!is_address || take(r, ']'));
}

// Find out what a step does.
static bool find_step(struct reader_of_ptx *r, const char *name,
                      struct ptx_step *step)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].name, name) != 0)
            continue;
        step->run = others[i].run;
        if (step->run == step_copy && step->n > 2)
            r->program->copied =
                r->program
                    ->constants[*step->argument[2].slot - r->program->operands];
        r->program->has_products |= others[i].has_products;
        return step->n == others[i].arguments;
    }
    bool in_registers = step->n > 1 && step->argument[1].n > 1;
    bool is_found = matrix_find_ptx(name, in_registers, &step->matrix) ||
                    matrix_find_ptx(name, !in_registers, &step->matrix);
    step->run = ptx_matrix;
    r->program->has_products |= strncmp(name, "wgmma", 5) == 0;
    return is_found;
}

// Read a statement.
static bool read_step(struct reader_of_ptx *r)
{
    char name[NAME_MOST];
    struct ptx_step step = {.n = 0};
    if (!take_word(r, name))
        return false;
    if (strcmp(name, ".reg") == 0)
        return read_registers(r);
    while (!take(r, ';')) {
        if (step.n == PTX_ARGUMENTS_MOST || (step.n && !take(r, ',')) ||
            !read_argument(r, &step.argument[step.n++]))
            return false;
    }
    if (!find_step(r, name, &step))
        return false;
    vec_push(r->arena, &r->program->steps, step);
    return true;
}

// Read the constraints "=f,=f,l,0,1,~{memory}".
static bool read_constraints(struct ptx_program *p, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, ",");
        if (*text != '~') {
            if (p->operands == OPERANDS_MOST)
                return false;
            p->results += *text == '=';
            p->ties[p->operands++] = isdigit((unsigned char)*text)
                                         ? (uint32_t)strtoul(text, NULL, 10)
                                         : OPERANDS_MOST;
        }
        text += n + (text[n] != 0);
    }
    p->slots = p->operands;
    return true;
}

struct ptx_program *ptx_parse(struct arena *a, const char *text,
                              const char *constraints)
{
    struct reader_of_ptx r = {.arena = a, .at = text};
    r.program = arena_new(a, struct ptx_program);
    if (!read_constraints(r.program, constraints))
        return NULL;
    for (;;) {
        while (take(&r, '{') || take(&r, '}') || take(&r, ';'))
            continue;
        if (!*r.at)
            break;
        if (!read_step(&r))
            return NULL;
    }
    return r.program->steps.n || r.program->results ? r.program : NULL;
}

struct ptx_program *ptx_of_intrinsic(struct arena *a, const char *name,
                                     uint32_t operands)
{
    static const char head[] = "llvm.nvvm.", tail[] = ".b16.p3";
    size_t ends = strlen(head) + strlen(tail);
    size_t n = strlen(name);
    bool is_load = strstr(name, ".ldmatrix.");
    if ((!is_load && !strstr(name, ".stmatrix.")) || n < sizeof tail ||
        strcmp(name + n - strlen(tail), tail) != 0)
        return NULL;
    uint32_t count = (uint32_t)atoi(strstr(name, ".x") + 2);
    struct buf text = {0}, constraints = {0};
    buf_printf(&text, "%.*s.shared.b16 ", (int)(n - ends), name + strlen(head));
    buf_text(&text, is_load ? "{" : "[$0], {");
    for (uint32_t i = 0; i < count; i++)
        buf_printf(&text, "%s$%u", i ? "," : "", i + !is_load);
    buf_printf(&text, is_load ? "}, [$%u];" : "};", count);
    for (uint32_t i = 0; i < count && is_load; i++)
        buf_text(&constraints, "=r,");
    for (uint32_t i = 0; i < operands; i++)
        buf_printf(&constraints, "%sr", i ? "," : "");
    struct ptx_program *p = ptx_parse(a, text.data, constraints.data);
    buf_free(&text);
    buf_free(&constraints);
    return p;
}

// ---- Running --------------------------------------------------------------

void ptx_run(struct machine *m, const struct ptx_program *p,
             const struct site *s)
{
    uint64_t *v = values_of(m, m->current);
    memcpy(v, m->operands, p->operands * sizeof *v);
    for (uint32_t i = p->results; i < p->operands; i++)
        if (p->ties[i] != OPERANDS_MOST)
            v[p->ties[i]] = v[i];
    memcpy(v + p->operands, p->constants, (p->slots - p->operands) * sizeof *v);
    for (size_t i = 0; i < p->steps.n; i++)
        p->steps.at[i].run(m, s, &p->steps.at[i], v);
    memcpy(m->operands, v, p->results * sizeof *v);
}
