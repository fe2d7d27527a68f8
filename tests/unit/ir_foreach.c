// Loops over statements and expressions, and how they may be left.

#include "ir/build.h"
#include "ir/foreach.h"
#include "ir/walk.h"
#include "support/kernel_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "kernel k(n: int, A: f32[n]) -> C: f32[n] {\n"
                           "    for i in 0..n {\n"
                           "        if i < 4 { C[i] = A[i] + 1.0 }\n"
                           "        else { for j in 0..2 { C[i] = 2.0 } }\n"
                           "    }\n"
                           "    barrier\n"
                           "}\n";

// Append a letter for a kind of statement.
static void add_kind(char *to, const struct ir_stmt *s)
{
    const char *letter = s->kind == STMT_for       ? "f"
                         : s->kind == STMT_if      ? "i"
                         : s->kind == STMT_store   ? "s"
                         : s->kind == STMT_barrier ? "b"
                                                   : "?";
    strcat(to, letter);
}

// Statements come before what they contain, in the order of the text.
static void statements_in_order(void **state)
{
    (void)state;
    char below[16] = "", from[16] = "";
    KERNEL(k, text);
    ir_foreach_stmt(s, &k->body)
        add_kind(below, s);
    ir_foreach_stmt_from(s, k->body.at[0])
        add_kind(from, s);
    assert_string_equal(below, "fisfsb");
    assert_string_equal(from, "fisfs");
    arena_reset(&arena);
}

// What is below a statement or an expression can be left out.
static void skipping(void **state)
{
    (void)state;
    char seen[16] = "";
    size_t n = 0;
    KERNEL(k, text);
    ir_foreach_stmt(s, &k->body) {
        add_kind(seen, s);
        if (s->kind == STMT_if)
            ir_skip(s);
    }
    assert_string_equal(seen, "fib");
    ir_foreach_expr(x, kernel_stmt(k, STMT_store)->u.store.value) {
        n++;
        if (x->op == OP_load)
            ir_skip(x);
    }
    assert_int_equal(n, 3); // +, A[i], 1.0
    arena_reset(&arena);
}

// Return the first statement of a kind, or NULL.
static struct ir_stmt *first(const struct ir_kernel *k, enum ir_stmt_kind kind)
{
    ir_foreach_stmt(s, &k->body)
        if (s->kind == kind)
            return s;
    return NULL;
}

// `break`, `continue` and `return` do what they do in any loop.
static void leaving(void **state)
{
    (void)state;
    char until[16] = "", others[16] = "";
    KERNEL(k, text);
    ir_foreach_stmt(s, &k->body) {
        add_kind(until, s);
        if (s->kind == STMT_store)
            break;
    }
    ir_foreach_stmt(s, &k->body) {
        if (s->kind == STMT_for)
            continue;
        add_kind(others, s);
    }
    assert_string_equal(until, "fis");
    assert_string_equal(others, "issb");
    assert_ptr_equal(first(k, STMT_barrier), k->body.at[1]);
    assert_null(first(k, STMT_launch));
    arena_reset(&arena);
}

// Places are those of a statement itself; expressions those below them, or of
// all statements below.
static void places_and_expressions(void **state)
{
    (void)state;
    size_t places = 0, own = 0, all = 0, from = 0;
    KERNEL(k, text);
    ir_foreach_place(place, k->body.at[0])
        places += *place != NULL;
    ir_foreach_expr_of(x, kernel_stmt(k, STMT_store))
        own++;
    ir_foreach_expr_in(x, &k->body)
        all++;
    ir_foreach_expr_from(x, k->body.at[0])
        from++;
    assert_int_equal(places, 3); // 0, n, 1
    assert_int_equal(own, 5);    // i, +, A[i], i, 1.0
    assert_int_equal(all, 16);   // those, `i < 4`, 0..2, and i, 2.0
    assert_int_equal(from, all);
    arena_reset(&arena);
}

// Nothing limits how deep a tree is, and nothing stays behind a loop that is
// left inside of it.
static void deep_trees(void **state)
{
    (void)state;
    enum { DEPTH = 100 * 1000 };
    struct arena a = {0};
    struct ir_var *v =
        ir_var_new(&a, "v", type_scalar(TYPE_i32), VAR_let, (struct span){0});
    struct ir_expr *x = ir_read(&a, v);
    struct ir_stmt *s = ir_stmt_barrier(&a);
    size_t exprs = 0, stmts = 0;
    for (int i = 0; i < DEPTH; i++) {
        x = ir_binary(&a, OP_div, x, ir_read(&a, v));
        struct ir_stmt *around = ir_stmt_if(&a, ir_bool(&a, true));
        vec_push(&a, &around->u.branch.then, s);
        s = around;
    }
    ir_foreach_expr(e, x)
        exprs++;
    assert_int_equal(exprs, 2 * DEPTH + 1);
    exprs = 0;
    ir_foreach_expr(e, x)
        if (++exprs == DEPTH)
            break;
    assert_int_equal(exprs, DEPTH);
    ir_foreach_stmt_from(t, s)
        stmts++;
    assert_int_equal(stmts, DEPTH + 1);
    arena_reset(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_in_order),
        cmocka_unit_test(skipping),
        cmocka_unit_test(leaving),
        cmocka_unit_test(places_and_expressions),
        cmocka_unit_test(deep_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
