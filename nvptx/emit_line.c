// Lines: which line of the source each instruction comes from.
//
// What a directive made counts as a function of that name inlined at the line
// of the kernel, so that tools show both.

#include "nvptx/emit.h"

#include <string.h>

// Only `.loc` and `.file`, no sections: the kind that llvm::DICompileUnit
// calls DebugDirectivesOnly, which the C interface does not name.
enum { DIRECTIVES_ONLY = 3 };

void emit_lines_begin(struct emitter *e)
{
    e->lines.files.arena = e->lines.directives.arena = e->arena;
    if (e->options->line_info)
        e->lines.builder = LLVMCreateDIBuilder(e->module);
}

// Return the file that stands for a source.
static LLVMMetadataRef file_of(struct emitter *e, const struct source *source)
{
    LLVMMetadataRef file = map_get(&e->lines.files, source);
    if (file)
        return file;
    const char *name = nvptx_mapped_path(e->arena, e->options->path_maps,
                                         e->options->n_path_maps, source->name);
    file = LLVMDIBuilderCreateFile(e->lines.builder, name, strlen(name), "", 0);
    map_set(&e->lines.files, source, file);
    return file;
}

// Add an integer that describes the whole module.
static void add_flag(struct emitter *e, const char *name, int64_t value)
{
    LLVMValueRef v = emit_int(e, type_scalar(TYPE_u32), value);
    LLVMAddModuleFlag(e->module, LLVMModuleFlagBehaviorWarning, name,
                      strlen(name), LLVMValueAsMetadata(v));
}

// Make the compile unit, once.
static void make_unit(struct emitter *e, LLVMMetadataRef file)
{
    static const char producer[] = "ingot";
    if (e->lines.unit)
        return;
    e->lines.unit = LLVMDIBuilderCreateCompileUnit(
        e->lines.builder, LLVMDWARFSourceLanguageC, file, producer,
        sizeof producer - 1, true, "", 0, 0, "", 0,
        (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0, false, false, "", 0, "", 0);
    add_flag(e, "Debug Info Version", 3);
    add_flag(e, "Dwarf Version", 2);
}

// Return a function that is defined at `span`.
static LLVMMetadataRef make_function(struct emitter *e, const char *name,
                                     size_t n, struct span span)
{
    LLVMDIBuilderRef b = e->lines.builder;
    LLVMMetadataRef file = file_of(e, span.source);
    unsigned line = source_line(span.source, span.from).number;
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(b, file, NULL, 0, LLVMDIFlagZero);
    return LLVMDIBuilderCreateFunction(b, file, name, n, name, n, file, line,
                                       type, false, true, line, LLVMDIFlagZero,
                                       true);
}

void emit_lines_entry(struct emitter *e, const char *name, struct span span)
{
    e->lines.scope = NULL;
    e->lines.by = (struct span){0};
    if (!e->lines.builder || !span.source)
        return;
    make_unit(e, file_of(e, span.source));
    e->lines.file = span.source;
    e->lines.scope = make_function(e, name, strlen(name), span);
    LLVMSetSubprogram(e->function, e->lines.scope);
    LLVMSetCurrentDebugLocation2(e->builder, NULL);
    emit_line(e, span);
}

// Return the function that stands for a directive, named after it.
static LLVMMetadataRef function_of(struct emitter *e, struct span by)
{
    const char *text = by.source->text + by.from;
    LLVMMetadataRef function = map_get(&e->lines.directives, text);
    if (function)
        return function;
    function = make_function(e, text, strcspn(text, "( \n"), by);
    map_set(&e->lines.directives, text, function);
    return function;
}

// Return a place in a function, which was inlined at another one or at NULL.
static LLVMMetadataRef location(struct emitter *e, LLVMMetadataRef function,
                                struct span span, LLVMMetadataRef inlined_at)
{
    struct source_line line = source_line(span.source, span.from);
    return LLVMDIBuilderCreateDebugLocation(e->context, line.number,
                                            line.column, function, inlined_at);
}

struct emit_place emit_line(struct emitter *e, struct span span)
{
    struct emit_lines *l = &e->lines;
    struct emit_place before = {LLVMGetCurrentDebugLocation2(e->builder),
                                l->by};
    LLVMMetadataRef scope = l->scope;
    if (!scope || !span.source)
        return before;
    if (span.source != l->file)
        scope = LLVMDIBuilderCreateLexicalBlockFile(l->builder, scope,
                                                    file_of(e, span.source), 0);
    LLVMMetadataRef here = location(e, scope, span, NULL);
    if (l->by.source)
        here = location(e, function_of(e, l->by), l->by, here);
    LLVMSetCurrentDebugLocation2(e->builder, here);
    return before;
}

struct emit_place emit_line_stmt(struct emitter *e, const struct ir_stmt *s)
{
    struct span before = e->lines.by;
    bool is_placed = s->span.source || !s->by.source;
    e->lines.by = s->by;
    struct emit_place place =
        emit_line(e, is_placed ? s->span : e->kernel->span);
    place.by = before;
    return place;
}

void emit_line_restore(struct emitter *e, struct emit_place before)
{
    LLVMSetCurrentDebugLocation2(e->builder, before.line);
    e->lines.by = before.by;
}

void emit_lines_end(struct emitter *e)
{
    if (!e->lines.builder)
        return;
    LLVMDIBuilderFinalize(e->lines.builder);
    LLVMDisposeDIBuilder(e->lines.builder);
}
