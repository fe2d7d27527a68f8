// Writes the part of a launch function that makes tensor maps:
//
//   {
//       static const struct ingot_tensor tensor = {
//           "A: tiles of [128, 64]", 2, 2, 128, 0, {64, 128}};
//       const int64_t sizes[] = {K, M}, strides[] = {1, K};
//
//       status = ingot_encode(module, stream, &tensor, A, sizes, strides,
//                             &maps[0]);
//       if (status)
//           return status;
//   }
//
// Dimensions count from the innermost one, as the driver has them.  The place of
// an array of the workspace is in `arrays`.

#include "nvptx/package/launch.h"

#include "ir/build.h"
#include "nvptx/package/c_names.h"

// Return what the launch function calls the array of a map.
static const char *array_name(const struct writer *w,
                              const struct ir_kernel *kernel,
                              const struct ir_map *map)
{
    size_t n = ir_launch_parameter(kernel, map->buffer);
    return n < kernel->params.n
               ? w->kernel->names[n]
               : arena_printf(w->arena, "arrays[%zu]", n - kernel->params.n);
}

// Append what is the same in all launches.
static void write_tensor(struct writer *w, const struct ir_map *map)
{
    const struct ir_buffer *b = map->buffer;
    buf_text(w->out, "            static const struct ingot_tensor tensor = {\n"
                     "                \"");
    c_string(w->out, b->name);
    buf_text(w->out, ": tiles of [");
    for (uint32_t i = 0; i < b->rank; i++)
        buf_printf(w->out, "%s%u", i ? ", " : "", map->box[i]);
    buf_printf(w->out, "]\", %u, %zu, %u, %d,\n                {", b->rank,
               type_bytes(b->elem), map->swizzle, map->rounds);
    for (uint32_t i = b->rank; i-- > 0;)
        buf_printf(w->out, "%u%s", map->box[i], i ? ", " : "}};\n");
}

// Append `const int64_t NAME[] = {...};`: the sizes of an array, or how far
// neighbours lie apart.
static void write_list(struct writer *w, const struct ir_kernel *kernel,
                       const struct ir_buffer *b, bool are_sizes)
{
    buf_printf(w->out, "            const int64_t %s[] = {",
               are_sizes ? "sizes" : "strides");
    for (uint32_t i = b->rank; i-- > 0;) {
        writer_expr(w, kernel,
                    are_sizes ? b->shape[i] : ir_buffer_stride(w->arena, b, i));
        buf_text(w->out, i ? ", " : "};\n");
    }
}

void launch_maps(struct writer *w, const struct plan_variant *variant)
{
    const struct ir_kernel *kernel = variant->kernel;
    for (size_t i = 0; i < kernel->maps.n; i++) {
        const struct ir_map *map = kernel->maps.at[i];
        buf_text(w->out, "        {\n");
        write_tensor(w, map);
        write_list(w, kernel, map->buffer, true);
        write_list(w, kernel, map->buffer, false);
        buf_printf(w->out,
                   "\n            status = ingot_encode(module, stream, "
                   "&tensor, %s, sizes,\n"
                   "                                  strides, &maps[%zu]);\n"
                   "            if (status)\n"
                   "                return status;\n        }\n",
                   array_name(w, kernel, map), i);
    }
}
