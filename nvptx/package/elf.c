// Reads cubins: 64-bit little-endian ELF files with sections of NVIDIA's.
//
//   .symtab           kernels are functions with the entry bit in st_other
//   .text.K           the code of kernel K
//   .nv.shared.K      its static shared memory
//   .nv.info          attributes with a symbol's index: registers, stack
//   .nv.info.K        attributes of K: size of the parameters
//
// Every offset and size is checked against the bytes before it is used.

#include "nvptx/package/elf.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "the headers are read as they stand");

enum {
    MACHINE_CUDA = 190,
    OSABI_CUDA = 0x41,
    OTHER_IS_ENTRY = 0x10,
    SYSTEM_SHARED = 1024,  // bytes that .nv.shared.K includes ...
    SYSTEM_SHARED_SM = 90, // ... from this architecture on
};

// The attributes of .nv.info that are read, and the formats of attributes.
enum {
    INFO_FRAME_SIZE = 0x11,
    INFO_PARAM_SIZE = 0x19,
    INFO_REGISTERS = 0x2f,
    INFO_BARRIERS = 0x4c,
    FORMAT_SIZED = 4,
};

// The file being read.
struct reader {
    struct arena *arena;
    const uint8_t *bytes;
    size_t size;
    Elf64_Ehdr header;
    Elf64_Shdr *sections; // header.e_shnum of them
};

struct kernel_usage usage_unknown(const char *name)
{
    return (struct kernel_usage){name, -1, -1, -1, -1, -1, -1, -1};
}

struct kernel_usage *usage_find(const struct usage_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->at[i].name, name) == 0)
            return &list->at[i];
    return NULL;
}

// Return whether offset..offset + size is inside the file.
static bool is_inside(const struct reader *r, uint64_t offset, uint64_t size)
{
    return offset <= r->size && size <= r->size - offset;
}

// Return whether the header is that of a cubin.
static bool is_cubin(const Elf64_Ehdr *h)
{
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
           h->e_ident[EI_CLASS] == ELFCLASS64 &&
           h->e_ident[EI_DATA] == ELFDATA2LSB &&
           h->e_ident[EI_OSABI] == OSABI_CUDA && h->e_machine == MACHINE_CUDA;
}

// Copy the section table; false if it or a section is not inside the file.
static bool read_sections(struct reader *r)
{
    const Elf64_Ehdr *h = &r->header;
    size_t size = h->e_shnum * sizeof(Elf64_Shdr);
    if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0 ||
        h->e_shstrndx >= h->e_shnum || !is_inside(r, h->e_shoff, size))
        return false;
    r->sections = arena_array(r->arena, Elf64_Shdr, h->e_shnum);
    memcpy(r->sections, r->bytes + h->e_shoff, size);
    for (size_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = &r->sections[i];
        if (s->sh_type != SHT_NOBITS && s->sh_type != SHT_NULL &&
            !is_inside(r, s->sh_offset, s->sh_size))
            return false;
    }
    return true;
}

// Return whether every segment is inside the file.
static bool check_segments(const struct reader *r)
{
    const Elf64_Ehdr *h = &r->header;
    Elf64_Phdr segment;
    if (h->e_phnum == 0)
        return true;
    if (h->e_phentsize != sizeof segment ||
        !is_inside(r, h->e_phoff, h->e_phnum * sizeof segment))
        return false;
    for (size_t i = 0; i < h->e_phnum; i++) {
        memcpy(&segment, r->bytes + h->e_phoff + i * sizeof segment,
               sizeof segment);
        if (!is_inside(r, segment.p_offset, segment.p_filesz))
            return false;
    }
    return true;
}

// Return whether the file ends where its last part does: what stands behind it
// would be another file's.
static bool has_nothing_behind(const struct reader *r)
{
    const Elf64_Ehdr *h = &r->header;
    uint64_t end = h->e_shoff + h->e_shnum * sizeof(Elf64_Shdr);
    uint64_t segments = h->e_phoff + h->e_phnum * sizeof(Elf64_Phdr);
    if (h->e_phnum && segments > end)
        end = segments;
    for (size_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = &r->sections[i];
        uint64_t size = s->sh_type == SHT_NOBITS ? 0 : s->sh_size;
        if (s->sh_type != SHT_NULL && s->sh_offset + size > end)
            end = s->sh_offset + size;
    }
    return end >= r->size;
}

// Return the text at an offset of a string section, or NULL.
static const char *string_at(const struct reader *r, uint32_t section,
                             uint64_t offset)
{
    if (section >= r->header.e_shnum)
        return NULL;
    const Elf64_Shdr *s = &r->sections[section];
    if (s->sh_type != SHT_STRTAB || offset >= s->sh_size)
        return NULL;
    const char *text = (const char *)r->bytes + s->sh_offset + offset;
    return memchr(text, '\0', s->sh_size - offset) ? text : NULL;
}

// Find the section named `prefix` and `name` together, or return NULL.
static const Elf64_Shdr *find_section(const struct reader *r,
                                      const char *prefix, const char *name)
{
    size_t n = strlen(prefix);
    for (size_t i = 0; i < r->header.e_shnum; i++) {
        const Elf64_Shdr *s = &r->sections[i];
        const char *text = string_at(r, r->header.e_shstrndx, s->sh_name);
        if (text && strncmp(text, prefix, n) == 0 &&
            strcmp(text + n, name) == 0)
            return s;
    }
    return NULL;
}

// An attribute of an .nv.info section.
struct attribute {
    uint8_t kind;
    uint16_t word;        // its value, unless the format is FORMAT_SIZED
    const uint8_t *value; // `word` bytes, if the format is FORMAT_SIZED
};

