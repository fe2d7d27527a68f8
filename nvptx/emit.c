// Kernels: each launch becomes an entry of the module.

#include "nvptx/emit.h"

#include "ir/accesses.h"
#include "ir/build.h"
#include "ir/launch_attribute.h"
#include "ir/walk.h"

// Bytes of parameters that every driver can pass.
enum { PARAMETERS_MOST = 4096, MAP_BYTES = 128 };

// A parameter of an entry.
struct VEC_parameters VEC(struct ir_param);

// Return the parameters of a kernel's entries: its own, then the arrays of
// its workspace; its tensor maps come behind these.
static struct VEC_parameters entry_parameters(struct emitter *e)
{
    const struct ir_kernel *kernel = e->kernel;
    struct VEC_parameters all = {0};
    vec_append(e->arena, &all, &kernel->params);
    for (size_t i = 0; i < kernel->body.n; i++) {
        const struct ir_stmt *s = kernel->body.at[i];
        if (s->kind == STMT_alloc)
            vec_push(e->arena, &all, (struct ir_param){NULL, s->u.buffer});
    }
    return all;
}

// Return the LLVM type of a parameter.
static LLVMTypeRef parameter_type(struct emitter *e, const struct ir_param *p)
{
    if (p->var)
        return emit_memory_type(e, p->var->type);
    return LLVMPointerTypeInContext(e->context, space_number(SPACE_global));
}

// Return the bytes that a parameter list takes, each aligned to its size, with
// a number of tensor maps behind it.
static long long parameter_bytes(const struct VEC_parameters *all, size_t maps)
{
    size_t bytes = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct ir_var *var = all->at[i].var;
        size_t size = var ? type_bytes(var->type) : sizeof(uint64_t);
        bytes = (bytes + size - 1) / size * size + size;
    }
    if (maps)
        bytes = (bytes + MAP_BYTES - 1) / MAP_BYTES * MAP_BYTES;
    return (long long)(bytes + maps * MAP_BYTES);
}

// Say what is known about the pointer to an array, parameter `index`.  That no
// other pointer reaches it LLVM takes for other threads, too, and so for the
// calls that are barriers: it is said of arrays alone that nobody writes, or
// whose elements have one thread each.  While a launch waits for the grids
// before it, these may write every array.
static void describe_array(struct emitter *e, unsigned index,
                           const struct ir_buffer *b)
{
    size_t align = b->align ? b->align : type_bytes(b->elem);
    emit_attribute(e->function, index, "align", align);
    if (!map_has(&e->written, b))
        emit_attribute(e->function, index, "readonly", 0);
    if (!e->is_dependent &&
        (!map_has(&e->written, b) || ir_launch_owns(e->launch, b)))
        emit_attribute(e->function, index, "noalias", 0);
}

// Say that a size, parameter `index`, is not negative.
static void describe_size(struct emitter *e, unsigned index)
{
    static const char name[] = "range";
    static const uint64_t least = 0, beyond = UINT64_C(1) << 63;
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAddAttributeAtIndex(e->function, index,
                            LLVMCreateConstantRangeAttribute(
                                e->context, kind, 64, &least, &beyond));
}

// Make a parameter's value known under its variable or array.
static void bind_parameter(struct emitter *e, unsigned index,
                           const struct ir_param *p)
{
    LLVMValueRef value = LLVMGetParam(e->function, index);
    LLVMSetValueName2(value, p->var ? p->var->name : p->buffer->name,
                      strlen(p->var ? p->var->name : p->buffer->name));
    if (p->buffer) {
        describe_array(e, index + 1, p->buffer);
        map_set(&e->arrays, p->buffer, value);
        return;
    }
    if (p->var->type.kind == TYPE_int)
        describe_size(e, index + 1);
    if (p->var->type.kind == TYPE_bool)
        value = emit_convert(e, p->var->type, type_scalar(TYPE_u8), value);
    map_set(&e->values, p->var, value);
}

// Set the launch bounds of the entry.
static void set_bounds(struct emitter *e, const struct ir_launch *launch)
{
    const char *block = arena_printf(e->arena, "%u,%u,%u", launch->block[0],
                                     launch->block[1], launch->block[2]);
    emit_string_attribute(e->function, "nvvm.reqntid", block);
    if (launch->min_blocks)
        emit_string_attribute(e->function, "nvvm.minctasm",
                              arena_printf(e->arena, "%u", launch->min_blocks));
    if (launch->max_registers)
        emit_string_attribute(
            e->function, "nvvm.maxnreg",
            arena_printf(e->arena, "%u", launch->max_registers));
}

