// Writes the part of a launch function that makes tensor maps:
//
//   {
//       static const struct ingot_tensor tensor = {
//           "A: boxes of [128, 64]", 2, 2, 128, {64, 128}};
//       const int64_t sizes[] = {K, M}, strides[] = {1, K};
//
//       status = ingot_encode(module, stream, &tensor, A, sizes, strides,
//                             &maps[0]);
//       if (status)
//           return status;
//   }
//
// Dimensions count from the innermost one, as the driver has them.

#include "nvptx/package/launch.h"

#include "ir/build.h"
#include "nvptx/package/c_names.h"

// Return the name of the array of a map, as the launch function has it.
static const char *array_name(const struct writer *w,
                              const struct ir_kernel *kernel,
                              const struct ir_map *map)
{
    for (size_t i = 0; i < kernel->params.n; i++)
        if (kernel->params.at[i].buffer == map->buffer)
            return w->kernel->names[i];
    return map->buffer->name;
}

// Append what is the same in all launches.
static void write_tensor(struct writer *w, const struct ir_map *map)
{
    const struct ir_buffer *b = map->buffer;
    buf_text(w->out, "            static const struct ingot_tensor tensor = {\n"
                     "                \"");
    c_string(w->out, b->name);
    buf_text(w->out, ": boxes of [");
    for (uint32_t i = 0; i < b->rank; i++)
        buf_printf(w->out, "%s%u", i ? ", " : "", map->box[i]);
    buf_printf(w->out, "]\", %u, %zu, %u,\n                {", b->rank,
               type_bytes(b->elem), map->swizzle);
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
