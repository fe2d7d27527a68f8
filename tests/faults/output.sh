#!/usr/bin/env bash
# An output folder that cannot be written, or is full: one message, exit status 3, and
# everything is as it was before.
set -euo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
cat >"$work/add.ing" <<'KERNEL'
kernel add(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }
KERNEL
mkdir "$work/other"
sed 's/+/-/' "$work/add.ing" >"$work/other/add.ing"

# Runs the command behind $1, which builds into the folder $1, and checks that it fails
# with E0817 and leaves the folder as it was.
expect() {
  local status=0 before after folder=$1
  shift
  before=$(ls -lA --time-style=full-iso "$folder" 2>&1 || true)
  "$@" 2>&1 | cat >"$work/errors" || status=$?
  after=$(ls -lA --time-style=full-iso "$folder" 2>&1 || true)
  [[ $status -eq 3 ]] || fail "$folder: exit status $status"
  grep -q '^error\[E0817\]' "$work/errors" || fail "$folder: $(head -1 "$work/errors")"
  [[ $before == "$after" ]] || fail "$folder: was changed: $after"
}

# Builds into a folder.
build() {
  "$INGOT" build "$work/add.ing" --arch none -o "$1"
}

# Builds something else of the same name into a folder under a limit of file sizes, 4 KiB.
# A build that counts executed lines must not write its own files then.
build_limited() {
  (
    export GCOV_PREFIX=/dev/null
    ulimit -f 4
    "$INGOT" build "$work/other/add.ing" --arch none -o "$1"
  )
}

build "$work/good"
for name in add.fatbin add.h add.json; do
  [[ -s $work/good/$name ]] || fail "no $name"
done

expect "$work/good" build_limited "$work/good"
mkdir "$work/empty"
expect "$work/empty" build_limited "$work/empty"

# Folders that are missing are made, and stay only if all goes well.
build "$work/a/b/c" && [[ -s $work/a/b/c/add.h ]] || fail "a/b/c was not made"
expect "$work/d" build_limited "$work/d/e/f"
touch "$work/file"
expect "$work/file" build "$work/file"
expect "$work/file" build "$work/file/sub"
mkdir -p "$work/taken/add.h"
expect "$work/taken" build "$work/taken"
if [[ $EUID -ne 0 ]]; then
  mkdir -m 555 "$work/locked"
  expect "$work/locked" build "$work/locked"
fi

# A file system of 8 KiB, where the system lets us mount one in a namespace of our own.
mkdir "$work/full"
if unshare -rm mount -t tmpfs -o size=8k none "$work/full" 2>/dev/null; then
  status=0
  unshare -rm bash -c "
    mount -t tmpfs -o size=8k none $work/full
    $INGOT build $work/add.ing --arch none -o $work/full 2>$work/errors
    echo \$? >$work/status
    ls -A $work/full >$work/left" || status=$?
  [[ $(cat "$work/status") -eq 3 ]] || fail "full: exit status $(cat "$work/status")"
  grep -q 'E0817.*No space left' "$work/errors" || fail "full: $(head -1 "$work/errors")"
  [[ ! -s $work/left ]] || fail "full: left $(cat "$work/left")"
fi

[ $failures = 0 ]
