#!/usr/bin/env bash
# Kernels of the zoo keep in registers what their threads hold: no image has spills, on Tensor Cores (E0840) or not.
# These are the files that reproducible.sh leaves out, which looks at the others; the products of gemm*.ing are tiles of
# the same rules. sm_90a has the widest tiles.
#
#   tests/ci/spills.sh FILE...      looks at these instead
set -euo pipefail

. "$SOURCE_DIR/tests/support/script.sh"
needs_ptxas
cd "$SOURCE_DIR/tests/kernels"
[ $# -gt 0 ] || set -- linear.ing conv2d.ing attention.ing
for file; do
  "$INGOT" build "$file" --arch sm_90a --ptx none -o "$work" >"$work/log" 2>&1 ||
    fail "$file: $(grep -m 3 'error\[' "$work/log")"
  manifest=$work/$(basename "$file" .ing).json
  [ -f "$manifest" ] || continue
  grep -q '"spill_stores": [0-9]' "$manifest" || fail "$file: the manifest says nothing of spills"
  lacks_spills "$manifest" "$file"
done
[ $failures = 0 ]
