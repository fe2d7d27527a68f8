// Axes, parameters and the text of a kernel.

#include "tests/fuzz/schedule/kernel.h"

#include "tests/support/draw.h"

// How many iterations a nest over all axes may have.
enum { WORK_MOST = 3000 };

// Return an extent: small, around powers of two, prime.
static int64_t draw_extent(struct fuzz_kernel *k)
{
    static const int64_t extents[] = {0,  1,  1,  2,   3,   5,   7,   11,
                                      13, 16, 17, 31,  32,  33,  37,  63,
                                      64, 65, 97, 101, 127, 128, 130, 257};
    return draw_one(k->random, extents);
}

// Give the axes values that make a nest over all of them small enough.
static void draw_values(struct fuzz_kernel *k, unsigned set)
{
    int64_t product = WORK_MOST + 1;
    while (product > WORK_MOST) {
        product = 1;
        for (uint32_t i = 0; i < k->n_axes; i++) {
            struct fuzz_axis *x = &k->axes[i];
            x->values[set] =
                x->is_open || set == 0 ? draw_extent(k) : x->values[0];
            product *= x->values[set] + 2;
        }
    }
}

// Return whether an axis is zero in some set of values.
static bool may_be_empty(const struct fuzz_kernel *k, const struct fuzz_axis *x)
{
    bool empty = false;
    for (unsigned i = 0; i < k->n_sets; i++)
        empty |= x->values[i] == 0;
    return empty;
}

// Return the type of a size, one that holds a little more than its values.
static struct type draw_size_type(struct fuzz_kernel *k,
                                  const struct fuzz_axis *x)
{
    static const enum type_kind kinds[] = {TYPE_i8,  TYPE_u8,  TYPE_i16,
                                           TYPE_u16, TYPE_i32, TYPE_u32,
                                           TYPE_i64, TYPE_int, TYPE_int};
    static const int64_t wide = 400;
    struct type t = type_scalar(draw_one(k->random, kinds));
    int64_t room = type_bits(t) > 8 ? wide : type_is_signed(t) ? 100 : 220;
    bool fits = draw_chance(k->random, 30);
    for (unsigned i = 0; i < k->n_sets; i++)
        fits = fits && x->values[i] < room;
    return fits ? t : type_scalar(TYPE_int);
}

// Say of an open axis, sometimes, what the caller promises.
static void draw_where(struct fuzz_kernel *k, const struct fuzz_axis *x)
{
    static const int factors[] = {2, 4, 8, 16};
    int factor = draw_one(k->random, factors);
    buf_text(&k->where, k->where.n ? ", " : "");
    if (x->values[0] % factor == 0)
        buf_printf(&k->where, "%s %% %d == 0", x->extent, factor);
    else if (!may_be_empty(k, x) && draw_chance(k->random, 50))
        buf_printf(&k->where, "%s >= 1", x->extent);
    else
        buf_printf(&k->where, "%s < 1000", x->extent);
}

// Draw the axes and the values of those that are sizes.
static void draw_axes(struct fuzz_kernel *k)
{
    static const char *const names[FUZZ_AXES] = {"n", "m", "k", "l"};
    static const uint32_t counts[] = {1, 1, 2, 2, 2, 2, 3, 3, 3, 4};
    k->n_axes = draw_one(k->random, counts);
    for (uint32_t i = 0; i < k->n_axes; i++)
        k->axes[i] = (struct fuzz_axis){.extent = names[i],
                                        .is_open = draw_chance(k->random, 65),
                                        .type = type_scalar(TYPE_int)};
    k->n_sets = 1;
    for (uint32_t i = 0; i < k->n_axes; i++)
        k->n_sets += k->axes[i].is_open && k->n_sets < FUZZ_SETS;
    for (unsigned set = 0; set < k->n_sets; set++)
        draw_values(k, set);
    for (uint32_t i = 0; i < k->n_axes; i++) {
        struct fuzz_axis *x = &k->axes[i];
        if (!x->is_open) {
            x->values[0] += x->values[0] == 0;
            x->values[1] = x->values[2] = x->values[0];
            x->extent = arena_printf(k->arena, "%lld", (long long)x->values[0]);
        } else if (draw_chance(k->random, 12)) {
            draw_where(k, x);
        } else {
            x->type = draw_size_type(k, x);
        }
    }
}

const char *fuzz_name(struct fuzz_kernel *k, char letter)
{
    return arena_printf(k->arena, "%c%u", letter, k->n_names++);
}

void fuzz_dim_print(const struct fuzz_kernel *k, struct fuzz_dim d,
                    struct buf *out)
{
    buf_text(out, k->axes[d.axis].extent);
    if (d.extra)
        buf_printf(out, " + %u", d.extra);
}

