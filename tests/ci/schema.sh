#!/usr/bin/env bash
# docs/manifest.schema.json says what manifests are: of kernels with guards, workspaces, strides, tensor maps and launch
# attributes, of PTX and, where there is ptxas, of cubins, and of one whose images were changed (schema.py).
set -euo pipefail

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
inputs=$SOURCE_DIR/tests/lit/package
cat >"$out/strided.ing" <<'ING'
kernel scale(n: int, ld: int, X: f32[n, 8] strides [ld, 1]) -> Y: f32[n, 8] where ld >= 8 { Y[i, j] = 2.0 * X[i, j] }
kernel padded(n: int, X: f32[n, 8]) -> Y: f32[n, 8] {
    alloc S: f32[n, 8] in global strides [9, 1]
    for i in 0..n @block.x { for j in 0..8 @thread.x { S[i, j] = X[i, j] } }
    for i in 0..n @block.x { for j in 0..8 @thread.x { Y[i, j] = S[i, 7 - j] } }
}
ING
"$INGOT" build "$out/strided.ing" "$inputs"/{launch-attributes,manifest,workspace-by-guard,tensor-maps}.ing \
  --arch none --ptx compute_90 --prefix @_ -o "$out"
"$INGOT" build "$out/strided.ing" --arch none --ptx compute_80 -o "$out/more"
"$INGOT" image add "$out/strided.fatbin" --from "$out/more/strided.fatbin"
if [[ -x $INGOT_CUDA/bin/ptxas ]]; then
  "$INGOT" build "$SOURCE_DIR/runtime/example/vadd.ing" --arch sm_90 --prefix my_ --emit object -o "$out"
fi
PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE_DIR/tests/ci/schema.py" "$SOURCE_DIR/docs/manifest.schema.json" "$out"/*.json
