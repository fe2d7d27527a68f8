// Products for the instructions and copies that ask for shapes of their own,
// from templates.
//
// In a template $N, $M and $O are numbers of tiles, $K 8 or 16, $P 8 or 32, $t a
// type of 4 bytes; $ and another small letter is a name, the same for the same letter.

#include "tests/fuzz/schedule/kernel.h"
#include "tests/support/draw.h"

#include <ctype.h>

enum { LETTERS = 26 };

// A part of a kernel.
struct template
{
    const char *params, *results, *body;
};

// Each block multiplies matrices in fragments: tensorize finds a nest.
static const struct template fragments = {
    "$a: f16[16 * $N, $K], $b: f16[$K, 8]", "$c: f32[16 * $N, 8]",
    "    alloc $s: f32[16 * $N, 8] in fragment\n"
    "    alloc $x: f16[16 * $N, $K] in fragment\n"
    "    alloc $y: f16[$K, 8] in fragment\n"
    "    for b in 0..$N @block.x {\n"
    "        for w in 0..1 @warp {\n"
    "            for i in 0..16 { for k in 0..$K {\n"
    "                stage $x(v in 16 * $N = b * 16 + i, u in $K = k) "
    "{ $x[v, u] = $a[v, u] }\n"
    "            } }\n"
    "            for k in 0..$K { for j in 0..8 {\n"
    "                stage $y(v in $K = k, u in 8 = j) "
    "{ $y[v, u] = $b[v, u] }\n"
    "            } }\n"
    "            for i in 0..16 { for j in 0..8 {\n"
    "                stage $z(v in 16 * $N = b * 16 + i, u in 8 = j) "
    "{ $s[v, u] = 0 }\n"
    "            } }\n"
    "            for i in 0..16 { for j in 0..8 { for k in 0..$K {\n"
    "                stage $p(v in 16 * $N = b * 16 + i, u in 8 = j, "
    "reduce r in $K = k) {\n"
    "                    $s[v, u] = $s[v, u] + f32($x[v, r]) * f32($y[r, u])\n"
    "                }\n"
    "            } } }\n"
    "            for i in 0..16 { for j in 0..8 {\n"
    "                stage $c(v in 16 * $N = b * 16 + i, u in 8 = j) "
    "{ $c[v, u] = $s[v, u] }\n"
    "            } }\n"
    "        }\n"
    "    }\n"};

// Sums of products of bytes: tensorize finds dp4a.
static const struct template bytes = {
    "$a: i8[8 * $N, 4 * $K], $b: u8[4 * $K - $M]", "$c: i32[8 * $N]",
    "    for i in 0..8 * $N { for k in 0..$K { for q in 0..4 {\n"
    "        stage $p(v in 8 * $N = i, "
    "reduce r in 4 * $K - $M = k * 4 + q) if k * 4 + q < 4 * $K - $M {\n"
    "            init { $c[v] = 0 }\n"
    "            $c[v] = $c[v] + i32($a[v, r]) * i32($b[r])\n"
    "        }\n"
    "    } } }\n"};

// Warpgroups of blocks sum rows by a vector that comes part by part. What `read`
// names, of more `arrays`, is made of the parts by what `changes` them.
#define STREAMED(arrays, changes, read)                                               \
    {                                                                                 \
        "$a: f32[128 * $N * $O, $P * $M], $b: f32[$P * $M]",                          \
            "$c: f32[128 * $N * $O]",                                                 \
            "    alloc $s: f32[128 * $N * $O] in local\n"                             \
            "    alloc $x: f32[$P * $M] in shared\n" arrays                           \
            "    for b in 0..$O @block.x { for g in 0..$N @warpgroup { "              \
            "for w in 0..4 @warp { for l in 0..32 @lane {\n"                          \
            "        stage $z(v in 128 * $N * $O = "                                  \
            "b * 128 * $N + g * 128 + w * 32 + l) { $s[v] = 0 }\n"                    \
            "        for k in 0..$M {\n"                                              \
            "            for q in 0..$P {\n"                                          \
            "                stage $x(u in $P * $M = k * $P + q) { $x[u] = $b[u] }\n" \
            "            }\n" changes "            for q in 0..$P {\n"                \
            "                stage $p(v in 128 * $N * $O = "                          \
            "b * 128 * $N + g * 128 + w * 32 + l, "                                   \
            "reduce u in $P * $M = k * $P + q) {\n"                                   \
            "                    $s[v] = $s[v] + $a[v, u] * " read "[u]\n"            \
            "                }\n"                                                     \
            "            }\n"                                                         \
            "        }\n"                                                             \
            "        stage $c(v in 128 * $N * $O = "                                  \
            "b * 128 * $N + g * 128 + w * 32 + l) { $c[v] = $s[v] }\n"                \
            "    } } } }\n"                                                           \
    }

