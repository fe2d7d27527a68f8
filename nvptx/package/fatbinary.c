// Runs fatbinary on files in memory.

#include "nvptx/package/fatbinary.h"

#include "nvptx/tool.h"

enum { OPTIONS = 4, FIRST_FILE = 3 };

// Return the option for an image that the tool finds at /dev/fd/`file`.
static const char *image_option(struct arena *a,
                                const struct fatbin_image *image, size_t file)
{
    return arena_printf(a, "--image3=kind=%s,sm=%u%.1s,file=/dev/fd/%zu",
                        image->kind == IMAGE_PTX ? "ptx" : "elf", image->sm,
                        &image->suffix, file);
}

bool fatbinary_run(struct arena *a, const char *path,
                   const struct fatbin_image *images, size_t n,
                   struct diag_list *diags, struct buf *out)
{
    const char **argv = arena_array(a, const char *, OPTIONS + n + 1);
    struct process_input *inputs = arena_array(a, struct process_input, n + 1);
    argv[0] = path;
    argv[1] = "--compress=false";
    argv[2] = "--create=/dev/stdout";
    argv[3] = "-64";
    inputs[0] = (struct process_input){"", 0};
    for (size_t i = 0; i < n; i++) {
        argv[OPTIONS + i] = image_option(a, &images[i], FIRST_FILE + i);
        inputs[1 + i] = (struct process_input){images[i].bytes, images[i].size};
    }
    struct process p = {.argv = argv, .inputs = inputs, .n_inputs = n + 1};
    process_run(a, &p, 1);
    bool ok = p.end == PROCESS_EXITED && p.code == 0;
    if (ok)
        buf_bytes(out, p.output.data, p.output.n);
    else
        tool_report(a, &p, "fatbinary", diags);
    process_free(&p);
    return ok;
}