// Step to the next attribute of a section; false at its end or at nonsense.
static bool next_attribute(const struct reader *r, const Elf64_Shdr *section,
                           uint64_t *at, struct attribute *out)
{
    enum { HEAD = 4 };
    const uint8_t *p = r->bytes + section->sh_offset + *at;
    uint64_t left = section->sh_size - *at;
    if (left < HEAD)
        return false;
    out->kind = p[1];
    memcpy(&out->word, p + 2, sizeof out->word);
    out->value = p + HEAD;
    uint64_t size = HEAD + (p[0] == FORMAT_SIZED ? out->word : 0u);
    *at += size;
    return size <= left;
}

// Read the attributes of the whole file: a symbol's index, then a number.
static void read_info(struct reader *r, const char **names, size_t n_names,
                      struct usage_list *kernels)
{
    const Elf64_Shdr *section = find_section(r, ".nv.info", "");
    struct attribute one;
    uint64_t at = 0;
    while (section && section->sh_type != SHT_NOBITS &&
           next_attribute(r, section, &at, &one)) {
        uint32_t pair[2];
        if (one.kind != INFO_REGISTERS && one.kind != INFO_FRAME_SIZE)
            continue;
        if (one.word != sizeof pair)
            continue;
        memcpy(pair, one.value, sizeof pair);
        const char *name = pair[0] < n_names ? names[pair[0]] : NULL;
        struct kernel_usage *k = name ? usage_find(kernels, name) : NULL;
        if (k && one.kind == INFO_REGISTERS)
            k->registers = pair[1];
        if (k && one.kind == INFO_FRAME_SIZE)
            k->stack = pair[1];
    }
}

// Read the attributes of one kernel, and its shared memory.
static void read_kernel(struct reader *r, uint32_t sm, struct kernel_usage *k)
{
    const Elf64_Shdr *shared = find_section(r, ".nv.shared.", k->name);
    const Elf64_Shdr *section = find_section(r, ".nv.info.", k->name);
    int64_t system = sm >= SYSTEM_SHARED_SM ? SYSTEM_SHARED : 0;
    struct attribute one;
    uint64_t at = 0;
    k->shared = shared ? (int64_t)shared->sh_size - system : 0;
    k->parameter_bytes = 0;
    k->barriers = 0;
    while (section && section->sh_type != SHT_NOBITS &&
           next_attribute(r, section, &at, &one)) {
        if (one.kind == INFO_PARAM_SIZE)
            k->parameter_bytes = one.word;
        if (one.kind == INFO_BARRIERS)
            k->barriers = one.word & 0xff;
    }
}

// Return whether a symbol is a kernel whose code is in its own section.
static bool is_kernel(const struct reader *r, const Elf64_Sym *symbol,
                      const char *name)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC ||
        !(symbol->st_other & OTHER_IS_ENTRY) || !name)
        return false;
    return find_section(r, ".text.", name) != NULL;
}

// Read the symbol table and what belongs to its kernels.
static const char *read_symbols(struct reader *r, struct elf_cubin *out)
{
    const Elf64_Shdr *table = find_section(r, ".symtab", "");
    if (!table || table->sh_type != SHT_SYMTAB)
        return "it has no symbol table";
    size_t n = table->sh_size / sizeof(Elf64_Sym);
    const char **names = arena_array(r->arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, r->bytes + table->sh_offset + i * sizeof symbol,
               sizeof symbol);
        names[i] = string_at(r, table->sh_link, symbol.st_name);
        if (is_kernel(r, &symbol, names[i]))
            vec_push(r->arena, &out->kernels, usage_unknown(names[i]));
    }
    read_info(r, names, n, &out->kernels);
    for (size_t i = 0; i < out->kernels.n; i++)
        read_kernel(r, out->sm, &out->kernels.at[i]);
    return NULL;
}

const char *elf_read(struct arena *a, const void *bytes, size_t size,
                     struct elf_cubin *out)
{
    struct reader r = {.arena = a, .bytes = bytes, .size = size};
    *out = (struct elf_cubin){0};
    if (size == 0)
        return "it is empty";
    if (size < sizeof r.header)
        return "it is cut off";
    memcpy(&r.header, bytes, sizeof r.header);
    if (!is_cubin(&r.header))
        return "it is no ELF file for NVIDIA GPUs";
    if (!read_sections(&r) || !check_segments(&r))
        return "a section lies outside of it";
    if (!has_nothing_behind(&r))
        return "something stands behind its end";
    out->sm = r.header.e_flags >> 8 & 0xff;
    out->abi_version = r.header.e_ident[EI_ABIVERSION];
    const Elf64_Shdr *compat = find_section(&r, ".nv.compat", "");
    if (compat && compat->sh_type != SHT_NOBITS) {
        out->compat = r.bytes + compat->sh_offset;
        out->compat_size = compat->sh_size;
    }
    return read_symbols(&r, out);
}

const uint8_t *elf_code(struct arena *a, const void *bytes, size_t size,
                        const char *kernel, size_t *code_size)
{
    struct reader r = {.arena = a, .bytes = bytes, .size = size};
    *code_size = 0;
    if (size < sizeof r.header)
        return NULL;
    memcpy(&r.header, bytes, sizeof r.header);
    if (!is_cubin(&r.header) || !read_sections(&r))
        return NULL;
    const Elf64_Shdr *code = find_section(&r, ".text.", kernel);
    if (!code || code->sh_type == SHT_NOBITS)
        return NULL;
    *code_size = code->sh_size;
    return r.bytes + code->sh_offset;
}
