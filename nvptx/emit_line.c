// Lines: which line of the source each instruction comes from.

#include "nvptx/emit.h"

#include <string.h>

// Only `.loc` and `.file`, no sections: the kind that llvm::DICompileUnit
// calls DebugDirectivesOnly, which the C interface does not name.
enum { DIRECTIVES_ONLY = 3 };

void emit_lines_begin(struct emitter *e)
{
    e->lines.files.arena = e->arena;
    if (e->options->line_info)
        e->lines.builder = LLVMCreateDIBuilder(e->module);
}

// Return the file that stands for a source.
static LLVMMetadataRef file_of(struct emitter *e, const struct source *source)
{
    LLVMMetadataRef file = map_get(&e->lines.files, source);
    if (file)
        return file;
    file = LLVMDIBuilderCreateFile(e->lines.builder, source->name,
                                   strlen(source->name), "", 0);
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

void emit_lines_entry(struct emitter *e, const char *name, struct span span)
{
    LLVMDIBuilderRef b = e->lines.builder;
    e->lines.scope = NULL;
    if (!b || !span.source)
        return;
    LLVMMetadataRef file = file_of(e, span.source);
    unsigned line = source_line(span.source, span.from).number;
    make_unit(e, file);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(b, file, NULL, 0, LLVMDIFlagZero);
    e->lines.file = span.source;
    e->lines.scope = LLVMDIBuilderCreateFunction(
        b, file, name, strlen(name), name, strlen(name), file, line, type,
        false, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(e->function, e->lines.scope);
    LLVMSetCurrentDebugLocation2(e->builder, NULL);
    emit_line(e, span);
}

LLVMMetadataRef emit_line(struct emitter *e, struct span span)
{
    LLVMMetadataRef before = LLVMGetCurrentDebugLocation2(e->builder);
    LLVMMetadataRef scope = e->lines.scope;
    if (!scope || !span.source)
        return before;
    struct source_line line = source_line(span.source, span.from);
    if (span.source != e->lines.file)
        scope = LLVMDIBuilderCreateLexicalBlockFile(e->lines.builder, scope,
                                                    file_of(e, span.source), 0);
    LLVMMetadataRef here = LLVMDIBuilderCreateDebugLocation(
        e->context, line.number, line.column, scope, NULL);
    LLVMSetCurrentDebugLocation2(e->builder, here);
    return before;
}

void emit_line_restore(struct emitter *e, LLVMMetadataRef before)
{
    LLVMSetCurrentDebugLocation2(e->builder, before);
}

void emit_lines_end(struct emitter *e)
{
    if (!e->lines.builder)
        return;
    LLVMDIBuilderFinalize(e->lines.builder);
    LLVMDisposeDIBuilder(e->lines.builder);
}
