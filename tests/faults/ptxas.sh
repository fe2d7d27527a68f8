#!/usr/bin/env bash
# A ptxas that is absent, fails, hangs, floods or lies: each ends in one message with a
# code, exit status 3, no output and no process left over.
set -euo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
mkdir -p "$work/cuda/bin"
cat >"$work/add.ing" <<'KERNEL'
kernel add(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }
KERNEL

# Builds with the shell script $3 for ptxas, and the options behind it, and checks: the
# code $2 is reported, once.  $1 says what is tried.
expect() {
  local what=$1 code=$2 status=0
  printf '#!/bin/sh\n%s\n' "$3" >"$work/cuda/bin/ptxas"
  chmod +x "$work/cuda/bin/ptxas"
  shift 3
  "$INGOT" build "$work/add.ing" --cuda "$work/cuda" --arch sm_80 -o "$work/out" "$@" \
    2>"$work/errors" || status=$?
  [[ $status -eq 3 ]] || fail "$what: exit status $status"
  [[ $(grep -c '^error' "$work/errors") -eq 1 ]] || fail "$what: not one error"
  grep -q "^error\[$code\]" "$work/errors" || fail "$what: $(head -1 "$work/errors")"
  [[ ! -e $work/out ]] || fail "$what: left something behind: $(ls -A "$work/out")"
  if pgrep -f "$work/cuda/bin/ptxas" >/dev/null; then
    fail "$what: a process is left over"
  fi
  rm -rf "$work/out"
}

expect "exits with a failure" E0803 'echo "ptxas fatal   : no" >&2; exit 255'
expect "crashes" E0804 'kill -SEGV $$'
expect "is killed" E0804 'kill -KILL $$'
expect "cannot run" E0803 'exec /no/such/program'
expect "does not know the architecture" E0807 \
  "echo \"ptxas fatal   : Value 'sm_80' is not defined for option 'gpu-name'\" >&2; exit 255"
expect "is too old" E0808 \
  'echo "ptxas x, line 5; fatal   : Unsupported .version 7.0; current version is 6.5" >&2; exit 255'
expect "floods its output" E0806 'exec cat /dev/zero'
expect "floods its messages" E0806 'exec cat /dev/zero >&2'
expect "writes nothing" E0809 'exit 0'
expect "writes text" E0809 'echo all done'
expect "writes zeros" E0809 'head -c 5000 /dev/zero'
expect "writes another ELF file" E0809 'cat /bin/true'
if [[ -n ${INGOT_CUDA:-} && -x $INGOT_CUDA/bin/ptxas ]]; then
  real=$INGOT_CUDA/bin/ptxas
  expect "assembles for another architecture" E0810 \
    "exec $real -arch=sm_90 /dev/stdin -o /dev/stdout"
  expect "leaves a kernel out" E0811 \
    "sed 's/\\badd\\b/sub/' | $real -arch=sm_80 /dev/stdin -o /dev/stdout"
  expect "stops in the middle" E0809 "$real \"\$@\" | head -c 1024"
  expect "writes before its code" E0809 "echo; exec $real \"\$@\""
  expect "writes behind its code" E0809 "$real \"\$@\"; echo"
  expect "writes its code twice" E0809 "$real \"\$@\" >$work/code; cat $work/code $work/code"
fi
expect "hangs, and so does its child" E0805 'sleep 1000 & sleep 1000' --ptxas-timeout 0.5
grep -q 'did nothing for 0.5 s' "$work/errors" || fail "hangs: $(head -1 "$work/errors")"
expect "computes for ever" E0805 'while :; do :; done' --ptxas-timeout 2
grep -q 'more than 2 s of processor time' "$work/errors" ||
  fail "computes for ever: $(head -1 "$work/errors")"
expect "has a child compute for ever" E0805 '(while :; do :; done); :' --ptxas-timeout 2
grep -q 'more than 2 s of processor time' "$work/errors" ||
  fail "has a child compute for ever: $(head -1 "$work/errors")"

rm "$work/cuda/bin/ptxas"
status=0
"$INGOT" build "$work/add.ing" --cuda "$work/cuda" --arch sm_80 -o "$work/out" 2>"$work/errors" ||
  status=$?
[[ $status -eq 3 ]] && grep -q 'E0801\|E0802' "$work/errors" || fail "absent: $(cat "$work/errors")"
[[ ! -e $work/out ]] || fail "absent: left something behind"

[ $failures = 0 ]
