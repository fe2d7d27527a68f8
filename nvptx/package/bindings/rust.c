// Rust: a module that calls the functions of the C file.

#include "nvptx/package/bindings/bindings.h"

static const char head[] =
    "#![allow(dead_code, non_camel_case_types, non_snake_case, unused_unsafe)]\n"
    "#![allow(clippy::all)]\n"
    "\n"
    "use std::ffi::{c_char, c_int, c_void, CStr, CString};\n"
    "use std::path::Path;\n"
    "\n"
    "/// A stream of the driver, a `CUstream`; null is the default stream.\n"
    "pub type Stream = *mut c_void;\n"
    "\n"
    "/// Half precision, by its bits.\n"
    "#[repr(C)]\n"
    "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n"
    "pub struct F16 {\n"
    "    pub bits: u16,\n"
    "}\n"
    "\n"
    "/// bfloat16, by its bits.\n"
    "#[repr(C)]\n"
    "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n"
    "pub struct BF16 {\n"
    "    pub bits: u16,\n"
    "}\n"
    "\n"
    "/// 4 bits of exponent, 3 of mantissa, by its bits.\n"
    "#[repr(C)]\n"
    "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n"
    "pub struct F8E4M3 {\n"
    "    pub bits: u8,\n"
    "}\n"
    "\n"
    "/// 5 bits of exponent, 2 of mantissa, by its bits.\n"
    "#[repr(C)]\n"
    "#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n"
    "pub struct F8E5M2 {\n"
    "    pub bits: u8,\n"
    "}\n"
    "\n"
    "/// An array of the GPU that is read: its address and its elements.\n"
    "#[derive(Clone, Copy, Debug)]\n"
    "pub struct Slice<T> {\n"
    "    pub data: *const T,\n"
    "    pub len: usize,\n"
    "}\n"
    "\n"
    "/// An array of the GPU that is written.\n"
    "#[derive(Clone, Copy, Debug)]\n"
    "pub struct SliceMut<T> {\n"
    "    pub data: *mut T,\n"
    "    pub len: usize,\n"
    "}\n"
    "\n"
    "impl<T> SliceMut<T> {\n"
    "    /// No array, for a workspace of 0 bytes.\n"
    "    pub const NONE: Self = Self { data: std::ptr::null_mut(), len: 0 };\n"
    "}\n"
    "\n"
    "impl<T> From<SliceMut<T>> for Slice<T> {\n"
    "    fn from(array: SliceMut<T>) -> Self {\n"
    "        Self { data: array.data, len: array.len }\n"
    "    }\n"
    "}\n"
    "\n"
    "/// A call that failed: the status of ingot.h, and its text.\n"
    "#[derive(Clone, Debug)]\n"
    "pub struct Error {\n"
    "    pub status: i32,\n"
    "    pub text: String,\n"
    "}\n"
    "\n"
    "impl std::fmt::Display for Error {\n"
    "    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {\n"
    "        f.write_str(&self.text)\n"
    "    }\n"
    "}\n"
    "\n"
    "impl std::error::Error for Error {}\n"
    "\n"
    "/// What may be asked for at open.\n"
    "#[derive(Clone, Debug, Default)]\n"
    "pub struct Options {\n"
    "    /// The path of the driver, for tests.\n"
    "    pub driver: Option<CString>,\n"
    "    /// The device that is used where the thread has no context.\n"
    "    pub device: i32,\n"
    "    /// `enum ingot_flag`.\n"
    "    pub flags: u32,\n"
    "}\n"
    "\n"
    "#[repr(C)]\n"
    "struct ingot_options {\n"
    "    driver: *const c_char,\n"
    "    device: i32,\n"
    "    flags: u32,\n"
    "}\n"
    "\n"
    "#[repr(C)]\n"
    "struct ingot_artifact {\n"
    "    _opaque: [u8; 0],\n"
    "}\n"
    "\n";

