#!/usr/bin/env bash
# Many compilers write the same files at once, some are killed: a reader always sees a
# whole pair, and in the end nothing else is there.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/add.ing" <<'KERNEL'
kernel add(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }
KERNEL

# Builds into $work/out, for ever, until $work/stop is there.
build_often() {
  while [[ ! -e $work/stop ]]; do
    "$INGOT" build "$work/add.ing" --arch none -o "$work/out" || touch "$work/broken"
  done
}

"$INGOT" build "$work/add.ing" --arch none -o "$work/out"
cp -r "$work/out" "$work/good"
builders=()
for _ in 1 2 3; do
  build_often &
  builders+=($!)
done
end=$((SECONDS + 5))
while ((SECONDS < end)); do
  for name in add.fatbin add.h add.json; do
    cmp "$work/good/$name" "$work/out/$name" || touch "$work/broken"
  done
  { timeout -s KILL 0.03 "$INGOT" build "$work/add.ing" --arch none -o "$work/out"; } 2>/dev/null ||
    true
done
touch "$work/stop"
wait "${builders[@]}"
[[ ! -e $work/broken ]]
diff -r -x '.*.tmp' "$work/good" "$work/out"
