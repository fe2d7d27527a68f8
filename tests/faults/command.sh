#!/usr/bin/env bash
# Exit codes of every subcommand, and that a failure leaves nothing behind.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
cd "$work" || exit 1
cat >ok.ing <<'ING'
kernel add(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }
ING
echo 'kernel broken(n: int) {' >broken.ing
: >empty.ing
head -c 1048576 /dev/urandom >noise.ing
mkdir bare full

# Runs the command behind $1, which must be its exit code; the folder `out` must then be
# as it was: absent, unless the command succeeds.
expect() {
  local status=$1 got
  shift
  "$@" >log 2>&1
  got=$?
  if [[ $got != "$status" ]]; then
    fail "exit $got instead of $status: $*: $(cat log)"
  fi
  if [[ $status != 0 && -e out ]]; then
    fail "left behind by $*: $(ls -A out)"
  fi
  if [[ $status != 0 && ! -s log ]]; then
    fail "no message: $*"
  fi
  rm -rf out
}

ptx=(--arch none -o out)
expect 0 "$INGOT" build ok.ing "${ptx[@]}"
expect 0 "$INGOT" build ok.ing --arch none -o out/of/nothing
expect 0 "$INGOT" opt ok.ing
expect 0 "$INGOT" explain E0101
expect 0 "$INGOT" explain all
expect 0 "$INGOT" inspect ok.ing --arch none

# A name that is not UTF-8 is no reason to fail, and no reason to write bad JSON.
odd=$'odd\377.ing'
cp ok.ing "$odd"
expect 0 "$INGOT" build "$odd" "${ptx[@]}" --json
grep -qF '"source": "odd?.ing"' log || fail "$(cat log)"
python3 -m json.tool log >/dev/null || fail "bad JSON"
"$INGOT" build "$odd" --arch none -o odd
python3 -m json.tool "odd/${odd%.ing}.json" >/dev/null || fail "bad manifest"
expect 0 "$INGOT" inspect "odd/${odd%.ing}.fatbin" --json
rm -r odd

# The input is wrong: 1.
expect 1 "$INGOT" build broken.ing "${ptx[@]}"
expect 1 "$INGOT" build empty.ing "${ptx[@]}"
expect 1 "$INGOT" build noise.ing "${ptx[@]}"
expect 1 "$INGOT" build missing.ing "${ptx[@]}"
expect 1 "$INGOT" build bare "${ptx[@]}"
expect 1 "$INGOT" run broken.ing
expect 1 "$INGOT" inspect broken.ing
expect 1 "$INGOT" fmt noise.ing
expect 1 "$INGOT" opt broken.ing

# The usage is wrong: 2.
expect 2 "$INGOT"
expect 2 "$INGOT" no-such-command
for command in build run inspect fmt opt explain; do
  expect 2 "$INGOT" "$command"
  expect 2 "$INGOT" "$command" --no-such-option ok.ing
done
expect 2 "$INGOT" build ok.ing --arch sm_1 -o out
expect 2 "$INGOT" build ok.ing --ptx sm_1 -o out
expect 2 "$INGOT" run ok.ing
expect 2 "$INGOT" explain E0000
expect 2 "$INGOT" opt ok.ing --pass no_such_pass

# A tool, a device or the file system failed: 3.
expect 3 "$INGOT" build ok.ing --cuda "$work/bare" -o out
grep -q "not in $work/bare/bin (--cuda)" log || fail "where was it looked for?"
expect 3 env -i "$INGOT" build ok.ing --cuda "$work/bare" -o out
expect 3 "$INGOT" build ok.ing --fatbinary --cuda "$work/bare" --arch none -o out
expect 3 "$INGOT" build ok.ing --arch none -o ok.ing/out
expect 3 "$INGOT" build ok.ing --arch none -o ok.ing
expect 3 "$INGOT" build ok.ing "${ptx[@]}" --depfile missing/ok.d
expect 3 "$INGOT" run ok.ing --size n=1 --device gpu --driver "$work/none.so"
if [[ $(id -u) != 0 ]]; then
  chmod a-w full
  expect 3 "$INGOT" build ok.ing --arch none -o full
  expect 3 "$INGOT" fmt -i full/x.ing
fi
[[ -z $(ls -A full) ]] || fail "left behind in full"
if [[ -e /dev/full ]]; then
  "$INGOT" fmt ok.ing >/dev/full 2>log
  [[ $? == 3 ]] || fail "fmt to a full device"
  "$INGOT" run ok.ing --size n=1 --device cpu >/dev/full 2>log
  [[ $? == 3 ]] || fail "run to a full device"
  "$INGOT" inspect ok.ing --arch none >/dev/full 2>log
  [[ $? == 3 ]] || fail "inspect to a full device"
  "$INGOT" build ok.ing "${ptx[@]}" --json >/dev/full 2>log
  [[ $? == 3 ]] || fail "build --json to a full device"
fi
[ $failures = 0 ]