static const char module[] =
    "/// The kernels, loaded; closed when dropped. Any thread may use it.\n"
    "#[derive(Debug)]\n"
    "pub struct Module(*mut c_void, Option<CString>);\n"
    "\n"
    "unsafe impl Send for Module {}\n"
    "unsafe impl Sync for Module {}\n"
    "\n"
    "impl Drop for Module {\n"
    "    fn drop(&mut self) {\n"
    "        unsafe { ingot_close(self.0) }\n"
    "    }\n"
    "}\n"
    "\n"
    "impl Module {\n"
    "    /// Opens a fatbin that is a file.\n"
    "    pub fn open_file(path: &Path, options: &Options) -> Result<Self, Error> "
    "{\n"
    "        let path = CString::new(path.as_os_str().as_encoded_bytes())\n"
    "            .map_err(|_| Error { status: 1, text: \"a path with a NUL\".into() "
    "})?;\n"
    "        Self::opened(options, |module, options| unsafe {\n"
    "            ingot_open_file(module, &raw const ARTIFACT, path.as_ptr(), "
    "options)\n"
    "        })\n"
    "    }\n"
    "\n"
    "    /// Opens a fatbin that the program holds: `include_bytes!`.\n"
    "    pub fn open(fatbin: &'static [u8], options: &Options) -> Result<Self, "
    "Error> {\n"
    "        Self::opened(options, |module, options| unsafe {\n"
    "            ingot_open(module, &raw const ARTIFACT, fatbin.as_ptr().cast(), "
    "fatbin.len(), options)\n"
    "        })\n"
    "    }\n"
    "\n"
    "    fn opened<F>(options: &Options, open: F) -> Result<Self, Error>\n"
    "    where\n"
    "        F: FnOnce(*mut *mut c_void, *const ingot_options) -> c_int,\n"
    "    {\n"
    "        let mut module = Self(std::ptr::null_mut(), options.driver.clone());\n"
    "        let options = ingot_options {\n"
    "            driver: module.1.as_ref().map_or(std::ptr::null(), |path| "
    "path.as_ptr()),\n"
    "            device: options.device,\n"
    "            flags: options.flags,\n"
    "        };\n"
    "        let status = open(&mut module.0, &options);\n"
    "        module.checked(status)?;\n"
    "        Ok(module)\n"
    "    }\n"
    "\n"
    "    fn checked(&self, status: c_int) -> Result<(), Error> {\n"
    "        if status == 0 {\n"
    "            return Ok(());\n"
    "        }\n"
    "        let mut text = [0 as c_char; 1024];\n"
    "        let text = unsafe {\n"
    "            ingot_error_text(self.0, text.as_mut_ptr(), text.len());\n"
    "            CStr::from_ptr(text.as_ptr())\n"
    "        };\n"
    "        Err(Error { status, text: text.to_string_lossy().into_owned() })\n"
    "    }\n"
    "\n"
    "    /// INGOT_BAD_SIZE unless an array has as many bytes as are wanted, which\n"
    "    /// the launch refuses itself if they are too many to count.\n"
    "    fn holds<T>(len: usize, wanted: usize, what: &str) -> Result<(), Error> "
    "{\n"
    "        let bytes = len.saturating_mul(std::mem::size_of::<T>());\n"
    "        if wanted == usize::MAX || bytes >= wanted {\n"
    "            return Ok(());\n"
    "        }\n"
    "        Err(Error { status: 20, text: format!(\"{what}: {wanted} bytes, not "
    "{bytes}\") })\n"
    "    }\n"
    "\n"
    "    /// Loads now, not at the first launch.\n"
    "    pub fn preload(&self) -> Result<(), Error> {\n"
    "        self.checked(unsafe { ingot_preload(self.0) })\n"
    "    }\n";

// Words that are no names, and names that mean something else in a pattern.
static const char *const taken[] = {
    "as",     "async",   "await", "become", "box",   "crate",    "dyn",
    "extern", "final",   "fn",    "impl",   "in",    "let",      "loop",
    "macro",  "match",   "mod",   "move",   "mut",   "override", "priv",
    "pub",    "ref",     "self",  "Self",   "super", "trait",    "type",
    "unsafe", "unsized", "use",   "where",  "yield", "gen",      "None",
    "Some",   "Ok",      "Err",   NULL};
static const char *const taken_methods[] = {
    "as",        "async",   "await",   "become", "box",     "crate",    "dyn",
    "extern",    "final",   "fn",      "impl",   "in",      "let",      "loop",
    "macro",     "match",   "mod",     "move",   "mut",     "override", "priv",
    "pub",       "ref",     "self",    "Self",   "super",   "trait",    "type",
    "unsafe",    "unsized", "use",     "where",  "yield",   "gen",      "open",
    "open_file", "opened",  "checked", "holds",  "preload", "drop",     NULL};

// Append the declarations of a kernel's functions.
static void write_extern(const struct bound *b, const struct bound_kernel *k,
                         struct buf *out)
{
    const char *sizes = "";
    vec_foreach(p, &k->parameters)
        if (p->is_size)
            sizes = arena_printf(b->arena, "%s, _: i64", sizes);
    buf_printf(out,
               "    #[link_name = \"%s\"]\n"
               "    fn launch_%s(module: *mut c_void, stream: Stream",
               k->c_name, k->c_name);
    vec_foreach(p, &k->parameters)
        buf_printf(out, ", _: %s%s",
                   !p->is_array    ? ""
                   : p->is_written ? "*mut "
                                   : "*const ",
                   p->type->rust);
    buf_printf(out,
               ", workspace: *mut u8) -> c_int;\n"
               "    #[link_name = \"%s_bytes\"]\n"
               "    fn bytes_%s(parameter: c_int%s) -> usize;\n"
               "    #[link_name = \"%s_workspace\"]\n"
               "    fn workspace_%s(%s) -> usize;\n",
               k->c_name, k->c_name, sizes, k->c_name, k->c_name,
               *sizes ? sizes + 2 : "");
}

