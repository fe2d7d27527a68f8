// Go: a package that calls the functions of the C file by cgo.
//
// Each package brings the runtime, and go links all into one program: so its
// functions, which keep nothing, are weak.

#include "nvptx/package/bindings/bindings.h"

#include <ctype.h>

static const char head[] =
    "import \"C\"\n"
    "\n"
    "import \"unsafe\"\n"
    "\n"
    "// Error is a call that failed: the status of ingot.h, and its text.\n"
    "type Error struct {\n"
    "\tStatus int\n"
    "\tText   string\n"
    "}\n"
    "\n"
    "func (e *Error) Error() string { return e.Text }\n"
    "\n"
    "// Array is memory of the GPU: its address and its bytes.\n"
    "type Array struct {\n"
    "\tAddress uintptr\n"
    "\tBytes   uint64\n"
    "}\n"
    "\n"
    "// Options are what may be asked for at open.\n"
    "type Options struct {\n"
    "\tDriver string // the path of the driver, for tests\n"
    "\tDevice int32  // used where the thread has no context\n"
    "\tFlags  uint32 // enum ingot_flag\n"
    "}\n"
    "\n"
    "// Module has the kernels, loaded. Any goroutine may use it.\n"
    "type Module struct {\n"
    "\tmodule *C.struct_ingot_module\n"
    "\tdriver *C.char\n"
    "\tfatbin unsafe.Pointer\n"
    "}\n"
    "\n"
    "// OpenFile opens a fatbin; Close is due if there is no error.\n"
    "func OpenFile(path string, options Options) (*Module, error) {\n"
    "\tm := &Module{driver: C.CString(options.Driver)}\n"
    "\tcPath := C.CString(path)\n"
    "\tdefer C.free(unsafe.Pointer(cPath))\n"
    "\treturn m.opened(C.bound_open_file(&m.module, cPath, m.driver, "
    "C.int32_t(options.Device), C.uint32_t(options.Flags)))\n"
    "}\n"
    "\n"
    "// Open opens a fatbin that the program holds (go:embed), and copies it; "
    "Close is due if there is no error.\n"
    "func Open(fatbin []byte, options Options) (*Module, error) {\n"
    "\tm := &Module{driver: C.CString(options.Driver), "
    "fatbin: C.CBytes(fatbin)}\n"
    "\treturn m.opened(C.bound_open(&m.module, m.fatbin, "
    "C.size_t(len(fatbin)), m.driver, "
    "C.int32_t(options.Device), C.uint32_t(options.Flags)))\n"
    "}\n"
    "\n"
    "// opened closes a module that could not be opened.\n"
    "func (m *Module) opened(status C.int) (*Module, error) {\n"
    "\tif err := m.check(status); err != nil {\n"
    "\t\tm.Close()\n"
    "\t\treturn nil, err\n"
    "\t}\n"
    "\treturn m, nil\n"
    "}\n"
    "\n"
    "// Close unloads all; twice does no harm.\n"
    "func (m *Module) Close() {\n"
    "\tC.ingot_close(m.module)\n"
    "\tC.free(unsafe.Pointer(m.driver))\n"
    "\tC.free(m.fatbin)\n"
    "\tm.module, m.driver, m.fatbin = nil, nil, nil\n"
    "}\n"
    "\n"
    "// Preload loads now, not at the first launch.\n"
    "func (m *Module) Preload() error {\n"
    "\treturn m.check(C.int(C.ingot_preload(m.module)))\n"
    "}\n"
    "\n"
    "func (m *Module) check(status C.int) error {\n"
    "\tif status == 0 {\n"
    "\t\treturn nil\n"
    "\t}\n"
    "\tvar text [C.INGOT_TEXT_SIZE]C.char\n"
    "\tC.ingot_error_text(m.module, &text[0], C.INGOT_TEXT_SIZE)\n"
    "\treturn &Error{int(status), C.GoString(&text[0])}\n"
    "}\n"
    "\n"
    "// holds returns an error unless an array has as many bytes as are wanted,\n"
    "// which the launch refuses itself if they are too many to count.\n"
    "func (a Array) holds(wanted C.size_t, what string) error {\n"
    "\tif uint64(wanted) == 1<<64-1 || a.Bytes >= uint64(wanted) {\n"
    "\t\treturn nil\n"
    "\t}\n"
    "\treturn &Error{int(C.INGOT_BAD_SIZE), what + \": the array is too small\"}\n"
    "}\n";

