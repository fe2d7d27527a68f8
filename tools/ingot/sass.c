// Reads machine code as nvdisasm writes it:
//
//   .section .text.gemm,"ax",@progbits
//   .L_x_3:
//       //## File "gemm.ing", line 35 inlined at "gemm.ing", line 15
//           /*0af0*/               @P1 BRA `(.L_x_2) ;

#include "tools/ingot/sass.h"

#include "ir/base/map.h"
#include "ir/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A row of sass.def.
struct op_row {
    const char *mnemonic;
    enum sass_class class;
};

static const struct op_row ops[] = {
#define SASS_OP(mnemonic, class) {mnemonic, SASS_##class},
#include "tools/ingot/sass.def"
};
enum { OPS = sizeof ops / sizeof *ops };

const struct sass_class_info *sass_class_info(enum sass_class class)
{
    static const struct sass_class_info rows[] = {
#define SASS_CLASS(name, weight, meaning) {#name, weight, meaning},
#include "tools/ingot/sass.def"
    };
    return &rows[class];
}

// ---- Classes --------------------------------------------------------------

// Return whether the mnemonic of a row fits an opcode, which ends at a blank.
static bool fits(const char *row, const char *opcode)
{
    size_t n = strcspn(row, "*");
    if (strncmp(row, opcode, n) != 0)
        return false;
    if (!row[n])
        return strchr(". ", opcode[n]) != NULL;
    const char *rest = row + n + 1;
    size_t end = strcspn(opcode, ". "), length = strlen(rest);
    return end >= n + length &&
           strncmp(opcode + end - length, rest, length) == 0;
}

// Return the class of an opcode.
static enum sass_class class_of(const char *opcode)
{
    enum sass_class best = SASS_other;
    size_t longest = 0;
    for (size_t i = 0; i < OPS; i++) {
        size_t n = strlen(ops[i].mnemonic);
        if (n > longest && fits(ops[i].mnemonic, opcode)) {
            longest = n;
            best = ops[i].class;
        }
    }
    return best;
}

// ---- Reading --------------------------------------------------------------

// The state of reading.
struct reading {
    struct arena *arena;
    struct str_table names;
    struct map labels; // names -> the instruction behind, counted from 1
    struct sass_places places;
    bool has_new_places;
    struct VEC(const char *) targets; // of the instructions of the kernel
    struct sass_kernels out;
};

// Return the kernel that is read, or NULL.
static struct sass_kernel *newest(struct reading *r)
{
    return r->out.n ? &r->out.at[r->out.n - 1] : NULL;
}

// Turn the labels that the kernel's instructions name into instructions.
static void end_kernel(struct reading *r)
{
    struct sass_kernel *k = newest(r);
    for (size_t i = 0; k && i < k->code.n; i++) {
        const char *name = r->targets.at[i];
        uintptr_t at = name ? (uintptr_t)map_get(&r->labels, name) : 0;
        bool is_known = at && at <= k->code.n;
        k->code.at[i].target = is_known ? (int32_t)at - 1 : -1;
    }
    r->targets.n = 0;
    r->places.n = 0;
}

// Begin the kernel of a line `.section .text.NAME,...`.
static void begin_kernel(struct reading *r, const char *name)
{
    end_kernel(r);
    struct sass_kernel k = {0};
    k.name = arena_copy(r->arena, name, strcspn(name, ",\""));
    vec_push(r->arena, &r->out, k);
}

// Read the label of a line `NAME:`.
static void read_label(struct reading *r, const char *line)
{
    map_set(&r->labels, str_intern(&r->names, line, strcspn(line, ":")),
            (void *)(uintptr_t)(newest(r)->code.n + 1));
}

// Read the place of a line `//## File "F", line N [inlined at ...]`; lines that
// follow one another tell of one instruction.
static void read_place(struct reading *r, const char *line)
{
    char file[1024];
    struct sass_place place;
    if (sscanf(line, "//## File \"%1023[^\"]\", line %u", file, &place.line) !=
        2)
        return;
    if (!r->has_new_places)
        r->places = (struct sass_places){0};
    r->has_new_places = true;
    place.file = str_name(&r->names, file);
    vec_push(r->arena, &r->places, place);
}

// Return the text of an instruction, behind its address and up to the
// semicolon.
static const char *instr_text(struct arena *a, const char *line)
{
    const char *text = strstr(line, "*/") + 2;
    text += strspn(text, " \t{");
    size_t n = strcspn(text, ";}");
    while (n && text[n - 1] == ' ')
        n--;
    return arena_copy(a, text, n);
}

// Return the opcode of an instruction, behind its predicate.
static const char *opcode_of(const char *text)
{
    if (*text != '@')
        return text;
    text += strcspn(text, " ");
    return text + strspn(text, " ");
}

// Read the instruction of a line `/*ADDRESS*/ INSTRUCTION ;`.
static void read_instr(struct reading *r, const char *line)
{
    struct sass_instr i = {.target = -1, .places = r->places};
    i.at = (uint32_t)strtoul(line + 2, NULL, 16);
    i.text = instr_text(r->arena, line);
    const char *opcode = opcode_of(i.text), *target = NULL;
    const char *label = strstr(opcode, "`(");
    bool is_branch = label && strncmp(opcode, "BRA", 3) == 0;
    bool is_end = strncmp(opcode, "EXIT", 4) == 0 ||
                  strncmp(opcode, "RET", 3) == 0 ||
                  (is_branch && !strchr(opcode, ','));
    bool is_never = strncmp(i.text, "@!PT ", 5) == 0;
    i.class = is_never ? SASS_other : class_of(opcode);
    i.is_last = is_end && *i.text != '@';
    if (is_branch)
        target = str_intern(&r->names, label + 2, strcspn(label + 2, ")"));
    vec_push(r->arena, &newest(r)->code, i);
    vec_push(r->arena, &r->targets, target);
    r->has_new_places = false;
}

// Read a line.
static void read_line(struct reading *r, const char *line)
{
    static const char section[] = ".section\t.text.";
    const char *text = line + strspn(line, " \t");
    if (strncmp(text, section, sizeof section - 1) == 0)
        begin_kernel(r, text + sizeof section - 1);
    else if (!newest(r))
        return;
    else if (strncmp(text, "//## ", 5) == 0)
        read_place(r, text);
    else if (strncmp(text, "/*", 2) == 0 && strstr(text, "*/") &&
             strchr(text, ';'))
        read_instr(r, text);
    else if (*line == '.' && line[strlen(line) - 1] == ':')
        read_label(r, line);
}

struct sass_kernels sass_read(struct arena *a, const char *text)
{
    struct reading r = {.arena = a, .names.arena = a, .labels.arena = a};
    while (*text) {
        size_t n = strcspn(text, "\n");
        read_line(&r, arena_copy(a, text, n));
        text += n + (text[n] == '\n');
    }
    end_kernel(&r);
    return r.out;
}
