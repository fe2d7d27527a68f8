// Sections of the reference on kernels: words, types, memory, loops,
// statements, copies, levels, passes.

#include "tools/ingot/doc.h"

#include "ir/marks.h"
#include "ir/neutral.h"
#include "ir/ring.h"
#include "passes/steps.h"

#include <string.h>

enum place { TOP, KERNEL, DATA, ARRAY, ALLOC, REDUCTION, VALUE, SCHEDULE };

// A row of words.def.
struct word {
    const char *name;
    enum place place;
    const char *form, *meaning;
};

static const struct word words[] = {
#define WORD(name, place, form, meaning) {name, place, form, meaning},
#include "ir/words.def"
#undef WORD
};
enum { WORDS = sizeof words / sizeof *words };

// Add the words of the places from `first` to `last`, each with what a text
// says of its place.
static void add_words(struct doc *d, enum place first, enum place last)
{
    static const char *const says[] = {
        [TOP] = "",
        [KERNEL] = " (clause of a kernel)",
        [DATA] = " (clause of a kernel, of its data)",
        [ARRAY] = " (behind a parameter)",
        [ALLOC] = " (behind an `alloc`)",
        [REDUCTION] = "",
        [VALUE] = " (a value)",
        [SCHEDULE] = "",
    };
    for (int i = 0; i < WORDS; i++)
        if (words[i].place >= first && words[i].place <= last)
            doc_add(d, words[i].name, words[i].form,
                    arena_printf(d->arena, "%s%s", words[i].meaning,
                                 says[words[i].place]));
}

void doc_add_file(struct doc *d)
{
    add_words(d, TOP, ALLOC);
    add_words(d, VALUE, VALUE);
}

void doc_add_schedules(struct doc *d)
{
    add_words(d, SCHEDULE, SCHEDULE);
}

// Return what a class of types.def says of all its types.
static const char *class_text(char class)
{
    return class == 'E' ? "; for storage only: no arithmetic but conversions"
                        : "";
}