// Words that are no names of parameters, and names that the functions use.
static const char *const taken[] = {
    "break",   "case",      "chan",        "const",     "continue", "default",
    "defer",   "else",      "fallthrough", "for",       "func",     "go",
    "goto",    "if",        "import",      "interface", "map",      "package",
    "range",   "return",    "select",      "struct",    "switch",   "type",
    "var",     "C",         "m",           "err",       "error",    "nil",
    "uintptr", "workspace", "stream",      NULL};

// Return a name that other packages can use: its first letter is a capital.
static const char *exported(struct arena *a, const char *name)
{
    static const char *const methods[] = {"Close", "Preload", NULL};
    char *copy = arena_printf(a, "%s", name);
    *copy = (char)toupper((unsigned char)*copy);
    return bound_free(a, copy, methods);
}

// Append a type of C as the C function between Go and the launch has it:
// addresses and bits are integers, which Go does not look into.
static const char *plain(const struct bound_parameter *p)
{
    if (p->is_array)
        return "uintptr_t";
    if (p->type->c[0] != 'i' || p->type->c[1] != 'n' || p->type->c[2] != 'g')
        return p->type->c;
    return p->type->bytes == 2 ? "uint16_t" : "uint8_t";
}

// Append the C function between Go and a launch.
static void write_between(const struct bound_kernel *k, struct buf *out)
{
    buf_printf(out,
               "static int bound_%s(struct ingot_module *module, uintptr_t "
               "stream",
               k->c_name);
    for (size_t i = 0; i < k->parameters.n; i++)
        buf_printf(out, ", %s p%zu", plain(&k->parameters.at[i]), i);
    buf_printf(out,
               ", uintptr_t workspace) {\n"
               "    return (int)%s(module, (CUstream)stream",
               k->c_name);
    for (size_t i = 0; i < k->parameters.n; i++) {
        const struct bound_parameter *p = &k->parameters.at[i];
        if (p->is_array)
            buf_printf(out, ", (%s%s *)p%zu", p->is_written ? "" : "const ",
                       p->type->c, i);
        else if (plain(p) != p->type->c)
            buf_printf(out, ", (%s){p%zu}", p->type->c, i);
        else
            buf_printf(out, ", p%zu", i);
    }
    buf_text(out, ", (void *)workspace);\n}\n\n");
}

// Append the C part.
static void write_c(const struct bound *b, struct buf *out)
{
    buf_printf(
        out,
        "/*\n"
        "#cgo CFLAGS: -DINGOT_WEAK\n"
        "#cgo LDFLAGS: -ldl -lpthread\n"
        "#include <stdlib.h>\n"
        "#include \"%s.h\"\n\n"
        "static int bound_open_file(struct ingot_module **module, "
        "const char *path, "
        "const char *driver, int32_t device, uint32_t flags) {\n"
        "    const struct ingot_options options = {*driver ? driver : NULL, "
        "device, flags};\n"
        "    return (int)ingot_open_file(module, &%s_artifact, path, "
        "&options);\n}\n\n"
        "static int bound_open(struct ingot_module **module, "
        "const void *fatbin, size_t size, "
        "const char *driver, int32_t device, uint32_t flags) {\n"
        "    const struct ingot_options options = {*driver ? driver : NULL, "
        "device, flags};\n"
        "    return (int)ingot_open(module, &%s_artifact, fatbin, size, "
        "&options);\n}\n\n",
        b->name, b->c_name, b->c_name);
    vec_foreach(k, &b->kernels)
        write_between(k, out);
    buf_text(out, "*/\n");
}

