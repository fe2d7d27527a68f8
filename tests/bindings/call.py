"""Launches the kernel of object.ing by its Python module, on the driver that the command line names."""
import ctypes
import sys

import names
import object


class Array:
    """As PyTorch's tensors, on the host."""

    def __init__(self, count, size=4):
        self.count, self.size = count, size
        self.memory = (ctypes.c_char * (count * size + 16))()

    def data_ptr(self):
        return ctypes.addressof(self.memory) + 15 & ~15

    def numel(self):
        return self.count

    def element_size(self):
        return self.size


class Interface(Array):
    """As CuPy's arrays."""
    data_ptr = None

    @property
    def __cuda_array_interface__(self):
        return {"shape": (self.count,), "typestr": "<f4", "data": (4096, False), "version": 3}


def refuses(error, call, *arguments, **named):
    """Checks that a call fails, and returns its text."""
    try:
        call(*arguments, **named)
    except error as e:
        return str(e)
    raise AssertionError(f"no {error.__name__}")


driver = sys.argv[1]
assert "no such file" in refuses(object.Error, object.Module, "./libobject.so", "no such file", driver=driver)
with object.Module("./libobject.so", "object.fatbin", driver=driver) as module:
    module.preload()
    assert module.vadd_workspace(1000) == 0
    module.vadd(1000, Array(1000), Array(1000), 1.5)
    module.vadd(1000, 4096, 8192, 1.5, workspace=None, stream=0)
    module.vadd(0, None, None, 1.5)
    assert refuses(ValueError, module.vadd, 1000, Array(999), 4096, 1.5) == "A: f32[n]: 4000 bytes, not 3996"
    assert "elements of 4 bytes, not 2" in refuses(TypeError, module.vadd, 10, Array(100, 2), 4096, 1.5)
    assert "not str" in refuses(TypeError, module.vadd, 10, "A", 4096, 1.5)
    assert "n >= 0" in refuses(object.Error, module.vadd, -1, 4096, 4096, 1.5)
    assert "A: f32[n]" in refuses(object.Error, module.vadd, 1, None, 4096, 1.5)
module.close()

functions = ctypes.CDLL("./libnames.so")
functions.fixed_workspace.restype = ctypes.c_size_t
assert functions.fixed_workspace() > 0
assert names.F16.of(1.0).bits == 0x3c00 and names.BF16.of(1.0).bits == 0x3f80
assert names.BF16.of(float("nan")).bits == 0x7fff and names.BF16.of(1 + 2**-8).bits == 0x3f80
print("python works")