// What pipeline, copy_via, specialize and pingpong ask for.
static const struct template streamed = STREAMED("", "", "$x");

// What specialize asks for, if the consumers fill a ring, too.
static const struct template handed = STREAMED(
    "    alloc $w: f32[$P * $M] in shared\n",
    "            for q in 0..$P {\n"
    "                stage $w(u in $P * $M = k * $P + q) { $w[u] = $x[u] + 1 }\n"
    "            }\n",
    "$w");

// Each block makes a tile, its threads fetch what a part of the sum needs. What
// `right` names, of more `arrays`, is made of the second by what `changes` it.
#define GRID(arrays, changes, right)                                           \
    {                                                                          \
        "$a: $t[8 * $N, 8 * $M], $b: $t[8 * $M, 8 * $O]",                      \
            "$c: $t[8 * $N, 8 * $O]",                                          \
            "    alloc $s: $t[8 * $N, 8 * $O] in local\n"                      \
            "    alloc $x: $t[8 * $N, 8 * $M] in shared\n"                     \
            "    alloc $y: $t[8 * $M, 8 * $O] in shared\n" arrays              \
            "    for i in 0..$N @block.y { for j in 0..$O @block.x { "         \
            "for l in 0..8 @thread.x {\n"                                      \
            "        for e in 0..8 {\n"                                        \
            "            stage $z(v in 8 * $N = i * 8 + l, "                   \
            "u in 8 * $O = j * 8 + e) { $s[v, u] = 0 }\n"                      \
            "        }\n"                                                      \
            "        for k in 0..$M {\n"                                       \
            "            for q in 0..8 {\n"                                    \
            "                stage $x(v in 8 * $N = i * 8 + l, "               \
            "u in 8 * $M = k * 8 + q) { $x[v, u] = $a[v, u] }\n"               \
            "            }\n"                                                  \
            "            for p in 0..8 { for q in 0..8 {\n"                    \
            "                stage $y(v in 8 * $M = k * 8 + p, "               \
            "u in 8 * $O = j * 8 + q) { $y[v, u] = $b[v, u] }\n"               \
            "            } }\n" changes                                        \
            "            for e in 0..8 { for q in 0..8 {\n"                    \
            "                stage $p(v in 8 * $N = i * 8 + l, "               \
            "u in 8 * $O = j * 8 + e, reduce r in 8 * $M = k * 8 + q) {\n"     \
            "                    $s[v, u] = $s[v, u] + $x[v, r] * " right      \
            "[r, u]\n"                                                         \
            "                }\n"                                              \
            "            } }\n"                                                \
            "        }\n"                                                      \
            "        for e in 0..8 {\n"                                        \
            "            stage $c(v in 8 * $N = i * 8 + l, "                   \
            "u in 8 * $O = j * 8 + e) { $c[v, u] = $s[v, u] }\n"               \
            "        }\n"                                                      \
            "    } } }\n"                                                      \
    }

// What raster, double_buffer, swizzle and vectorize ask for.
static const struct template grid = GRID("", "", "$y");

// What several calls of pipeline ask for.
static const struct template relay =
    GRID("    alloc $w: $t[8 * $M, 8 * $O] in shared\n",
         "            for p in 0..8 { for q in 0..8 { for g in 0..2 {\n"
         "                stage $w(v in 8 * $M = k * 8 + p, "
         "u in 8 * $O = j * 8 + q, reduce r in 2 = g) {\n"
         "                    init { $w[v, u] = 1 }\n"
         "                    $w[v, u] = $w[v, u] + $y[v, u]\n"
         "                }\n"
         "            } } }\n",
         "$w");

