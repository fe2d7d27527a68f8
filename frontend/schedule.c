// Schedules, rules and defs.
//
//   item    = "schedule" names head block
//           | "schedule" names "by" name "(" [exprs] ")"
//           | "rule" name params ["matches" expr]
//             "{" {statement newline} {case} "}"
//           | "def" name params block
//   case    = "case" head block
//   head    = [params] ["for" targets] ["when" expr]
//   names   = name {"," name}
//   targets = name ["+"] {"," name ["+"]}
//   params  = "(" [param {"," param}] ")"
//   param   = name ["=" expr | "in" "[" exprs "]"]      "in": of a head
//
// `for`, `when` and the block of an item may stand on lines of their own.

#include "frontend/schedule.h"
#include "frontend/unread.h"

enum { CHOICES_MOST = 256 };

// Parse the values behind `in`, of which each makes a schedule.
static bool parse_each(struct parser *p, struct sched_parameter *param)
{
    size_t first = p->at;
    param->each = schedule_parse_expr(p);
    if (param->each &&
        (param->each->kind != SCHED_list || param->each->args.n == 0))
        return diag_error(p->diags, parse_span(p, first), D_schedule_each,
                          param->name.text);
    return param->each != NULL;
}

// Parse `name = default`, or `name in [values]` of a schedule, and report a name
// that is there already.
static bool parse_param(struct parser *p, struct sched_item *item, bool is_def)
{
    struct sched_parameter param = {0};
    if (!schedule_parse_name(p, "a parameter", &param.name))
        return false;
    for (size_t i = 0; i < item->params.n; i++) {
        if (item->params.at[i].name.text == param.name.text) {
            diag_error(p->diags, param.name.span, D_schedule_defined_twice,
                       "parameter", param.name.text);
            diag_note(p->diags, item->params.at[i].name.span, "first here");
        }
    }
    if (parse_take(p, "=") && !(param.initial = schedule_parse_expr(p)))
        return false;
    if (!is_def && !param.initial && parse_take(p, "in") &&
        !parse_each(p, &param))
        return false;
    vec_push(p->arena, &item->params, param);
    return true;
}

// Parse `(parameters)`.
static bool parse_params(struct parser *p, struct sched_item *item, bool is_def)
{
    if (!parse_expect(p, "(", "before the parameters"))
        return false;
    while (!parse_is(p, ")")) {
        if (!parse_param(p, item, is_def))
            return false;
        if (!parse_take(p, ","))
            break;
    }
    return parse_expect(p, ")", "behind the parameters");
}

// Parse the architectures behind `for`.
static bool parse_targets(struct parser *p, struct sched_item *item)
{
    do {
        struct sched_target target = {0};
        size_t first = p->at;
        if (!schedule_parse_name(p, "an architecture", &target.name))
            return false;
        target.is_open = parse_take(p, "+");
        target.name.span = parse_span(p, first);
        vec_push(p->arena, &item->targets, target);
    } while (parse_take(p, ","));
    return true;
}

// Go to a word that is next, be it on another line, and return whether it is.
static bool parse_reach(struct parser *p, const char *word)
{
    size_t at = p->at;
    parse_skip_newlines(p);
    if (parse_is(p, word))
        return true;
    p->at = at;
    return false;
}

// Parse the names of further kernels.
static bool parse_others(struct parser *p, struct sched_item *item)
{
    while (parse_take(p, ",")) {
        struct sched_name other;
        if (!schedule_parse_name(p, "a kernel", &other))
            return false;
        vec_push(p->arena, &item->others, other);
    }
    return true;
}

// Parse what stands in front of the block of a schedule or a case.
static bool parse_head(struct parser *p, struct sched_item *item)
{
    if (parse_is(p, "(") && !parse_params(p, item, false))
        return false;
    if (parse_reach(p, "for") && parse_take(p, "for") &&
        !parse_targets(p, item))
        return false;
    if (parse_reach(p, "when") && parse_take(p, "when") &&
        !(item->guard = schedule_parse_expr(p)))
        return false;
    return true;
}

// Add a def or a rule; report one that is there already.
static void add_named(struct parser *p, struct sched_items *items,
                      const char *what, struct sched_item *item)
{
    const struct sched_item *other = sched_find_item(items, item->name.text);
    if (other) {
        diag_error(p->diags, item->name.span, D_schedule_defined_twice, what,
                   item->name.text);
        diag_note(p->diags, other->name.span, "first here");
    }
    vec_push(p->arena, items, item);
}

// Check that a schedule with lists of values does not stand for too many.
static bool check_choices(struct parser *p, const struct sched_item *item)
{
    size_t n = 1;
    vec_foreach(param, &item->params)
        if (param->each && n <= CHOICES_MOST)
            n *= param->each->args.n;
    if (n > CHOICES_MOST)
        diag_error(p->diags, item->span, D_schedule_choices, CHOICES_MOST);
    return n <= CHOICES_MOST;
}

