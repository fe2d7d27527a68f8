// Python: a module that calls a shared library by ctypes.

#include "nvptx/package/bindings/bindings.h"

static const char head[] =
    "import ctypes\n"
    "import os\n"
    "import struct\n"
    "\n"
    "\n"
    "class Error(Exception):\n"
    "    \"\"\"A call that failed: `status` of ingot.h, and its text.\"\"\"\n"
    "\n"
    "    def __init__(self, status, text):\n"
    "        super().__init__(text)\n"
    "        self.status = status\n"
    "\n"
    "\n"
    "class F16(ctypes.Structure):\n"
    "    \"\"\"Half precision, by its bits.\"\"\"\n"
    "    _fields_ = [(\"bits\", ctypes.c_uint16)]\n"
    "\n"
    "    @classmethod\n"
    "    def of(cls, value):\n"
    "        \"\"\"The nearest to a float.\"\"\"\n"
    "        return cls(*struct.unpack(\"<H\", struct.pack(\"<e\", value)))\n"
    "\n"
    "\n"
    "class BF16(ctypes.Structure):\n"
    "    \"\"\"bfloat16, by its bits.\"\"\"\n"
    "    _fields_ = [(\"bits\", ctypes.c_uint16)]\n"
    "\n"
    "    @classmethod\n"
    "    def of(cls, value):\n"
    "        \"\"\"The nearest to a float.\"\"\"\n"
    "        bits, = struct.unpack(\"<I\", struct.pack(\"<f\", value))\n"
    "        if value != value:\n"
    "            return cls(0x7fff)\n"
    "        return cls((bits + 0x7fff + (bits >> 16 & 1)) >> 16)\n"
    "\n"
    "\n"
    "class F8E4M3(ctypes.Structure):\n"
    "    \"\"\"4 bits of exponent, 3 of mantissa, by its bits.\"\"\"\n"
    "    _fields_ = [(\"bits\", ctypes.c_uint8)]\n"
    "\n"
    "\n"
    "class F8E5M2(ctypes.Structure):\n"
    "    \"\"\"5 bits of exponent, 2 of mantissa, by its bits.\"\"\"\n"
    "    _fields_ = [(\"bits\", ctypes.c_uint8)]\n"
    "\n"
    "\n"
    "class _Options(ctypes.Structure):\n"
    "    _fields_ = [(\"driver\", ctypes.c_char_p), (\"device\", ctypes.c_int32), "
    "(\"flags\", ctypes.c_uint32)]\n"
    "\n"
    "\n"
    "def _described(array):\n"
    "    \"\"\"Address, bytes and bytes of an element of an array of the "
    "GPU; bytes are None where unknown.\"\"\"\n"
    "    if array is None or isinstance(array, int):\n"
    "        return array or 0, None, None\n"
    "    if hasattr(array, \"data_ptr\"):\n"
    "        return array.data_ptr(), array.numel() * array.element_size(), "
    "array.element_size()\n"
    "    if hasattr(array, \"__cuda_array_interface__\"):\n"
    "        about = array.__cuda_array_interface__\n"
    "        size, count = int(about[\"typestr\"][2:]), 1\n"
    "        for extent in about[\"shape\"]:\n"
    "            count *= extent\n"
    "        return about[\"data\"][0], None if about.get(\"strides\") else "
    "count * size, size\n"
    "    raise TypeError(f\"an address or an array of the GPU, not "
    "{type(array).__name__}\")\n"
    "\n"
    "\n"
    "def _address(text, array, element, wanted):\n"
    "    \"\"\"The address of an array that is as large as wanted.\"\"\"\n"
    "    address, size, of_one = _described(array)\n"
    "    if of_one not in (None, element):\n"
    "        raise TypeError(f\"{text}: elements of {element} bytes, not "
    "{of_one}\")\n"
    "    if size is not None and size < wanted != 2**64 - 1:\n"
    "        raise ValueError(f\"{text}: {wanted} bytes, not {size}\")\n"
    "    return address\n"
    "\n"
    "\n";