struct type fuzz_integer(struct fuzz_kernel *k)
{
    static const enum type_kind kinds[] = {TYPE_i8,  TYPE_i16, TYPE_i32,
                                           TYPE_i64, TYPE_u8,  TYPE_u16,
                                           TYPE_u32, TYPE_u64, TYPE_int};
    return type_scalar(draw_one(k->random, kinds));
}

const char *fuzz_number(struct fuzz_kernel *k)
{
    const char *name = fuzz_name(k, 'p');
    buf_printf(&k->params, "%s%s: %s", k->params.n ? ", " : "", name,
               type_name(fuzz_integer(k)));
    return name;
}

void fuzz_element(struct fuzz_kernel *k, const struct fuzz_array *a,
                  const char *index, struct buf *out)
{
    bool converts = !type_equal(a->type, k->type);
    if (converts)
        buf_printf(out, "%s(", type_name(k->type));
    buf_printf(out, "%s[%s]%s", a->name, index, converts ? ")" : "");
}

// Let the rows of a parameter, at times, lie so far apart that 32 bits do not
// count its elements.
static void draw_strides(struct fuzz_kernel *k, uint32_t rank, struct buf *out)
{
    if (!k->is_strided || rank < 2)
        return;
    buf_text(out, " strides [");
    for (uint32_t i = 0; i + 1 < rank; i++)
        buf_printf(out, "%s, ",
                   i == 0   ? "3000000019"
                   : i == 1 ? "70001"
                            : "257");
    buf_text(out, "1]");
}

struct fuzz_array *fuzz_parameter(struct fuzz_kernel *k, char letter,
                                  uint32_t rank, const struct fuzz_dim *dims)
{
    struct fuzz_array *a = &k->arrays[k->n_arrays++];
    struct buf *out = letter == 'C' ? &k->results : &k->params;
    *a = (struct fuzz_array){
        .name = fuzz_name(k, letter),
        .type = letter == 'A' && k->is_mixed ? fuzz_integer(k) : k->type,
        .rank = rank,
        .most = fuzz_exact(k->type) > 4096 ? 7 : 3};
    buf_printf(out, "%s%s: %s[", out->n ? ", " : "", a->name,
               type_name(a->type));
    for (uint32_t i = 0; i < rank; i++) {
        a->dims[i] = dims[i];
        buf_text(out, i ? ", " : "");
        fuzz_dim_print(k, dims[i], out);
    }
    buf_text(out, "]");
    draw_strides(k, rank, out);
    buf_text(out, letter == 'X' ? " inout" : "");
    return a;
}

// Return the type of a part's elements.
static struct type draw_type(struct fuzz_kernel *k)
{
    static const enum type_kind kinds[] = {
        TYPE_i32, TYPE_i32, TYPE_i32, TYPE_i32, TYPE_i32, TYPE_i32,
        TYPE_f32, TYPE_f32, TYPE_f32, TYPE_i64, TYPE_f16, TYPE_bf16,
        TYPE_f64, TYPE_i8,  TYPE_u8,  TYPE_i16, TYPE_u32};
    return draw_chance(k->random, 25) ? fuzz_integer(k)
                                      : type_scalar(draw_one(k->random, kinds));
}

// Return the kernel as text.
static const char *print(struct fuzz_kernel *k)
{
    struct buf sizes = {0}, out = {0};
    for (uint32_t i = 0; i < k->n_axes; i++)
        if (k->axes[i].is_open)
            buf_printf(&sizes, "%s: %s, ", k->axes[i].extent,
                       type_name(k->axes[i].type));
    buf_printf(&out, "kernel f(%s%s)", sizes.n ? sizes.data : "",
               k->params.n ? k->params.data : "unused: i32");
    if (k->results.n)
        buf_printf(&out, "\n    -> (%s)", k->results.data);
    if (k->where.n)
        buf_printf(&out, "\n    where %s", k->where.data);
    if (k->is_rounded)
        buf_text(&out, "\n    tolerance 1e-4");
    buf_printf(&out, "\n{\n%s}\n", k->body.data);
    const char *text = arena_copy(k->arena, out.data, out.n);
    buf_free(&out);
    buf_free(&sizes);
    return text;
}

const char *fuzz_kernel_draw(struct fuzz_kernel *k,
                             const enum fuzz_kind kinds[FUZZ_PARTS])
{
    draw_axes(k);
    k->is_strided = draw_below(k->random, 80) == 0;
    for (int i = 0; i < FUZZ_PARTS; i++) {
        if (kinds[i] == KIND_COUNT)
            continue;
        k->first = k->n_arrays;
        k->type = draw_type(k);
        k->is_mixed = type_is_integer(k->type) && draw_chance(k->random, 40);
        k->kinds |= 1u << kinds[i];
        fuzz_part_draw(k, kinds[i]);
    }
    const char *text = print(k);
    buf_free(&k->params);
    buf_free(&k->results);
    buf_free(&k->where);
    buf_free(&k->body);
    return text;
}
