"""Kernel files, built and opened: what the generated header launches, callable."""

import ctypes
import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = f"{ROOT}/tests/kernels"
EMPTY = f"{ROOT}/tools/bench/empty"


class Failure(Exception):
    """A case that cannot be measured, and why."""


def command(*words):
    """Runs a command; its errors are the failure's text."""
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise Failure(f"{' '.join(words[:3])}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def has_kernel(ingot, path, name):
    """Whether a file defines a kernel, or one that it is an instance of."""
    return bool(re.search(rf"^kernel {name}\b", command(ingot, "opt", path), re.M))


def parameters(entry):
    """The sizes and the arrays among the parameters of a kernel of a manifest."""
    return ([p for p in entry["parameters"] if "shape" not in p],
            [p for p in entry["parameters"] if "shape" in p])


class Kernel:
    """One kernel of a built file."""

    def __init__(self, library, entry, fatbin):
        self.bridge, self.fatbin = library, fatbin
        self.name, (sizes, self.arrays) = entry["name"], parameters(entry)
        self.sizes = [p["c_name"] for p in sizes]

    def shape(self, array, sizes):
        """The extents of a parameter at these sizes."""
        known = {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max, **sizes}
        return tuple(eval(str(e).replace("/", "//"), {}, known) for e in array["shape"])

    def numbers(self, sizes):
        return (ctypes.c_int64 * max(1, len(self.sizes)))(*[sizes[s] for s in self.sizes])

    def addresses(self, tensors):
        return (ctypes.c_void_p * len(self.arrays))(
            *[tensors[p["c_name"]].data_ptr() or None for p in self.arrays])

    def launcher(self, sizes, tensors):
        """A function that launches on the current stream; `tensors` by parameter."""
        import torch
        numbers, addresses = self.numbers(sizes), self.addresses(tensors)
        size = self.bridge.bridge_workspace(numbers)
        spare = torch.empty(size, dtype=torch.uint8, device="cuda") if size else None
        workspace = ctypes.c_void_p(spare.data_ptr() if size else None)
        call, kept = self.bridge.bridge_launch, list(tensors.values())

        def launch():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            if call(stream, numbers, addresses, workspace):
                raise Failure(f"{self.name}: {self.error()}")
        launch.keeps = kept, spare
        return launch

    def error(self):
        text = ctypes.create_string_buffer(1024)
        self.bridge.bridge_error(text, ctypes.c_size_t(1024))
        return text.value.decode(errors="replace")


class Builder:
    """Builds each file once for an architecture and each kernel's bridge once."""

    def __init__(self, ingot, out, keep=False, rules_only=False):
        """`keep`: what lies in the folder `out` was built by the same command. `rules_only`: without the schedules
        of the files."""
        self.ingot, self.out, self.keep = os.path.abspath(ingot), os.path.abspath(out), keep
        self.flags = ["--rules-only"] if rules_only else []
        self.files, self.kernels = set(), {}

    def file(self, path, arch):
        """The folder with what became of a kernel file."""
        stem = os.path.basename(path)[:-4]
        folder = f"{self.out}/{stem}_{arch}"
        if folder not in self.files:
            os.makedirs(folder, exist_ok=True)
            if not (self.keep and os.path.exists(f"{folder}/{stem}.json")):
                command(self.ingot, "build", path, "-o", folder, "--arch", arch, *self.flags)
            self.files.add(folder)
        return folder

    def built(self, path, name, arch):
        """Builds a kernel of a file (absolute, or in tests/kernels, without .ing) and its
        bridge; returns the bridge's path."""
        path = f"{path if os.path.isabs(path) else f'{KERNELS}/{path}'}.ing"
        if not has_kernel(self.ingot, path, name):
            raise Failure(f"{os.path.basename(path)} has no kernel {name}")
        folder, stem = self.file(path, arch), os.path.basename(path)[:-4]
        bridge = f"{folder}/{name}.so"
        if not (self.keep and os.path.exists(bridge)):
            self.bridge(bridge, folder, stem, self.entry(folder, stem, name))
        return bridge

    def kernel(self, path, name, arch="sm_90a"):
        """A kernel, ready to launch."""
        key = (path, name, arch)
        if key not in self.kernels:
            bridge = self.built(path, name, arch)
            folder, stem = os.path.dirname(bridge), os.path.basename(path)
            library, fatbin = ctypes.CDLL(bridge), f"{folder}/{stem}.fatbin"
            library.bridge_workspace.restype = ctypes.c_size_t
            library.bridge_time.restype = library.bridge_time_bare.restype = ctypes.c_double
            if library.bridge_open(fatbin.encode()):
                raise Failure(f"{name}: cannot load {fatbin}")
            self.kernels[key] = Kernel(library, self.entry(folder, stem, name), fatbin)
        return self.kernels[key]

    def entry(self, folder, stem, name):
        """What the manifest says of a kernel."""
        with open(f"{folder}/{stem}.json") as file:
            found = [k for k in json.load(file)["kernels"] if k["name"] == name]
        if not found:
            raise Failure(f"what was built in {folder} has no kernel {name}")
        return found[0]

    def bridge(self, path, folder, stem, entry):
        """Compiles the shared library of a kernel."""
        name, sizes, arrays = entry["name"], *parameters(entry)
        with open(f"{folder}/{stem}.h") as file:
            header = file.read()
        place = {p["c_name"]: f"n[{i}]" for i, p in enumerate(sizes)}
        place.update({p["c_name"]: f"a[{i}]" for i, p in enumerate(arrays)})
        words = ["module", "stream", *(place[p["c_name"]] for p in entry["parameters"]), "workspace"]
        given = (place[p["c_name"]] for p in sizes if p["type"] == "int")
        space = f"{name}_workspace({', '.join(given)})"
        artifact = re.search(r"struct ingot_artifact (\w+)", header).group(1)
        command("cc", "-shared", "-fPIC", "-O2", f"-I{ROOT}/runtime", f"-I{folder}",
                f'-DHEADER="{stem}.h"', f"-DARTIFACT={artifact}", f"-DWORKSPACE={space}",
                f"-DCALL={name}({', '.join(words)})", f"{ROOT}/tools/bench/bridge.c",
                f"{ROOT}/runtime/ingot.c", "-ldl", "-lpthread", "-o", path)


def others(given, keep=False):
    """The builders of kernels that take turns with ours, by name: what another build of the command makes of the
    files, and what this one makes of their schedules."""
    found = {"before": Builder(given.before, f"{given.outdir}/before", keep)} if given.before else {}
    return {**found, **({"schedules": Builder(given.ingot, f"{given.outdir}/schedules", keep)}
                        if given.schedules else {})}
