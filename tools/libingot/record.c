// Reads and prints records of tuning.

#include "tools/libingot/record.h"

#include "tools/libingot/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- Reading --------------------------------------------------------------

// Return whether the line ends here.
static bool at_end(const struct words *r)
{
    return !*r->at || *r->at == '\n';
}

// Take a word if it comes.
static bool take_word(struct words *r, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(r->at, word, n) != 0 || isalnum((unsigned char)r->at[n]))
        return false;
    r->at += n;
    words_skip_blanks(r);
    return true;
}

// Read `NAME=NUMBER` as long as such come.
static bool take_settings(struct words *r, struct sched_settings *out)
{
    for (;;) {
        struct sched_setting one = {0};
        struct words ahead = *r;
        one.name = words_name(&ahead);
        if (!one.name || *ahead.at != '=')
            return true;
        ahead.at++;
        *r = ahead;
        if (!words_number(r, &one.value))
            return false;
        vec_push(r->arena, out, one);
        words_skip_blanks(r);
    }
}

// Return a text in quotes, or up to a blank; NULL if none comes.
static const char *take_text(struct words *r)
{
    bool is_quoted = *r->at == '"';
    const char *from = r->at + is_quoted;
    size_t n = strcspn(from, is_quoted ? "\"\n" : " \t\r\n");
    if (!n && !is_quoted)
        return NULL;
    if (is_quoted && from[n] != '"')
        return NULL;
    r->at = from + n + is_quoted;
    words_skip_blanks(r);
    return arena_copy(r->arena, from, n);
}

// Read where the schedule is from, and its number.
static bool take_from(struct words *r, struct record *out)
{
    bool ok = true;
    if (take_word(r, "rule")) {
        out->from = RECORD_RULE;
        out->rule = words_name(r);
        ok = out->rule != NULL;
        words_skip_blanks(r);
    } else if (take_word(r, "build")) {
        out->from = RECORD_BUILD;
    } else {
        ok = take_word(r, "schedule");
    }
    int64_t number = 0;
    ok = ok && words_number(r, &number) && number > 0;
    out->number = (size_t)number;
    words_skip_blanks(r);
    return ok;
}

// Read what stands in front of the colon.
static bool take_head(struct words *r, struct record *out)
{
    out->kernel = words_name(r);
    words_skip_blanks(r);
    if (!out->kernel || !take_settings(r, &out->sizes) || !take_word(r, "on"))
        return false;
    out->device = take_text(r);
    out->arch = take_text(r);
    return out->device && out->arch && take_from(r, out) &&
           take_settings(r, &out->settings) && *r->at == ':';
}

// Enter one of what stands behind the colon; other keys are of newer versions.
static void enter(struct record *out, const char *key, const char *value)
{
    if (strcmp(key, "state") == 0)
        out->state = value;
    else if (strcmp(key, "why") == 0)
        out->why = value;
    else if (strcmp(key, "date") == 0)
        out->date = value;
    else if (strcmp(key, "version") == 0)
        out->version = value;
    else if (strcmp(key, "us") == 0)
        out->us = strtod(value, NULL);
    else if (strcmp(key, "ratio") == 0)
        out->ratio = strtod(value, NULL);
    else if (strcmp(key, "spread") == 0)
        out->spread = strtod(value, NULL);
    else if (strcmp(key, "turns") == 0)
        out->turns = strtoull(value, NULL, 10);
    else if (strcmp(key, "kernel") == 0)
        out->kernel_hash = strtoull(value, NULL, 16);
    else if (strcmp(key, "text") == 0)
        out->text_hash = strtoull(value, NULL, 16);
}

// Read what stands behind the colon.
static bool take_facts(struct words *r, struct record *out)
{
    words_skip_blanks(r);
    while (!at_end(r)) {
        const char *key = words_name(r), *value;
        if (!key || *r->at != '=')
            return false;
        r->at++;
        if (!(value = take_text(r)))
            return false;
        enter(out, key, value);
    }
    return out->state != NULL;
}

bool record_read(struct arena *a, struct str_table *names, const char **at,
                 struct record *out)
{
    struct words r = {a, names, *at};
    *out = (struct record){0};
    bool ok = take_head(&r, out);
    if (ok) {
        r.at++;
        ok = take_facts(&r, out);
    }
    *at = r.at;
    return ok;
}

// ---- Printing -------------------------------------------------------------

// Append settings, a blank before each.
static void print_settings(const struct sched_settings *all, struct buf *out)
{
    vec_foreach(one, all)
        buf_printf(out, " %s=%lld", one->name, (long long)one->value);
}

// Append a text in quotes; what would end it or the line is replaced.
static void print_quoted(const char *text, struct buf *out)
{
    buf_char(out, '"');
    for (; *text; text++)
        buf_char(out, *text == '"'                 ? '\''
                      : (unsigned char)*text < ' ' ? ' '
                                                   : *text);
    buf_char(out, '"');
}

// Append what stands in front of the colon.
static void print_head(const struct record *r, struct buf *out)
{
    buf_text(out, r->kernel);
    print_settings(&r->sizes, out);
    buf_text(out, " on ");
    print_quoted(r->device, out);
    buf_printf(out, " %s ", r->arch);
    if (r->from == RECORD_RULE)
        buf_printf(out, "rule %s", r->rule);
    else
        buf_text(out, r->from == RECORD_BUILD ? "build" : "schedule");
    buf_printf(out, " %zu", r->number);
    print_settings(&r->settings, out);
    buf_text(out, " :");
}

void record_print(const struct record *r, struct buf *out)
{
    print_head(r, out);
    buf_printf(out, " state=%s", r->state);
    if (r->us > 0)
        buf_printf(out, " us=%.6g ratio=%.6g spread=%.3g turns=%zu", r->us,
                   r->ratio, r->spread, r->turns);
    if (r->date)
        buf_printf(out, " date=%s", r->date);
    buf_printf(out, " kernel=%llx text=%llx",
               (unsigned long long)r->kernel_hash,
               (unsigned long long)r->text_hash);
    if (r->version)
        buf_printf(out, " version=%s", r->version);
    if (r->why) {
        buf_text(out, " why=");
        print_quoted(r->why, out);
    }
    buf_char(out, '\n');
}

// ---- Comparing ------------------------------------------------------------

// Return whether a list has a setting.
static bool has_setting(const struct sched_settings *all,
                        const struct sched_setting *wanted)
{
    vec_foreach(one, all)
        if (strcmp(one->name, wanted->name) == 0)
            return one->value == wanted->value;
    return false;
}

bool record_same_settings(const struct sched_settings *a,
                          const struct sched_settings *b)
{
    if (a->n != b->n)
        return false;
    vec_foreach(one, a)
        if (!has_setting(b, one))
            return false;
    return true;
}

bool record_is_same_problem(const struct record *a, const struct record *b,
                            bool device)
{
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->arch, b->arch) == 0 &&
           (!device || strcmp(a->device, b->device) == 0) &&
           record_same_settings(&a->sizes, &b->sizes);
}
