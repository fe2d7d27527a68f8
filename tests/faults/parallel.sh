#!/usr/bin/env bash
# Many compilers write the same files at once, of two kinds, and some are killed: each file
# is always whole, or away for a moment, and in the end all are of one kind and nothing else
# is there.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/1" "$work/2"
cat >"$work/1/add.ing" <<'KERNEL'
kernel add(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }
KERNEL
sed 's/+/-/' "$work/1/add.ing" >"$work/2/add.ing"

# Builds kind $1 into the folder $2.
build() {
  "$INGOT" build "$work/$1/add.ing" --arch none -o "$2"
}

# Builds into $work/out, one kind and the other, for ever, until $work/stop is there.
build_often() {
  while [[ ! -e $work/stop ]]; do
    build 1 "$work/out" || touch "$work/broken"
    build 2 "$work/out" || touch "$work/broken"
  done
}

# Checks that the folder holds a whole build of one kind, and nothing else.
is_whole() {
  diff -r "$work/good1" "$work/out" >/dev/null || diff -r "$work/good2" "$work/out"
}

build 1 "$work/good1"
build 2 "$work/good2"
for _ in 1 2 3; do
  build_often &
done
for i in $(seq 60); do
  for name in add.fatbin add.h add.json; do
    cp "$work/out/$name" "$work/seen" 2>/dev/null || continue
    cmp -s "$work/good1/$name" "$work/seen" || cmp "$work/good2/$name" "$work/seen" ||
      touch "$work/broken"
  done
  { timeout -s KILL 0.0$((i % 9 + 1)) "$INGOT" build "$work/$((i % 2 + 1))/add.ing" --arch none \
    -o "$work/out"; } 2>/dev/null || true
done
touch "$work/stop"
wait
[[ ! -e $work/broken ]]
is_whole
