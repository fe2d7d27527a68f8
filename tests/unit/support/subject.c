// Random calls of primitives.

#include "subject.h"

#include "ir/build.h"
#include "ir/copy.h"
#include "ir/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

void subject_open(struct subject *s, const char *text)
{
    struct source *source = arena_new(&s->arena, struct source);
    *source = (struct source){"kernel", text, strlen(text)};
    s->names.arena = s->diags.arena = &s->arena;
    s->errors.arena = &s->work;
    s->random = 88172645463325252u;
    if (frontend_parse(&s->arena, &s->names, source, false, &s->diags,
                       &s->program))
        return;
    struct buf out = {0};
    diag_render(&s->diags, (struct diag_style){0}, &out);
    fail_msg("%s", out.data);
}

void subject_rest(struct subject *s)
{
    arena_reset(&s->scratch);
    arena_reset(&s->work);
    s->errors = (struct diag_list){.arena = &s->work};
}

void subject_close(struct subject *s)
{
    subject_rest(s);
    arena_reset(&s->arena);
}

uint64_t subject_below(struct subject *s, uint64_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (s->random >> 11) % n;
}

struct pass subject_pass(struct subject *s, const struct ir_kernel *kernel)
{
    return (struct pass){.kernel = ir_copy_kernel(&s->work, kernel),
                         .arena = &s->work,
                         .scratch = &s->scratch,
                         .names = &s->names,
                         .diags = &s->errors};
}

const char *subject_errors(struct subject *s)
{
    struct buf out = {0};
    diag_render(&s->errors, (struct diag_style){0}, &out);
    const char *text = arena_copy(&s->scratch, out.data ? out.data : "", out.n);
    buf_free(&out);
    return text;
}

// The loops, stages and arrays of a kernel: the context of see_handle.
struct handles {
    struct arena *arena;
    struct VEC(struct ir_stmt *) loops, stages;
    struct VEC(struct ir_buffer *) arrays;
    size_t n_params;                 // of the arrays, the first ones
    const struct subject_near *near; // or NULL
};

// Note a loop, a stage or an array.
static void see_handle(struct ir_stmt *s, void *context)
{
    struct handles *h = context;
    if (s->kind == STMT_for)
        vec_push(h->arena, &h->loops, s);
    if (s->kind == STMT_stage)
        vec_push(h->arena, &h->stages, s);
    if (s->kind == STMT_alloc)
        vec_push(h->arena, &h->arrays, s->u.buffer);
}

// Note the parameters of a kernel that are arrays.
static void see_params(const struct ir_kernel *k, struct handles *h)
{
    for (size_t i = 0; i < k->params.n; i++)
        if (k->params.at[i].buffer)
            vec_push(h->arena, &h->arrays, k->params.at[i].buffer);
    h->n_params = h->arrays.n;
}

// Return a random map of n indices: some are cut in two, and the parts, in
// another order, are the new ones; two of them may be joined.
static struct sched_map *random_map(struct subject *s, uint32_t n)
{
    struct arena *a = &s->work;
    struct sched_map *map = arena_new(a, struct sched_map);
    map->n = n;
    map->vars = arena_array(a, struct ir_var *, n);
    map->to = arena_array(a, struct ir_expr *, 2 * n);
    for (uint32_t i = 0; i < n; i++) {
        const char *name = str_name(&s->names, arena_printf(a, "i%u", i));
        map->vars[i] = ir_var_new(a, name, type_scalar(TYPE_int), VAR_let,
                                  (struct span){0});
        struct ir_expr *x = ir_read(a, map->vars[i]);
        struct ir_expr *by = ir_int(a, (int64_t)subject_below(s, 3) + 1);
        map->to[map->m++] = ir_binary(a, OP_div, x, by);
        if (!ir_is_int_const(by, 1) && subject_below(s, 8))
            map->to[map->m++] = ir_binary(a, OP_mod, x, by);
    }
    for (uint32_t i = map->m; i > 1; i--) {
        uint32_t k = (uint32_t)subject_below(s, i);
        struct ir_expr *x = map->to[k];
        map->to[k] = map->to[i - 1];
        map->to[i - 1] = x;
    }
    if (map->m > 1 && subject_below(s, 2)) {
        struct ir_expr *by = ir_int(a, (int64_t)subject_below(s, 3) + 1);
        map->m--;
        map->to[0] = ir_add(a, ir_mul(a, map->to[0], by), map->to[map->m]);
    }
    return map;
}

// Return a loop or a stage, every other time one that is near.
static struct ir_stmt *pick(struct subject *s, const struct handles *h,
                            enum ir_stmt_kind kind)
{
    size_t n = kind == STMT_for ? h->loops.n : h->stages.n;
    struct ir_stmt **all = kind == STMT_for ? h->loops.at : h->stages.at;
    if (h->near && h->near->n && subject_below(s, 2)) {
        struct ir_stmt *at = h->near->at[subject_below(s, h->near->n)];
        for (size_t i = 0; i < n; i++)
            if (all[i] == at)
                return at;
    }
    return all[subject_below(s, n)];
}

