# Golden tests: each file runs its `RUN:` lines.
#
#   %ingot      the command under test      %S  the folder of the test file
#   %FileCheck  LLVM's FileCheck            %s  the test file
#   %not        succeeds when its command fails (%not --crash: when it crashes); `%ingot opt` and
#               `check` fail with the exit status of a wrong input, 1
#   %t          a scratch path of the test's own
#   %mapping    the passes from loops over blocks and threads to launches, for `--pass`
#   %cuda       the folder of the CUDA tools
#   %llvm       `LLVM22`, or `LLVM21` for older ones: a prefix of checks for what one version of LLVM prints
#
# `REQUIRES: ptxas, nvdisasm` skips a test where one of these CUDA tools is lacking,
# `REQUIRES: cc` where no C compiler is,
# `REQUIRES: llvm22` where the compiler was built with another LLVM,
# `REQUIRES: gpu` where no NVIDIA GPU is.
# `UNSUPPORTED: instrumented` skips one that takes minutes under a sanitizer, and whose parts others run; there
# `%ingot check` takes two cases (lit/brief), but in check/: generated code is not instrumented, the compiler is.
# There one test in three of each folder runs, the first and the last among them, unless INGOT_SLOW is set.

import os
import shutil
import sys

import lit.formats

# What workers of lit are sent has to be in a module.
sys.path.insert(0, os.path.dirname(__file__))
import sample

config.name = "ingot"
config.test_format = (sample.SampleTest if config.is_instrumented else lit.formats.ShTest)(execute_external=False)
config.suffixes = [".ing", ".test", ".txt"]
config.excludes = ["Inputs", "README.md", "exits", "brief"]
config.test_source_root = os.path.dirname(__file__)

wrong = os.path.join(config.test_source_root, "exits") + f" 1 {config.ingot}"
brief = os.path.join(config.test_source_root, "brief") + f" {config.ingot}" if config.is_instrumented else config.ingot
config.substitutions += [
    ("%not %ingot opt", f"{wrong} opt"),
    ("%not %ingot check", f"{wrong} check"),
    ("%ingot check", f"{brief} check"),
    ("%ingot", config.ingot),
    ("%mapping", "launches,grid_hazards,grid_hazards_loops,single_writer,barrier_insertion,mapped,"
     "overlap,resources"),
    ("%cuda", config.cuda),
    ("%FileCheck", os.path.join(config.llvm_bin, "FileCheck")),
    ("%readobj", os.path.join(config.llvm_bin, "llvm-readobj")),
    ("%llvm", "LLVM22" if int(config.llvm_major) >= 22 else "LLVM21"),
    ("%not", os.path.join(config.llvm_bin, "not")),
]

config.available_features.add(f"llvm{config.llvm_major}")
config.environment["INGOT_CUDA"] = config.cuda
for name in ("CUDA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "INGOT_MUTANT", "INGOT_REACHED"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

for tool in ("ptxas", "nvdisasm"):
    if os.access(os.path.join(config.cuda, "bin", tool), os.X_OK):
        config.available_features.add(tool)
if config.is_instrumented:
    config.available_features.add("instrumented")
if shutil.which("cc"):
    config.available_features.add("cc")
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("gpu")
