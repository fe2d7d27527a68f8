/* `ingot doctor` says of each GPU the image that the runtime loads there. */

#include "nvptx/package/ladder.h"
#include "tests/fake_driver/harness.h"

/* The number of the image that the runtime loads on a GPU; -1: none. */
static int loaded_image(const struct sample *sample, int sm)
{
    struct ingot_module *module;
    struct ingot_load load;

    fake_fresh()->sm[0] = sm;
    module = open_sample(sample, 0);
    ingot_preload(module);
    assert_int_equal(ingot_report(module, &load), INGOT_OK);
    ingot_close(module);
    return load.rung == INGOT_RUNG_NONE ? -1 : (int)load.image;
}

/* The number of the image that the doctor names; -1: none. */
static int named_image(const struct sample *sample,
                       const struct ladder_gpu *gpu)
{
    struct fatbin_image images[SAMPLE_IMAGES];
    struct fatbin fatbin = {
        .images = {images, sample->artifact.image_count, SAMPLE_IMAGES}};

    for (size_t i = 0; i < fatbin.images.n; i++) {
        const struct ingot_image *from = &sample->images[i];
        images[i] = (struct fatbin_image){.kind = (enum image_kind)from->kind,
                                          .sm = from->sm,
                                          .suffix = from->suffix,
                                          .bytes = sample->bytes + from->offset,
                                          .size = (size_t)from->size};
    }
    const struct ladder_step step = ladder_find(gpu, &fatbin, 0);
    return step.best ? (int)(step.best - images) : -1;
}

static void is_the_runtimes(void **state)
{
    static const char *const lists[] = {
        "ptx75",
        "cubin80",
        "cubin80 cubin86 ptx75 ptx80",
        "cubin90 cubin90a ptx90",
        "ptx90 cubin90a ptx80",
        "cubin100 cubin100f cubin100a ptx75",
        "cubin100f cubin103 ptx90",
        "cubin120a cubin120 cubin121a",
        "ptx100f ptx90a ptx75",
        "cubin86 cubin80 cubin89 ptx89",
    };
    struct sample sample;
    int runs = 0;

    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        sample_make(&sample, lists[i]);
        for (size_t k = 0; k < ladder_gpu_count; k++) {
            const struct ladder_gpu *gpu = &ladder_gpus[k];
            int loads = loaded_image(&sample, (int)gpu->sm);
            if (loads != named_image(&sample, gpu))
                print_error("%s on sm_%u\n", lists[i], gpu->sm);
            assert_int_equal(named_image(&sample, gpu), loads);
            runs += loads >= 0;
        }
    }
    assert_true(runs > 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_the_runtimes)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
