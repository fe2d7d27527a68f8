// Writes and reads fatbin containers.
//
// The layout of an entry's header, little-endian:
//
//   00 u16  kind                     1c u32  architecture, 90 for sm_90
//   02 u16  0x0101                   20 u32  identifier, its length: 0, 0
//   04 u32  size of this header      28 u64  flags
//   08 u64  size of the payload      30 u64  0
//   10 u32  compressed size: 0       38 u64  uncompressed size: 0
//   14 u32  offset of the options    40      options: u32 offset, u32 size
//   18 u16  minor, u16 major version 48      a NUL, then what `size` counts
//
// Cubins from sm_100 on have a copy of their .nv.compat behind the NUL; older
// ones have no options at all.

#include "nvptx/package/fatbin.h"

#include "nvptx/package/ptx_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    CONTAINER_SIZE = 16,
    CONTAINER_VERSION = 1,
    ENTRY_MARK = 0x0101,
    ENTRY_SIZE = 0x40,
    ENTRY_SIZE_MOST = 4096,
    OPTIONS_AT = ENTRY_SIZE,
    OPTIONS_TEXT_AT = 0x48,
    COMPAT_SM = 100, // first architecture with .nv.compat in the header
    CUBIN_MAJOR = 1,
    PADDING = 8,
    STAMP_SIZE = 24,
    SM_LIMIT = 1000, // the driver fails on absurd architectures
};

#define CONTAINER_MAGIC UINT32_C(0xba55ed50)
#define STAMP_MAGIC     UINT64_C(0x474d49544f474e49) // "INGOTIMG"

enum fatbin_flag {
    FLAG_64_BIT = 0x1,
    FLAG_LINUX = 0x10,
    FLAG_ARCHITECTURE_SPECIFIC = 0x100000, // 'a'
    FLAG_FAMILY_SPECIFIC = 0x200000,       // 'f'
    FLAG_COMPAT = 0x1000000,
    FLAGS_KNOWN = FLAG_64_BIT | FLAG_LINUX | FLAG_ARCHITECTURE_SPECIFIC |
                  FLAG_FAMILY_SPECIFIC | FLAG_COMPAT,
};

void image_name(enum image_kind kind, uint32_t sm, char suffix,
                char out[IMAGE_NAME_SIZE])
{
    snprintf(out, IMAGE_NAME_SIZE, "%s_%u%.1s",
             kind == IMAGE_PTX ? "compute" : "sm", sm, &suffix);
}