static const char methods[] =
    "class Module:\n"
    "    \"\"\"The kernels, loaded. Arrays are addresses, or what has "
    "`data_ptr` (PyTorch) or\n"
    "    `__cuda_array_interface__`: those are checked for their size. "
    "`workspace` needs as many\n"
    "    bytes as the kernel's `_workspace` says. Every failure raises "
    "Error.\"\"\"\n"
    "\n"
    "    def __init__(self, library, fatbin, driver=None, device=0):\n"
    "        self._module = ctypes.c_void_p()\n"
    "        self._library = ctypes.CDLL(library)\n"
    "        for name, (result, arguments) in _FUNCTIONS.items():\n"
    "            function = getattr(self._library, name)\n"
    "            function.restype, function.argtypes = result, arguments\n"
    "        self._options = options = _Options(os.fsencode(driver) if driver else None, device, "
    "0)\n"
    "        artifact = ctypes.c_char.in_dll(self._library, _ARTIFACT)\n"
    "        status = self._library.ingot_open_file(\n"
    "            ctypes.byref(self._module), ctypes.byref(artifact), os.fsencode(fatbin), ctypes.byref(options))\n"
    "        try:\n"
    "            self._check(status)\n"
    "        except Error:\n"
    "            self.close()\n"
    "            raise\n"
    "\n"
    "    def __enter__(self):\n"
    "        return self\n"
    "\n"
    "    def __exit__(self, *_):\n"
    "        self.close()\n"
    "\n"
    "    def close(self):\n"
    "        \"\"\"Unload all; twice does no harm.\"\"\"\n"
    "        module, self._module = self._module, ctypes.c_void_p()\n"
    "        self._library.ingot_close(module)\n"
    "\n"
    "    def preload(self):\n"
    "        \"\"\"Load now, not at the first launch.\"\"\"\n"
    "        self._check(self._library.ingot_preload(self._module))\n"
    "\n"
    "    def _check(self, status):\n"
    "        if status:\n"
    "            text = ctypes.create_string_buffer(1024)\n"
    "            self._library.ingot_error_text(self._module, text, 1024)\n"
    "            raise Error(status, text.value.decode(errors=\"replace\"))\n";

// Names that a method cannot have, and those that a parameter cannot.
static const char *const taken_methods[] = {
    "and",    "as",   "assert", "async",  "await",    "class", "close",
    "def",    "del",  "elif",   "except", "finally",  "from",  "global",
    "import", "in",   "is",     "lambda", "nonlocal", "pass",  "preload",
    "raise",  "None", "True",   "False",  "with",     "yield", NULL};
static const char *const taken[] = {
    "and",  "as",    "assert", "async",    "await", "class",  "def",
    "del",  "elif",  "except", "finally",  "from",  "global", "import",
    "in",   "is",    "lambda", "nonlocal", "pass",  "raise",  "None",
    "True", "False", "with",   "yield",    "self",  NULL};

// Append the functions of the library, as ctypes has them.
static void write_functions(const struct bound *b, struct buf *out)
{
    buf_printf(out,
               "_ARTIFACT = \"%s_artifact\"\n"
               "_FUNCTIONS = {\n"
               "    \"ingot_open_file\": (ctypes.c_int, [ctypes.c_void_p, "
               "ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),\n"
               "    \"ingot_preload\": (ctypes.c_int, [ctypes.c_void_p]),\n"
               "    \"ingot_close\": (None, [ctypes.c_void_p]),\n"
               "    \"ingot_error_text\": (ctypes.c_char_p, [ctypes.c_void_p, "
               "ctypes.c_char_p, ctypes.c_size_t]),\n",
               b->c_name);
    vec_foreach(k, &b->kernels) {
        size_t n_sizes = 0;
        buf_printf(out,
                   "    \"%s\": (ctypes.c_int, [ctypes.c_void_p, "
                   "ctypes.c_void_p",
                   k->c_name);
        vec_foreach(p, &k->parameters) {
            n_sizes += p->is_size;
            buf_printf(out, ", %s",
                       p->is_array ? "ctypes.c_void_p" : p->type->ctypes);
        }
        buf_printf(out,
                   ", ctypes.c_void_p]),\n"
                   "    \"%s_bytes\": (ctypes.c_size_t, [ctypes.c_int] + "
                   "[ctypes.c_int64] * %zu),\n"
                   "    \"%s_workspace\": (ctypes.c_size_t, [ctypes.c_int64] * "
                   "%zu),\n",
                   k->c_name, n_sizes, k->c_name, n_sizes);
    }
    buf_text(out, "}\n\n\n");
}

