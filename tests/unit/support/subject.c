// Kernels that random calls of primitives change.

#include "subject.h"

#include "ir/copy.h"
#include "tools/libingot/library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

// Let schedules call the library's defs and rules.
static void add_library(struct subject *s)
{
    for (const struct library_file *f = library_files; f->name; f++) {
        struct source *source = arena_new(&s->arena, struct source);
        *source = (struct source){f->name, f->text, f->size};
        frontend_parse(&s->arena, &s->names, source, true, &s->diags,
                       &s->library);
    }
    s->program.schedules.fallback = &s->library.schedules;
}

void subject_open(struct subject *s, const char *text)
{
    struct source *source = arena_new(&s->arena, struct source);
    *source = (struct source){"kernel", text, strlen(text)};
    s->names.arena = s->diags.arena = &s->arena;
    s->errors.arena = &s->work;
    s->random = 88172645463325252u;
    add_library(s);
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
    return draw_below(&s->random, n);
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

bool subject_call(struct subject *s, struct pass *p, enum sched_prim prim,
                  struct call_near *near, struct buf *text)
{
    struct caller by = {.work = &s->work,
                        .scratch = &s->scratch,
                        .names = &s->names,
                        .random = &s->random,
                        .near = near};
    struct sched_call c = {.pass = p, .prim = prim};
    struct buf written = {0};
    if (!call_draw(&by, &c))
        return false;
    if (text)
        call_print(&c, NULL, &written);
    bool done = sched_run(&c);
    if (done && text)
        buf_printf(text, "    %s\n", written.data);
    buf_free(&written);
    if (done && near)
        call_add_near(&s->scratch, &c, near);
    return done;
}