void doc_add_types(struct doc *d)
{
#define TYPE(name, bits, class, c_name, meaning)                               \
    doc_add(d, #name, #name,                                                   \
            arena_printf(d->arena, "%s; %d bits, `%s` in C%s", meaning, bits,  \
                         c_name, class_text(#class[0])));
#include "ir/types.def"
#undef TYPE
}

void doc_add_spaces(struct doc *d)
{
#define SPACE(name, number, meaning) doc_add(d, #name, #name, meaning);
#include "ir/spaces.def"
#undef SPACE
}

void doc_add_axes(struct doc *d)
{
#define AXIS(name, spelling, kind, dimension, most, meaning)                   \
    doc_add(d, spelling, "@" spelling,                                         \
            most ? arena_printf(d->arena, "%s; at most %d", meaning, most)     \
                 : meaning);
#include "ir/axes.def"
#undef AXIS
}

// Add a statement: how it is written, and behind the last colon what it does.
static void add_statement(struct doc *d, const char *name, const char *text)
{
    const char *colon = text;
    for (const char *at = text; (at = strstr(at, ": ")); at++)
        colon = at;
    doc_add(d, name, arena_copy(d->arena, text, (size_t)(colon - text)),
            colon + 2);
}

void doc_add_statements(struct doc *d)
{
#define STMT(name, first, last, meaning) add_statement(d, #name, meaning);
#include "ir/stmts.def"
#undef STMT
}

void doc_add_syncs(struct doc *d)
{
    enum { none, N };
#define SYNC(name, spelling, number, by, meets, meaning)                       \
    doc_add(d, spelling, number == N ? spelling "(n)" : spelling, meaning);
#include "ir/syncs.def"
#undef SYNC
}

void doc_add_scopes(struct doc *d)
{
#define SCOPE(name, llvm, ptx, meaning)                                        \
    if (strcmp(#name, "usual") != 0)                                           \
        doc_add(d, #name, #name, meaning);
#include "ir/scopes.def"
#undef SCOPE
}

// Add the statements of a transport.
static void add_transport(struct doc *d, enum ir_transport transport)
{
    const struct ir_copy load = {.transport = transport, .is_load = true};
    const struct ir_copy store = {.transport = transport};
    const char *name = ir_copy_word(&load), *other = ir_copy_word(&store);
    const char *what = other ? ": statements, to shared memory and from it"
                             : ": a statement, to shared memory";
    const char *meaning =
        arena_printf(d->arena, "%s%s", transport_meaning(transport), what);
    const char *form =
        other ? arena_printf(d->arena, "%s, %s", name, other) : name;
    doc_add(d, name, form, meaning)->also = other;
}

void doc_add_copies(struct doc *d)
{
#define COPY_WAY(name, kind, meaning)                                          \
    doc_add(d, #name, "copy_via(stage, " #name ")", meaning);
#include "passes/schedule/copy_ways.def"
#undef COPY_WAY
#define HINT(name, policy, meaning)                                            \
    doc_add(d, #name, "copy_via(stage, way, " #name ")",                       \
            "a hint to the L2 cache on what the copy accesses: " meaning);
#include "ir/hints.def"
#undef HINT
    for (int i = 0; i < TRANSPORT_COUNT; i++)
        add_transport(d, (enum ir_transport)i);
}

void doc_add_orders(struct doc *d)
{
    static const char NONE[] = "", ANY[] = "; `group` rows go together",
                      POWER[] = "; `group` is a power of two up to 64";
#define ORDER(name, group, meaning)                                            \
    doc_add(d, #name, #name, arena_printf(d->arena, "%s%s", meaning, group));
#include "passes/analysis/orders.def"
#undef ORDER
}

void doc_add_launch_attributes(struct doc *d)
{
#define LAUNCH_ATTRIBUTE(name, meaning) doc_add(d, #name, #name, meaning);
#include "ir/launch_attributes.def"
#undef LAUNCH_ATTRIBUTE
}

void doc_add_marks(struct doc *d)
{
    for (int i = 0; i < MARK_note; i++) {
        const struct ir_mark_info *info = ir_mark_info((enum ir_mark)i);
        bool is_hint = strcmp(info->until, "NEVER") == 0;
        struct buf takes = {0};
        ir_mark_takes(&takes, info);
        doc_add(d, info->name,
                arena_printf(d->arena, "@%s(%s)", info->name,
                             info->takes == MARK_TAKES_NUMBER ? "n" : "word"),
                arena_printf(d->arena, "%s: %s; %s. Set by `%s`, %s%s%s",
                             info->on == STMT_for ? "loop" : "stage",
                             info->meaning, takes.data, info->by,
                             is_hint ? "reaches LLVM" : "consumed by `",
                             is_hint ? "" : info->until, is_hint ? "" : "`"));
        buf_free(&takes);
    }
}

void doc_add_rings(struct doc *d)
{
    for (int i = 0; i < RING_NUMBERS; i++) {
        const struct ir_ring_number *n = ir_ring_number(i);
        doc_add(d, n->name, arena_printf(d->arena, "%s n", n->name),
                arena_printf(d->arena, "%s; from %lld to %lld", n->meaning,
                             (long long)n->least, (long long)n->most));
    }
    for (int i = 0; i < RING_PARTS; i++) {
        enum ir_ring_part part = (enum ir_ring_part)i;
        const char *name = ir_ring_part_name(part);
        doc_add(d, name, arena_printf(d->arena, "%s n", name),
                arena_printf(d->arena,
                             "%s; its threads keep n registers, 0: "
                             "as they begin",
                             ir_ring_part_meaning(part)));
    }
    for (int i = 0; i < RING_WORDS; i++) {
        const struct ir_ring_word_info *word =
            ir_ring_word((enum ir_ring_word)i);
        doc_add(d, word->name,
                arena_printf(d->arena, "%s %s", word->field, word->name),
                word->meaning);
    }
#define LIST(name, meaning) doc_add(d, #name, #name " A B", meaning);
#include "ir/ring.def"
#undef LIST
}

void doc_add_levels(struct doc *d)
{
#define LEVEL(name, meaning) doc_add(d, #name, "level " #name, meaning);
#include "ir/levels.def"
#undef LEVEL
}

void doc_add_passes(struct doc *d)
{
    for (int i = 0; i < PASS_COUNT; i++) {
        enum pass_name pass = (enum pass_name)i;
        doc_add(d, pass_text(pass), pass_text(pass),
                arena_printf(d->arena, "%s%s", pass_doc(pass),
                             pass_is_optional(pass) ? "; optional" : ""));
    }
}

void doc_add_steps(struct doc *d)
{
    size_t n;
    const struct pass_step *steps = pass_steps(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = pass_text(steps[i].pass);
        struct buf consumed = {0};
        pass_consumes(&consumed, &steps[i]);
        doc_add(d, name, name,
                arena_printf(d->arena, "%s%s%s%s%s", steps[i].why,
                             *steps[i].needs ? "; needs " : "", steps[i].needs,
                             consumed.n ? "; consumes " : "",
                             consumed.n ? consumed.data : ""));
        buf_free(&consumed);
    }
}

void doc_add_reductions(struct doc *d)
{
#define REDUCE(name, op)                                                       \
    doc_add(d, #name, #name "(k in n) x",                                      \
            arena_printf(d->arena, "combines by `%s`, from %s on",             \
                         ir_op_info(OP_##op)->spelling,                        \
                         ir_neutral_text(OP_##op)));
#include "frontend/reduce.def"
#undef REDUCE
#define SCATTER(sign, op)                                                      \
    doc_add(d, sign, "Y[at[i]] " sign " x",                                    \
            arena_printf(d->arena, "combines by `%s`, results from %s on",     \
                         ir_op_info(OP_##op)->spelling,                        \
                         ir_neutral_text(OP_##op)));
#include "frontend/scatter.def"
#undef SCATTER
    add_words(d, REDUCTION, REDUCTION);
}