// Add a schedule, or one for each value of its parameters from `at` on that have
// several, in the order of their lists.
static void add_choices(struct parser *p, struct sched_items *out,
                        struct sched_item *item, size_t at)
{
    while (at < item->params.n && !item->params.at[at].each)
        at++;
    if (at == item->params.n) {
        vec_push(p->arena, out, item);
        return;
    }
    const struct sched_expr *values = item->params.at[at].each;
    for (size_t i = 0; i < values->args.n; i++) {
        struct sched_item *one = arena_new(p->arena, struct sched_item);
        *one = *item;
        one->params.at =
            arena_array(p->arena, struct sched_parameter, item->params.n);
        one->params.cap = item->params.n;
        for (size_t k = 0; k < item->params.n; k++)
            one->params.at[k] = item->params.at[k];
        one->params.at[at].initial = values->args.at[i];
        add_choices(p, out, one, at + 1);
    }
}

// Parse the block of a schedule or a case whose head was parsed, and add it.  It
// began at token number `first`.
static bool parse_choices(struct parser *p, size_t first,
                          struct sched_item *item, struct sched_items *out)
{
    parse_reach(p, "{");
    if (!schedule_parse_body(p, &item->body))
        return false;
    item->whole = parse_span(p, first);
    if (check_choices(p, item))
        add_choices(p, out, item, 0);
    return true;
}

// Parse the call of a rule behind `by`.
static bool parse_by(struct parser *p, struct sched_item *item)
{
    size_t first = p->at;
    item->by = schedule_parse_expr(p);
    if (!item->by || item->by->kind == SCHED_call)
        return item->by != NULL;
    return diag_error(p->diags, parse_span(p, first), D_schedule_by);
}

// Parse a schedule behind its keyword.
static bool parse_schedule(struct parser *p, struct sched_item *item,
                           struct sched_program *out)
{
    size_t first = p->at - 1;
    if (!schedule_parse_name(p, "a kernel", &item->name) ||
        !parse_others(p, item))
        return false;
    bool has_rule = parse_take(p, "by");
    if (has_rule ? !parse_by(p, item) : !parse_head(p, item))
        return false;
    item->span = parse_span(p, first);
    if (!has_rule)
        return parse_choices(p, first, item, &out->schedules);
    vec_push(p->arena, &out->schedules, item);
    return true;
}

// Parse a case of a rule.
static bool parse_case(struct parser *p, struct sched_item *rule)
{
    struct sched_item *item = arena_new(p->arena, struct sched_item);
    size_t first = p->at++;
    item->rule = rule;
    item->name = rule->name;
    item->name.span = parse_span(p, first);
    if (!parse_head(p, item))
        return false;
    item->span = parse_span(p, first);
    return parse_choices(p, first, item, &rule->cases);
}

// Parse the block of a rule.
static bool parse_cases(struct parser *p, struct sched_item *item)
{
    if (!parse_expect(p, "{", "before the cases"))
        return false;
    schedule_parse_stmts(p, "case", &item->body);
    while (parse_is(p, "case")) {
        if (!parse_case(p, item))
            return false;
        parse_skip_newlines(p);
    }
    if (!item->cases.n)
        diag_error(p->diags, item->span, D_rule_empty, item->name.text);
    return parse_expect(p, "}", "behind the cases, which begin with `case`");
}

// Parse the block of an item, or put that off if it is one token.
static bool item_block(struct parser *p, struct sched_item *item,
                       unread_parse *parse)
{
    if (parse_peek(p, 0)->kind != TOKEN_BLOCK)
        return parse(p, item);
    item->unread = unread_new(p, item, parse);
    p->at++;
    return true;
}

// Parse a rule behind its keyword.
static bool parse_rule(struct parser *p, struct sched_item *item,
                       struct sched_program *out)
{
    size_t first = p->at - 1;
    if (!schedule_parse_name(p, "a rule", &item->name) ||
        !parse_params(p, item, true))
        return false;
    item->span = parse_span(p, first);
    if (parse_reach(p, "matches") && parse_take(p, "matches") &&
        !(item->pattern = schedule_parse_expr(p)))
        return false;
    parse_reach(p, "{");
    if (!item_block(p, item, parse_cases))
        return false;
    add_named(p, &out->rules, "rule", item);
    return true;
}

// Parse the block of a def.
static bool parse_body(struct parser *p, struct sched_item *item)
{
    return schedule_parse_body(p, &item->body);
}

// Parse a def behind its keyword.
static bool parse_def(struct parser *p, struct sched_item *item,
                      struct sched_program *out)
{
    size_t first = p->at - 1;
    if (!schedule_parse_name(p, "a def", &item->name) ||
        !parse_params(p, item, true))
        return false;
    item->span = parse_span(p, first);
    parse_reach(p, "{");
    if (!item_block(p, item, parse_body))
        return false;
    add_named(p, &out->defs, "def", item);
    out->named.arena = p->arena;
    if (!map_has(&out->named, item->name.text))
        map_set(&out->named, item->name.text, item);
    return true;
}

bool schedule_parse_item(struct parser *p, struct sched_program *out)
{
    static const struct {
        const char *word;
        bool (*parse)(struct parser *p, struct sched_item *item,
                      struct sched_program *out);
    } kinds[] = {
        {"schedule", parse_schedule}, {"rule", parse_rule}, {"def", parse_def}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!parse_take(p, kinds[i].word))
            continue;
        if (!kinds[i].parse(p, arena_new(p->arena, struct sched_item), out))
            parse_recover(p);
        return true;
    }
    return false;
}