// Return a random argument for a letter of a signature, in the kernel.
static struct sched_value argument(struct subject *s, const struct handles *h,
                                   char letter)
{
    static const char *const keys[] = {"hint", "mark"};
    struct sched_value v = {.kind = VALUE_int};
    bool is_stage = letter == 's' || (letter == 't' && subject_below(s, 2));
    if (is_stage && h->stages.n) {
        v.kind = VALUE_stage;
        v.stmt = pick(s, h, STMT_stage);
    } else if (strchr("lts", letter)) {
        v.kind = VALUE_loop;
        v.stmt = pick(s, h, STMT_for);
    } else if (letter == 'a') {
        v.kind = VALUE_array;
        bool any = h->n_params == h->arrays.n || !subject_below(s, 8);
        size_t first = any ? 0 : h->n_params;
        v.buffer = h->arrays.at[first + subject_below(s, h->arrays.n - first)];
    } else if (letter == 'm') {
        v.kind = VALUE_map;
        v.map = random_map(s, (uint32_t)subject_below(s, 3) + 1);
    } else if (letter == 'o') {
        v.kind = VALUE_space;
        v.space = (enum space)subject_below(s, SPACE_COUNT);
    } else if (letter == 'x') {
        v.kind = VALUE_axis;
        v.axis = (enum axis)(AXIS_block_x + (int)subject_below(s, 9));
    } else if (letter == 'k') {
        v.kind = VALUE_key;
        v.key = str_name(&s->names, keys[subject_below(s, 2)]);
    } else if (letter == 'f' && subject_below(s, 2)) {
        v.kind = VALUE_any;
    } else {
        v.number = (int64_t)subject_below(s, 6);
    }
    return v;
}

// Return whether a stage reads or writes an array.
static bool touches(struct ir_stmt *stage, const struct ir_buffer *array)
{
    struct ir_block block = {.at = &stage, .n = 1, .cap = 1};
    return ir_block_reads(&block, array) || ir_block_writes(&block, array);
}

// Return a stage, not `stage`, that touches the array which that one stores;
// NULL if none was found.
static struct ir_stmt *neighbour(struct subject *s, const struct handles *h,
                                 struct ir_stmt *stage)
{
    const struct ir_buffer *array = sched_stored(stage);
    size_t start = subject_below(s, h->stages.n);
    for (size_t i = 0; i < h->stages.n; i++) {
        struct ir_stmt *at = h->stages.at[(start + i) % h->stages.n];
        struct ir_buffer *stored = sched_stored(at);
        if (at != stage && ((array && touches(at, array)) ||
                            (stored && touches(stage, stored))))
            return at;
    }
    return NULL;
}

// Return a loop around a statement, or NULL.
static struct ir_stmt *loop_around(struct subject *s, struct pass *p,
                                   struct ir_stmt *stmt)
{
    size_t n;
    struct ir_path path = sched_path(p, stmt);
    struct ir_stmt **loops = sched_loops(p, &path, &n);
    return n ? loops[subject_below(s, n)] : NULL;
}

// Return a loop directly inside another one, or beside it for `beside`.
static struct ir_stmt *loop_near(struct pass *p, struct ir_stmt *loop,
                                 bool beside)
{
    struct ir_block *block = &loop->u.loop.body;
    size_t from = 0;
    if (beside) {
        struct ir_path path = sched_path(p, loop);
        block = path.blocks[path.n - 1];
        from = path.index[path.n - 1] + 1;
    }
    for (size_t i = from; i < block->n; i++) {
        if (block->at[i]->kind == STMT_for)
            return block->at[i];
    }
    return NULL;
}

// Return an array that a stage touches, or NULL.
static struct ir_buffer *array_of(struct subject *s, const struct handles *h,
                                  struct ir_stmt *stage)
{
    size_t start = subject_below(s, h->arrays.n);
    for (size_t i = 0; i < h->arrays.n; i++) {
        struct ir_buffer *b = h->arrays.at[(start + i) % h->arrays.n];
        if (touches(stage, b))
            return b;
    }
    return NULL;
}

