#!/usr/bin/env bash
# A C compiler that fails, lacks OpenMP, writes nothing of use or something that crashes:
# `ingot run --reference host` says so and goes on only where it can.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
cd "$work" || exit 1
mkdir bin scratch
real=$(command -v cc)
cat >axpy.ing <<'ING'
kernel axpy(n: int, a: f32, X: f32[n], Y: f32[n]) -> Z: f32[n] { Z[i] = a * X[i] + Y[i] }
ING

# Runs with the shell script $3 for cc, which has the path of the real one in $real: the
# exit status must be $1, the output hold $2, and nothing be left in the scratch folder.
expect() {
  local status=$1 text=$2 got
  printf '#!/bin/bash\nreal=%s\n%s\n' "$real" "$3" >bin/cc
  chmod +x bin/cc
  PATH=$work/bin:$PATH TMPDIR=$work/scratch "$INGOT" run axpy.ing --size n=100 --scalar a=0.5 \
    --device cpu --reference host >log 2>&1
  got=$?
  if [[ $got != "$status" ]] || ! grep -qF -- "$text" log; then
    fail "$3: exit $got instead of $status, wanted: $text, got: $(cat log)"
  fi
  [[ -z $(ls -A scratch) ]] || fail "$3 left $(ls scratch)"
}

# Makes a cc that compiles this instead of what it is given.
instead() {
  printf 'while [[ $1 != -o ]]; do shift; done\necho "%s" | "$real" -shared -fPIC -xc - -o "$2"' "$1"
}

good='Z: all 100 elements equal the reference (host)'
expect 0 "$good" 'exec "$real" "$@"'
expect 0 "$good" '[[ "$*" != *-fopenmp* ]] && exec "$real" "$@"'
expect 3 'cc for the host reference exited with status 4' 'exit 4'
expect 3 'error[E0913]' "$(instead 'int other;')"
expect 3 'error[E0913]' 'exit 0'
crash='void abort(void); void ingot_reference(void **a) { abort(); }'
expect 3 'to its end: Aborted' "$(instead "$crash")"
leave='void _exit(int); void ingot_reference(void **a) { _exit(1); }'
expect 3 'E0920' "$(instead "$leave")"

# A signal while the compiler runs waits until the scratch folder is gone.
printf '#!/bin/bash\n: >%s/started\nsleep 1\nexec %s "$@"\n' "$work" "$real" >bin/cc
PATH=$work/bin:$PATH TMPDIR=$work/scratch "$INGOT" run axpy.ing --size n=100 --scalar a=0.5 \
  --device cpu --reference host >log 2>&1 &
until [[ -e started ]]; do sleep 0.05; done
kill -TERM $!
wait $!
[[ $? == 143 ]] || fail "exit after TERM"
[[ -z $(ls -A scratch) ]] || fail "TERM left $(ls scratch)"

[ $failures = 0 ]