// Append an argument of a launch.
static void write_argument(const struct bound *b, const struct bound_kernel *k,
                           size_t i, struct buf *out)
{
    const struct bound_parameter *p = &k->parameters.at[i];
    const char *name = bound_free(b->arena, p->name, taken);
    if (!p->is_array) {
        buf_printf(out, ",\n            %s", name);
        return;
    }
    buf_printf(out,
               ",\n            _address(\"%s: %s\", %s, %u, "
               "self._library.%s_bytes(%zu%s))",
               p->name, p->text, name, p->type->bytes, k->c_name, i,
               bound_sizes(b, k, ", ", ", ", taken));
}

// Append the methods of a kernel.
static void write_kernel(const struct bound *b, const struct bound_kernel *k,
                         struct buf *out)
{
    buf_printf(out, "\n    def %s(self",
               bound_free(b->arena, k->c_name, taken_methods));
    vec_foreach(p, &k->parameters)
        buf_printf(out, ", %s", bound_free(b->arena, p->name, taken));
    buf_printf(out,
               ", *, workspace=None, stream=0):\n"
               "        \"\"\"Launch `%s`",
               k->name);
    for (size_t i = 0; i < k->parameters.n; i++)
        buf_printf(out, "%s%s: %s", i ? ", " : ": ", k->parameters.at[i].name,
                   k->parameters.at[i].text);
    buf_printf(out,
               ".\"\"\"\n"
               "        self._check(self._library.%s(\n"
               "            self._module, stream",
               k->c_name);
    for (size_t i = 0; i < k->parameters.n; i++)
        write_argument(b, k, i, out);
    buf_printf(out,
               ",\n            _address(\"workspace\", workspace, 1, "
               "self.%s_workspace(%s))))\n",
               k->c_name, bound_sizes(b, k, "", ", ", taken));
}

// Append the method that says how large the workspace of a kernel is.
static void write_workspace(const struct bound *b, const struct bound_kernel *k,
                            struct buf *out)
{
    buf_printf(out,
               "\n    def %s_workspace(self%s):\n"
               "        \"\"\"The bytes of workspace for these sizes, maybe "
               "0.\"\"\"\n"
               "        return self._library.%s_workspace(%s)\n",
               k->c_name, bound_sizes(b, k, ", ", ", ", taken), k->c_name,
               bound_sizes(b, k, "", ", ", taken));
}

void bindings_python(const struct bound *b, struct buf *out)
{
    buf_printf(
        out,
        "\"\"\"The kernels of %s. Written by Ingot; do not edit.\n\n"
        "    cc -shared -fPIC -O2 -DINGOT_EXPORT %s.c ingot.c -ldl -lpthread -o lib%s.so\n\n"
        "    with Module(\"./lib%s.so\", \"%s.fatbin\") as module:\n"
        "        module.preload()\n"
        "\"\"\"\n\n",
        b->source, b->name, b->name, b->name, b->name);
    buf_text(out, head);
    write_functions(b, out);
    buf_text(out, methods);
    vec_foreach(k, &b->kernels) {
        write_kernel(b, k, out);
        write_workspace(b, k, out);
    }
}
