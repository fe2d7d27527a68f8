/* fatbin.c: the runtime's strict reader on arbitrary bytes.
 *
 * The tables say what the bytes say, as far as those make sense, so that the
 * reader has no easy reason to refuse.  Both the bytes and the copies that a
 * load would make lie in blocks of exactly their size. */

#include "runtime/ingot.c"

enum { FUZZ_IMAGES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Describes the entries that `bytes` seem to hold; the number of them. */
static uint32_t describe_entries(const unsigned char *bytes, uint64_t size,
                                 struct ingot_image *images)
{
    uint64_t at = CONTAINER_HEADER, flags;
    uint32_t count = 0;

    while (count < FUZZ_IMAGES && at + ENTRY_HEADER <= size) {
        struct ingot_image *image = &images[count++];
        const unsigned char *entry = bytes + at;

        flags = number(entry + 40, 8);
        image->kind = (uint32_t)number(entry, 2);
        image->sm = (uint32_t)number(entry + 28, 4);
        image->suffix = flags & FLAG_A ? 'a' : flags & FLAG_F ? 'f' : '\0';
        image->offset = at + number(entry + 4, 4);
        image->size = number(entry + 8, 8);
        if (!is_inside(image->offset, image->size, size))
            break;
        at = image->offset + image->size;
    }
    return count;
}

/* Looks at image `i` of a good fatbin again, as a load does. */
static void read_alone(const struct ingot_module *module, uint32_t i)
{
    const struct ingot_image *image = &module->images[i];
    uint64_t start = i ? image[-1].offset + image[-1].size : CONTAINER_HEADER;
    uint64_t size = image->offset + image->size - start;
    unsigned char *copy = malloc(size);

    if (!copy)
        return;
    memcpy(copy, module->fatbin + start, size);
    if (entry_fault(copy, size, start, image))
        abort();
    if (image->kind == INGOT_PTX &&
        strlen((char *)copy + size - image->size) >= image->size &&
        number(copy + size - image->size, 4) != ZSTD_MAGIC)
        abort();
    free(copy);
}

/* Makes the stamp that `bytes` may end with one of the artefact, and right. */
static void fit_stamp(unsigned char *bytes, size_t size,
                      struct ingot_artifact *artifact)
{
    uint64_t hash;

    if (!stamp_of(bytes, size))
        return;
    hash = ingot_hash(bytes, size - STAMP_SIZE);
    memcpy(bytes + size - 8, &hash, 8);
    artifact->fatbin_hash = number(bytes + size - 16, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct ingot_entry entry = {"k", 0, NULL, 0, 0, 0, 0, 0};
    struct ingot_image images[FUZZ_IMAGES] = {{0}};
    struct ingot_artifact artifact = {
        INGOT_ABI, "fuzz", size, ingot_hash(data, size), 0, images, 1, &entry};
    struct ingot_module *module;
    unsigned char *bytes = malloc(size ? size : 1);
    uint32_t i;

    if (!bytes)
        return 0;
    memcpy(bytes, data, size);
    artifact.image_count = describe_entries(bytes, size, images);
    fit_stamp(bytes, size, &artifact);
    if (!ingot_open(&module, &artifact, bytes, size, NULL))
        for (i = 0; i < module->image_count; i++)
            read_alone(module, i);
    ingot_close(module);
    free(bytes);
    return 0;
}