// Declare the entry, with its first two blocks; emission goes on in the
// second, the first takes the local arrays.
static void declare_entry(struct emitter *e, const struct ir_launch *launch,
                          const struct VEC_parameters *parameters)
{
    size_t n = parameters->n, maps = e->kernel->maps.n;
    LLVMTypeRef *types = arena_array(e->arena, LLVMTypeRef, n + maps + 1);
    for (size_t i = 0; i < n + maps; i++)
        types[i] =
            i < n ? parameter_type(e, &parameters->at[i]) : emit_map_type(e);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context),
                                        types, (unsigned)(n + maps), false);
    e->function = LLVMAddFunction(e->module, launch->name, type);
    LLVMSetFunctionCallConv(e->function, LLVMPTXKernelCallConv);
    emit_attribute(e->function, LLVMAttributeFunctionIndex, "nounwind", 0);
    if (e->options->no_extra_loads)
        emit_attribute(e->function, LLVMAttributeFunctionIndex,
                       "sanitize_thread", 0);
    set_bounds(e, launch);
    e->allocas = emit_new_block(e, "entry");
    LLVMPositionBuilderAtEnd(e->builder, emit_new_block(e, "body"));
}

// Note the arrays that an entry writes.
static void note_written(struct map *written, const struct ir_block *body)
{
    ir_foreach_stmt(s, body) {
        struct ir_access own[IR_ACCESSES_MOST];
        uint32_t n = ir_accesses(s, own);
        for (uint32_t i = 0; i < n; i++)
            if (own[i].flags & ACCESS_writes)
                map_set(written, own[i].buffer, own[i].buffer);
    }
    ir_foreach_expr_in(x, body)
        if (ir_op_info(x->op)->flags & OP_WRITES)
            map_set(written, x->u.buffer, x->u.buffer);
}

// Forget the entry before, and find what this one writes.
static void begin_entry(struct emitter *e, struct ir_launch *launch)
{
    const struct map empty = {.arena = e->arena};
    e->values = e->leaves = e->depths = empty;
    e->arrays = e->written = e->accumulating = empty;
    e->warp = NULL;
    e->launch = launch;
    e->beside = launch->cluster[1] * launch->cluster[2];
    e->shared = shared_layout(e->arena, launch);
    e->pool = NULL;
    e->is_dependent =
        attribute_in(launch->attributes, ATTRIBUTE_programmatic) &&
        nvptx_target_has(e->options->target, FEATURE_dependency);
    e->is_long = emit_is_long(&launch->body);
    e->is_open = emit_is_open(&launch->body);
    e->is_crowded = emit_is_crowded(&launch->body);
    note_written(&e->written, &launch->body);
}

// Emit one launch.
static void emit_entry(struct emitter *e, struct ir_stmt *s)
{
    struct ir_launch *launch = &s->u.launch;
    struct VEC_parameters parameters = entry_parameters(e);
    begin_entry(e, launch);
    long long bytes = parameter_bytes(&parameters, e->kernel->maps.n);
    if (bytes > PARAMETERS_MOST)
        diag_error(e->diags, e->kernel->span, D_too_many_parameters,
                   e->kernel->name, bytes, (long long)PARAMETERS_MOST);
    declare_entry(e, launch, &parameters);
    emit_lines_entry(e, launch->name,
                     s->span.source ? s->span : e->kernel->span);
    emit_cluster(e, s);
    emit_annotations(e, e->function);
    for (size_t i = 0; i < parameters.n; i++)
        bind_parameter(e, (unsigned)i, &parameters.at[i]);
    for (size_t i = 0; i < e->kernel->maps.n; i++)
        emit_map_parameter(e, (unsigned)(parameters.n + i),
                           e->kernel->maps.at[i]);
    emit_maps_annotation(e, (unsigned)parameters.n, e->kernel->maps.n);
    LLVMBasicBlockRef body = LLVMGetInsertBlock(e->builder);
    emit_warpgroups_begin(e, launch);
    emit_elect_begin(e, launch);
    emit_block(e, &launch->body);
    LLVMBuildRetVoid(e->builder);
    LLVMPositionBuilderAtEnd(e->builder, e->allocas);
    LLVMBuildBr(e->builder, body);
}

bool emit_module(struct emitter *e, const struct ir_kernel *const *kernels,
                 size_t n)
{
    int errors = e->diags->errors;
    emit_lines_begin(e);
    for (size_t i = 0; i < n; i++) {
        e->kernel = kernels[i];
        e->fast_math = e->options->fast_math || e->kernel->fast_math;
        for (size_t k = 0; k < e->kernel->body.n; k++) {
            if (e->kernel->body.at[k]->kind == STMT_launch)
                emit_entry(e, e->kernel->body.at[k]);
        }
    }
    emit_lines_end(e);
    return e->diags->errors == errors;
}