uint64_t fatbin_hash(const void *bytes, size_t size)
{
    const uint64_t m = UINT64_C(0xc6a4a7935bd1e995);
    const uint8_t *p = bytes;
    uint64_t h = size * m;
    for (; size > 0; size -= size < 8 ? size : 8, p += 8) {
        uint64_t k = 0;
        memcpy(&k, p, size < 8 ? size : 8);
        if (size >= 8) {
            k *= m;
            k = (k ^ k >> 47) * m;
        }
        h = (h ^ k) * m;
    }
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

// Return `n` rounded up to the padding.
static uint64_t padded(uint64_t n)
{
    return (n + PADDING - 1) / PADDING * PADDING;
}

// Append the low `n` bytes of a number, lowest first.
static void put(struct buf *out, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        buf_char(out, (char)(value >> 8 * i));
}

// Append zeros until `n` bytes follow `from`.
static void pad(struct buf *out, size_t from, uint64_t n)
{
    while (out->n - from < n)
        buf_char(out, 0);
}

// ---- Writing --------------------------------------------------------------

// What the header of an entry says beside the image.
struct entry {
    uint32_t header;       // its size
    unsigned minor, major; // version
    uint64_t flags;
    const uint8_t *options; // what stands behind the options' NUL
    size_t options_size;
};

// Return what the header of an image's entry says.
static struct entry entry_of(struct arena *a, const struct fatbin_image *image)
{
    struct entry e = {.header = ENTRY_SIZE, .flags = FLAG_64_BIT | FLAG_LINUX};
    struct elf_cubin cubin;
    if (image->suffix == 'a')
        e.flags |= FLAG_ARCHITECTURE_SPECIFIC;
    if (image->suffix == 'f')
        e.flags |= FLAG_FAMILY_SPECIFIC;
    if (image->kind == IMAGE_PTX) {
        unsigned version = ptx_version(image->bytes, image->size);
        e.minor = version % 10;
        e.major = version / 10;
        e.header = OPTIONS_TEXT_AT + PADDING;
        return e;
    }
    e.major = CUBIN_MAJOR;
    if (elf_read(a, image->bytes, image->size, &cubin))
        return e;
    e.minor = cubin.abi_version;
    if (image->sm >= COMPAT_SM && cubin.compat) {
        e.flags |= FLAG_COMPAT;
        e.options = cubin.compat;
        e.options_size = cubin.compat_size;
        e.header = (uint32_t)padded(OPTIONS_TEXT_AT + 1 + cubin.compat_size);
    }
    return e;
}

// Append an entry's header, for a payload of that size.
static void write_header(const struct fatbin_image *image,
                         const struct entry *e, struct buf *out)
{
    size_t from = out->n;
    bool has_options = e->header > ENTRY_SIZE;
    put(out, image->kind, 2);
    put(out, ENTRY_MARK, 2);
    put(out, e->header, 4);
    put(out, image->padded, 8);
    put(out, 0, 4);
    put(out, has_options ? OPTIONS_AT : 0, 4);
    put(out, e->minor, 2);
    put(out, e->major, 2);
    put(out, image->sm, 4);
    put(out, 0, 8);
    put(out, e->flags, 8);
    pad(out, from, ENTRY_SIZE);
    if (has_options) {
        put(out, OPTIONS_TEXT_AT, 4);
        put(out, e->options_size, 4);
        put(out, 0, 1);
        buf_bytes(out, e->options, e->options_size);
        pad(out, from, e->header);
    }
}

// Append an entry with its payload.
static void write_entry(struct arena *a, struct fatbin_image *image,
                        struct buf *out)
{
    struct entry e = entry_of(a, image);
    struct buf payload = {0};
    if (image->kind == IMAGE_PTX) {
        ptx_compact(image->bytes, image->size, &payload);
        buf_char(&payload, '\0');
    } else {
        buf_bytes(&payload, image->bytes, image->size);
    }
    pad(&payload, 0, padded(payload.n));
    image->padded = payload.n;
    image->hash = fatbin_hash(payload.data, payload.n);
    write_header(image, &e, out);
    image->offset = out->n;
    buf_bytes(out, payload.data, payload.n);
    buf_free(&payload);
}

void fatbin_write(struct arena *a, struct fatbin_image *images, size_t n,
                  struct buf *out)
{
    struct buf entries = {0};
    for (size_t i = 0; i < n; i++) {
        write_entry(a, &images[i], &entries);
        images[i].offset += CONTAINER_SIZE;
    }
    put(out, CONTAINER_MAGIC, 4);
    put(out, CONTAINER_VERSION, 2);
    put(out, CONTAINER_SIZE, 2);
    put(out, entries.n, 8);
    buf_bytes(out, entries.data, entries.n);
    buf_free(&entries);
}

void fatbin_stamp(uint64_t built, struct buf *out)
{
    uint64_t hash = fatbin_hash(out->data, out->n);
    if (hash == built)
        return;
    put(out, STAMP_MAGIC, 8);
    put(out, built, 8);
    put(out, hash, 8);
}

// ---- Reading --------------------------------------------------------------

// Return the number of `n` bytes, lowest first.
static uint64_t get(const uint8_t *p, int n)
{
    uint64_t value = 0;
    for (int i = n; i-- > 0;)
        value = value << 8 | p[i];
    return value;
}

// Read what the header says of the image.
// Returns NULL or what is malformed.
static const char *read_header(const uint8_t *p, uint64_t left,
                               struct fatbin_image *image, uint64_t *header)
{
    if (left < ENTRY_SIZE)
        return "an entry is cut off";
    *header = get(p + 0x04, 4);
    image->padded = get(p + 0x08, 8);
    uint64_t kind = get(p, 2), flags = get(p + 0x28, 8);
    if (get(p + 0x02, 2) != ENTRY_MARK || *header < ENTRY_SIZE ||
        *header > ENTRY_SIZE_MOST || *header % PADDING != 0)
        return "an entry's header is malformed";
    if (*header > left || image->padded == 0 || image->padded % PADDING != 0 ||
        image->padded > left - *header)
        return "an image is cut off";
    if (kind != IMAGE_PTX && kind != IMAGE_CUBIN)
        return "an image is neither PTX nor a cubin";
    if (get(p + 0x10, 4) != 0 || get(p + 0x38, 8) != 0)
        return "an image is compressed";
    if (flags & ~(uint64_t)FLAGS_KNOWN || !(flags & FLAG_64_BIT) ||
        (flags & FLAG_ARCHITECTURE_SPECIFIC && flags & FLAG_FAMILY_SPECIFIC))
        return "an entry has unknown flags";
    image->kind = (enum image_kind)kind;
    image->sm = (uint32_t)get(p + 0x1c, 4);
    image->suffix = 0;
    if (flags & FLAG_ARCHITECTURE_SPECIFIC)
        image->suffix = 'a';
    if (flags & FLAG_FAMILY_SPECIFIC)
        image->suffix = 'f';
    return image->sm < SM_LIMIT ? NULL : "an entry's architecture is absurd";
}

// Return whether the options of an entry are inside its header.
static bool check_options(const uint8_t *p, uint64_t header)
{
    uint64_t at = get(p + 0x14, 4);
    if (at == 0)
        return get(p + 0x20, 8) == 0;
    if (at != OPTIONS_AT || header < OPTIONS_TEXT_AT + PADDING)
        return false;
    uint64_t text = get(p + at, 4), size = get(p + at + 4, 4);
    return text == OPTIONS_TEXT_AT && p[text] == '\0' &&
           size <= header - OPTIONS_TEXT_AT - 1 && get(p + 0x20, 8) == 0;
}

// Check the payload against what its header says of it.
static const char *check_payload(struct arena *a,
                                 const struct fatbin_image *image)
{
    struct elf_cubin cubin;
    const char *text = image->bytes;
    if (image->kind == IMAGE_CUBIN) {
        const char *fault = elf_read(a, image->bytes, image->padded, &cubin);
        if (fault)
            return "a cubin is malformed";
        return cubin.sm == image->sm ? NULL
                                     : "a cubin is for another architecture "
                                       "than its entry says";
    }
    if (text[0] == '\0' || text[image->padded - 1] != '\0')
        return "a PTX text has no end";
    for (size_t i = image->size; i < image->padded; i++)
        if (text[i] != '\0')
            return "a PTX text holds a NUL";
    return NULL;
}

// Return whether two images of a fatbin are for the same devices.
static bool has_duplicate(const struct fatbin *f,
                          const struct fatbin_image *image)
{
    for (size_t i = 0; i < f->images.n; i++) {
        const struct fatbin_image *other = &f->images.at[i];
        if (other->kind == image->kind && other->sm == image->sm &&
            other->suffix == image->suffix)
            return true;
    }
    return false;
}

// Read the entry at `at` of the fatbin and step over it.
static const char *read_entry(struct arena *a, const uint8_t *bytes,
                              uint64_t size, size_t *at, struct fatbin *out)
{
    struct fatbin_image image = {0};
    uint64_t header;
    const char *fault = read_header(bytes + *at, size - *at, &image, &header);
    if (fault)
        return fault;
    if (!check_options(bytes + *at, header))
        return "an entry's options are malformed";
    image.offset = *at + header;
    image.bytes = bytes + image.offset;
    image.size = image.kind == IMAGE_PTX ? strnlen(image.bytes, image.padded)
                                         : image.padded;
    image.hash = fatbin_hash(image.bytes, image.padded);
    fault = check_payload(a, &image);
    if (fault)
        return fault;
    if (has_duplicate(out, &image))
        return "two images are for the same architecture";
    vec_push(a, &out->images, image);
    *at = image.offset + image.padded;
    return NULL;
}

// Read the stamp, if there is one, and take it off the size.
// Returns NULL or what is malformed.
static const char *read_stamp(const uint8_t *bytes, size_t *size,
                              struct fatbin *out)
{
    const uint8_t *stamp = bytes + *size - STAMP_SIZE;
    if (*size < CONTAINER_SIZE + STAMP_SIZE || get(stamp, 8) != STAMP_MAGIC) {
        out->built = fatbin_hash(bytes, *size);
        return NULL;
    }
    *size -= STAMP_SIZE;
    out->built = get(stamp + 8, 8);
    out->fault_at = *size;
    return get(stamp + 16, 8) == fatbin_hash(bytes, *size)
               ? NULL
               : "its stamp is of other bytes";
}

const char *fatbin_read(struct arena *a, const void *bytes, size_t size,
                        struct fatbin *out)
{
    const uint8_t *p = bytes;
    const char *fault = NULL;
    *out = (struct fatbin){0};
    if (size < CONTAINER_SIZE || get(p, 4) != CONTAINER_MAGIC ||
        get(p + 4, 2) != CONTAINER_VERSION || get(p + 6, 2) != CONTAINER_SIZE)
        return "it is no fatbin";
    fault = read_stamp(p, &size, out);
    if (fault)
        return fault;
    out->fault_at = 0;
    if (get(p + 8, 8) != size - CONTAINER_SIZE)
        return "its size is not the one that its header says";
    out->fault_at = CONTAINER_SIZE;
    while (!fault && out->fault_at < size)
        fault = read_entry(a, p, size, &out->fault_at, out);
    if (!fault && out->images.n == 0)
        fault = "it holds no image";
    return fault;
}

void fatbin_kernels(struct arena *a, const struct fatbin_image *image,
                    struct usage_list *out)
{
    struct elf_cubin cubin = {0};
    if (image->kind == IMAGE_PTX)
        ptx_kernels(a, image->bytes, image->size, out);
    else if (!elf_read(a, image->bytes, image->size, &cubin))
        *out = cubin.kernels;
}