// Append all declarations.
static void write_externs(const struct bound *b, struct buf *out)
{
    buf_printf(
        out,
        "unsafe extern \"C\" {\n"
        "    #[link_name = \"%s_artifact\"]\n"
        "    static ARTIFACT: ingot_artifact;\n"
        "    fn ingot_open(\n"
        "        module: *mut *mut c_void, artifact: *const "
        "ingot_artifact, fatbin: *const c_void, size: usize,\n"
        "        options: *const ingot_options,\n"
        "    ) -> c_int;\n"
        "    fn ingot_open_file(\n"
        "        module: *mut *mut c_void, artifact: *const "
        "ingot_artifact, path: *const c_char,\n"
        "        options: *const ingot_options,\n"
        "    ) -> c_int;\n"
        "    fn ingot_preload(module: *mut c_void) -> c_int;\n"
        "    fn ingot_close(module: *mut c_void);\n"
        "    fn ingot_error_text(module: *mut c_void, text: *mut c_char, "
        "size: usize) -> *const c_char;\n",
        b->c_name);
    vec_foreach(k, &b->kernels)
        write_extern(b, k, out);
    buf_text(out, "}\n\n");
}

// Append the parameters of a launch.
static void write_parameters(const struct bound *b,
                             const struct bound_kernel *k, struct buf *out)
{
    vec_foreach(p, &k->parameters) {
        const char *name = bound_free(b->arena, p->name, taken);
        if (p->is_array)
            buf_printf(out, "        %s: %s<%s>,\n", name,
                       p->is_written ? "SliceMut" : "Slice", p->type->rust);
        else
            buf_printf(out, "        %s: %s,\n", name, p->type->rust);
    }
}

// Append the launch of a kernel.
static void write_kernel(const struct bound *b, const struct bound_kernel *k,
                         struct buf *out)
{
    buf_printf(
        out,
        "\n    /// Launches `%s`.\n"
        "    ///\n"
        "    /// # Safety\n"
        "    ///\n"
        "    /// The arrays are memory of the GPU until the stream has "
        "done the work; what is\n"
        "    /// written overlaps no other array.\n"
        "    pub unsafe fn %s(\n        &self,\n        stream: Stream,\n",
        k->name, bound_free(b->arena, k->c_name, taken_methods));
    write_parameters(b, k, out);
    buf_text(out, "        workspace: SliceMut<u8>,\n"
                  "    ) -> Result<(), Error> {\n");
    for (size_t i = 0; i < k->parameters.n; i++) {
        const struct bound_parameter *p = &k->parameters.at[i];
        if (p->is_array)
            buf_printf(
                out,
                "        Self::holds::<%s>(%s.len, unsafe { bytes_%s(%zu%s) "
                "}, \"%s: %s\")?;\n",
                p->type->rust, bound_free(b->arena, p->name, taken), k->c_name,
                i, bound_sizes(b, k, ", ", ", ", taken), p->name, p->text);
    }
    buf_printf(out,
               "        Self::holds::<u8>(workspace.len, unsafe { "
               "workspace_%s(%s) }, \"workspace\")?;\n"
               "        self.checked(unsafe { launch_%s(self.0, stream",
               k->c_name, bound_sizes(b, k, "", ", ", taken), k->c_name);
    vec_foreach(p, &k->parameters)
        buf_printf(out, ", %s%s", bound_free(b->arena, p->name, taken),
                   p->is_array ? ".data" : "");
    buf_text(out, ", workspace.data) })\n    }\n");
}

// Append the function that says how large the workspace of a kernel is.
static void write_workspace(const struct bound *b, const struct bound_kernel *k,
                            struct buf *out)
{
    const char *parameters = "";
    vec_foreach(p, &k->parameters)
        if (p->is_size)
            parameters = arena_printf(b->arena, "%s%s%s: i64", parameters,
                                      *parameters ? ", " : "",
                                      bound_free(b->arena, p->name, taken));
    buf_printf(out,
               "\n    /// The bytes of workspace for these sizes, maybe 0.\n"
               "    pub fn %s_workspace(%s) -> usize {\n"
               "        unsafe { workspace_%s(%s) }\n"
               "    }\n",
               k->c_name, parameters, k->c_name,
               bound_sizes(b, k, "", ", ", taken));
}

void bindings_rust(const struct bound *b, struct buf *out)
{
    buf_printf(out,
               "//! The kernels of %s. Written by Ingot; do not edit.\n"
               "//!\n"
               "//! `mod %s;`, linked with %s.c and ingot.c: a build.rs can "
               "compile both by the crate\n"
               "//! `cc`.\n\n",
               b->source, b->name, b->name);
    buf_text(out, head);
    write_externs(b, out);
    buf_text(out, module);
    vec_foreach(k, &b->kernels) {
        write_kernel(b, k, out);
        write_workspace(b, k, out);
    }
    buf_text(out, "}\n");
}