// Return the sizes of a kernel as C has them.
static const char *sizes_of(const struct bound *b, const struct bound_kernel *k,
                            const char *first)
{
    const char *text = "";
    vec_foreach(p, &k->parameters)
        if (p->is_size)
            text = arena_printf(b->arena, "%s%sC.int64_t(%s)", text,
                                *text ? ", " : first,
                                bound_free(b->arena, p->name, taken));
    return text;
}

// Append the checks of a kernel's arrays.
static void write_checks(const struct bound *b, const struct bound_kernel *k,
                         struct buf *out)
{
    for (size_t i = 0; i < k->parameters.n; i++) {
        const struct bound_parameter *p = &k->parameters.at[i];
        if (p->is_array)
            buf_printf(
                out,
                "\tif err := %s.holds(C.%s_bytes(%zu%s), \"%s: %s\"); err "
                "!= nil {\n\t\treturn err\n\t}\n",
                bound_free(b->arena, p->name, taken), k->c_name, i,
                sizes_of(b, k, ", "), p->name, p->text);
    }
    buf_printf(
        out,
        "\tif err := workspace.holds(C.%s_workspace(%s), \"workspace\"); "
        "err != nil {\n\t\treturn err\n\t}\n",
        k->c_name, sizes_of(b, k, ""));
}

// Append the launch of a kernel.
static void write_kernel(const struct bound *b, const struct bound_kernel *k,
                         struct buf *out)
{
    const char *method = exported(b->arena, k->c_name);
    buf_printf(out,
               "\n// %s launches `%s` on a CUstream. Narrow floats are their "
               "bits.\n"
               "func (m *Module) %s(stream uintptr",
               method, k->name, method);
    vec_foreach(p, &k->parameters)
        buf_printf(out, ", %s %s", bound_free(b->arena, p->name, taken),
                   p->is_array ? "Array" : p->type->go);
    buf_text(out, ", workspace Array) error {\n");
    write_checks(b, k, out);
    buf_printf(out, "\treturn m.check(C.bound_%s(m.module, C.uintptr_t(stream)",
               k->c_name);
    vec_foreach(p, &k->parameters)
        buf_printf(out, ", C.%s(%s%s)", plain(p),
                   bound_free(b->arena, p->name, taken),
                   p->is_array ? ".Address" : "");
    buf_text(out, ", C.uintptr_t(workspace.Address)))\n}\n");
}

// Append the function that says how large the workspace of a kernel is.
static void write_workspace(const struct bound *b, const struct bound_kernel *k,
                            struct buf *out)
{
    const char *name = exported(b->arena, k->c_name);
    const char *list = bound_sizes(b, k, "", ", ", taken);
    buf_printf(
        out,
        "\n// %sWorkspace returns the bytes of workspace for these sizes, "
        "maybe 0.\n"
        "func %sWorkspace(%s%s) uint64 {\n"
        "\treturn uint64(C.%s_workspace(%s))\n"
        "}\n",
        name, name, list, *list ? " int64" : "", k->c_name, sizes_of(b, k, ""));
}

void bindings_go(const struct bound *b, struct buf *out)
{
    buf_printf(
        out,
        "// Package %s has the kernels of %s. Written by Ingot; do not "
        "edit.\n"
        "//\n"
        "// Its folder holds %s.go, %s.c, %s.h, ingot.c and ingot.h; a program "
        "can have several such.\n"
        "package %s\n\n",
        b->c_name, b->source, b->name, b->name, b->name, b->c_name);
    write_c(b, out);
    buf_text(out, head);
    vec_foreach(k, &b->kernels) {
        write_kernel(b, k, out);
        write_workspace(b, k, out);
    }
}
