#!/usr/bin/env bash
# `ingot check` when the process that runs the kernel is ended, or has no memory.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
cd "$work" || exit 1

cat >endless.ing <<'ING'
kernel endless(n: int, by: int, A: f32[n]) -> C: f32[n]
    level flat
{
    launch f grid(1, 1, 1) block(32, 1, 1) {
        let t = idx32(thread.x)
        C[t] = A[t]
        for k: idx64 in 0..idx64(n) step idx64(by) {
            C[t] = C[t] + A[t]
        }
    }
}
ING
cat >copy.ing <<'ING'
kernel copy(n: int, A: f32[n]) -> C: f32[n] { C[i] = A[i] }
ING

# Ends the child of a check that never ends with a signal.
"$INGOT" check endless.ing --size n=32,by=0 --reference none >log 2>&1 &
check=$!
until child=$(pgrep -P "$check"); do
  sleep 0.02
done
kill -SEGV "$child"
wait "$check"
status=$?
[ "$status" = 1 ] || fail "crash: exit $status"
grep -q 'E1017.*`endless` crashed while it was checked: Segmentation fault' log ||
  fail "crash: $(cat log)"

# Leaves no address space for the arrays.
if (ulimit -v 4000000 && "$INGOT" --version >/dev/null 2>&1); then
  (ulimit -v 4000000 && exec "$INGOT" check copy.ing --size n=100 >log 2>&1)
  status=$?
  [ "$status" = 3 ] || fail "memory: exit $status"
  grep -q 'E0914' log || fail "memory: $(cat log)"
fi

[ $failures = 0 ]