// The blocks of a cluster sum parts, then each adds up those of some columns: what
// distribute finds.
static const struct template cluster = {
    "$a: $t[$N, 8 * $M, 16]", "$c: $t[$N, 16]",
    "    alloc $s: $t[2, $N, 16] in shared\n"
    "    for i in 0..$N @block.x {\n"
    "        for r in 0..2 @cluster.x { for t in 0..16 @thread.x { "
    "for k in 0..4 * $M {\n"
    "            stage $p(u in 2 = r, v in $N = i, w in 16 = t, "
    "reduce q in 4 * $M = k) {\n"
    "                init { $s[u, v, w] = 0 }\n"
    "                $s[u, v, w] = $s[u, v, w] + $a[v, u * (4 * $M) + q, w]\n"
    "            }\n"
    "        } } }\n"
    "        for j in 0..2 @cluster.x { for t in 0..8 @thread.x { "
    "for r in 0..2 {\n"
    "            stage $c(v in $N = i, w in 16 = j * 8 + t, "
    "reduce u in 2 = r) {\n"
    "                init { $c[v, w] = 0 }\n"
    "                $c[v, w] = $c[v, w] + $s[u, v, w]\n"
    "            }\n"
    "        } } }\n"
    "    }\n"};

// A template being filled in.
struct filling {
    struct fuzz_kernel *k;
    const char *type;
    int tiles, others, columns, depth, part;
    const char *names[LETTERS];
};

// Return the name that a letter stands for.
static const char *name_of(struct filling *f, char letter)
{
    const char **name = &f->names[letter - 'a'];
    if (!*name)
        *name = fuzz_name(f->k, (char)toupper(letter));
    return *name;
}

// Append a text of a template.
static void fill(struct filling *f, const char *text, struct buf *out)
{
    for (const char *at = text; *at; at++) {
        if (*at != '$')
            buf_char(out, *at);
        else if (*++at == 'N')
            buf_printf(out, "%d", f->tiles);
        else if (*at == 'M')
            buf_printf(out, "%d", f->others);
        else if (*at == 'K')
            buf_printf(out, "%d", f->depth);
        else if (*at == 'O')
            buf_printf(out, "%d", f->columns);
        else if (*at == 'P')
            buf_printf(out, "%d", f->part);
        else if (*at == 't')
            buf_text(out, f->type);
        else
            buf_text(out, name_of(f, *at));
    }
}

// Append a template with so many tiles; others, at least, of what comes in
// parts.
static void draw(struct fuzz_kernel *k, const struct template *t, int tiles,
                 int others)
{
    struct filling f = {.k = k,
                        .tiles = tiles,
                        .others =
                            others + (int)draw_below(k->random, 4 - others),
                        .columns = 1 + draw_chance(k->random, 40),
                        .type = draw_chance(k->random, 50) ? "f32" : "i32",
                        .part = draw_chance(k->random, 75) ? 8 : 32,
                        .depth = draw_chance(k->random, 50) ? 8 : 16};
    buf_text(&k->params, k->params.n ? ", " : "");
    fill(&f, t->params, &k->params);
    buf_text(&k->results, k->results.n ? ", " : "");
    fill(&f, t->results, &k->results);
    fill(&f, t->body, &k->body);
}

// Return a number of tiles.
static int draw_tiles(struct fuzz_kernel *k)
{
    return 1 + draw_chance(k->random, 40);
}

void fuzz_fragments_draw(struct fuzz_kernel *k)
{
    draw(k, &fragments, draw_tiles(k), 1);
}

void fuzz_bytes_draw(struct fuzz_kernel *k)
{
    draw(k, &bytes, draw_tiles(k), 0);
}

void fuzz_streamed_draw(struct fuzz_kernel *k)
{
    draw(k, &streamed, draw_tiles(k), 1);
}

// Several warpgroups would have to wait for what one of them hands to all.
void fuzz_handed_draw(struct fuzz_kernel *k)
{
    draw(k, &handed, 1, 2);
}

// pingpong asks for one warpgroup, and for a ring: a loop of one iteration is
// none.
void fuzz_pingpong_draw(struct fuzz_kernel *k)
{
    draw(k, &streamed, 1, 2);
}

void fuzz_cluster_draw(struct fuzz_kernel *k)
{
    draw(k, &cluster, draw_tiles(k), 1);
}

void fuzz_grid_draw(struct fuzz_kernel *k)
{
    draw(k, &grid, draw_tiles(k), 1);
}

void fuzz_relay_draw(struct fuzz_kernel *k)
{
    draw(k, &relay, draw_tiles(k), 1);
}