// Let an argument often go with the one before: a loop around the stage or
// around one that it exchanges elements with, a loop next to the loop, an
// array of the stage, a map of as many indices.
static void relate(struct subject *s, const struct handles *h,
                   struct sched_call *c)
{
    const struct sched_value *before = &c->args.at[c->args.n - 2];
    struct sched_value *v = &c->args.at[c->args.n - 1];
    bool moves =
        c->prim == PRIM_compute_at || c->prim == PRIM_reverse_compute_at;
    struct ir_stmt *found = NULL;
    if (subject_below(s, 4) == 0)
        return;
    if (before->kind == VALUE_stage) {
        struct ir_stmt *next = neighbour(s, h, before->stmt);
        struct ir_buffer *array = array_of(s, h, before->stmt);
        if (v->kind == VALUE_loop)
            found = !moves ? loop_around(s, c->pass, before->stmt)
                    : next ? loop_around(s, c->pass, next)
                           : NULL;
        else if (v->kind == VALUE_stage)
            found = next;
        else if (v->kind == VALUE_array && array)
            v->buffer = array;
        else if (v->kind == VALUE_map)
            v->map = random_map(s, (uint32_t)before->stmt->u.stage.iters.n);
    } else if (before->kind == VALUE_loop && v->kind == VALUE_loop) {
        found = loop_near(c->pass, before->stmt, c->prim == PRIM_merge);
    } else if (before->kind == VALUE_array && v->kind == VALUE_map) {
        v->map = random_map(s, before->buffer->rank);
    } else if (before->kind == VALUE_loop && v->kind == VALUE_axis &&
               before->stmt->u.loop.to->op != OP_const) {
        v->axis = (enum axis)(AXIS_block_x + (int)subject_below(s, 3));
    }
    if (found)
        v->stmt = found;
}

// Append a loop as text: its name behind that of a stage inside.
static void write_loop(struct ir_stmt *loop, struct buf *out)
{
    struct ir_stmt *at = loop;
    while (at->kind == STMT_for && at->u.loop.body.n)
        at = at->u.loop.body.at[0];
    if (at->kind == STMT_stage)
        buf_printf(out, "%s.", at->u.stage.name);
    buf_text(out, sched_name_of(loop));
}

// Append an index map as text.
static void write_map(const struct sched_map *map, struct buf *out)
{
    for (uint32_t i = 0; i < map->n; i++)
        buf_printf(out, "%s%s", i ? ", " : "(", map->vars[i]->name);
    for (uint32_t i = 0; i < map->m; i++) {
        buf_text(out, i ? ", " : ") -> (");
        ir_print_expr(out, map->to[i]);
    }
    buf_text(out, ")");
}

// Append a call as text.
static void write_call(const struct sched_call *c, struct buf *out)
{
    buf_printf(out, "    %s(", sched_prim_info(c->prim)->name);
    for (size_t i = 0; i < c->args.n; i++) {
        const struct sched_value *v = &c->args.at[i];
        buf_text(out, i ? ", " : "");
        switch (v->kind) {
        case VALUE_int: buf_printf(out, "%lld", (long long)v->number); break;
        case VALUE_loop: write_loop(v->stmt, out); break;
        case VALUE_stage: buf_text(out, sched_name_of(v->stmt)); break;
        case VALUE_array: buf_text(out, v->buffer->name); break;
        case VALUE_space: buf_text(out, space_name(v->space)); break;
        case VALUE_axis: buf_text(out, axis_name(v->axis)); break;
        case VALUE_key: buf_text(out, v->key); break;
        case VALUE_map: write_map(v->map, out); break;
        default: buf_text(out, "_"); break;
        }
    }
    buf_text(out, ")\n");
}

// Add the loops and stages of some values to those that are near.
static void add_near(struct subject *s, const struct sched_values *values,
                     struct subject_near *near)
{
    for (size_t i = 0; i < values->n; i++) {
        if (values->at[i].stmt)
            vec_push(&s->scratch, near, values->at[i].stmt);
    }
}

// Choose the arguments of a call.
static void choose(struct subject *s, const struct handles *h,
                   struct sched_call *c)
{
    for (const char *at = sched_prim_info(c->prim)->arguments; *at;) {
        bool marked = at[1] && strchr("+?*", at[1]);
        bool skip = marked && at[1] != '+' && subject_below(s, 2);
        if (!skip)
            vec_push(&s->scratch, &c->args, argument(s, h, *at));
        if (!skip && c->args.n > 1)
            relate(s, h, c);
        bool again = !skip && marked && at[1] != '?' && subject_below(s, 2);
        at += again ? 0 : marked ? 2 : 1;
    }
}

bool subject_call(struct subject *s, struct pass *p, enum sched_prim prim,
                  struct subject_near *near, struct buf *text)
{
    struct handles h = {.arena = &s->scratch, .near = near};
    struct sched_call c = {.pass = p, .prim = prim};
    struct buf written = {0};
    see_params(p->kernel, &h);
    ir_each_stmt(&p->kernel->body, see_handle, &h);
    bool needs_stage = strchr(sched_prim_info(prim)->arguments, 's') != NULL;
    if ((needs_stage && !h.stages.n) || !h.loops.n)
        return false;
    choose(s, &h, &c);
    if (text)
        write_call(&c, &written);
    bool done = sched_run(&c);
    if (done && text)
        buf_bytes(text, written.data, written.n);
    buf_free(&written);
    if (done && near) {
        add_near(s, &c.args, near);
        add_near(s, &c.results, near);
    }
    return done;
}
