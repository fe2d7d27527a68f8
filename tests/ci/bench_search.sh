#!/usr/bin/env bash
# tools/bench/search.py without a GPU: a space of 12 points is measured by tests/tune/agent.py, and searches that take
# their times from the log find its best, without measuring again.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
needs_ptxas
cd "$work" || exit 1

mkdir spaces
cat >spaces/vadd.ing <<'ING'
// space: n=4096

kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }

schedule vadd {
    tune threads in [256, 128, 64, 512]
    tune lanes in [4, 2, 8]
    i0, i1, i2 = split(C.i, _, threads, lanes)
    bind(i0, block.x)
    bind(i1, thread.x)
    vectorize(i2)
}
ING
printf '%s\n' 'build 50' 'lanes = 8 90' 'threads = 64\b.*lanes = 2\b 40' >rules

search() {
  python3 -B "$SOURCE_DIR/tools/bench/search.py" "$1" "$INGOT" out --spaces spaces "${@:2}" >log 2>&1 ||
    fail "$1: exit $?: $(cat log)"
}

search measure --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules '$work/rules' --count '$work/count'"
holds log 'vadd_4096: 12 points'
measured=$(wc -l <count)
search replay --seeds 2
grep -q '^| vadd_4096 | 12 | 0 | .* | 1.000, 1.000 | 1.000, 1.000 |$' log || fail "the best is not found: $(cat log)"
search points
grep -qE '^1 [0-9.e-]+ 0\.8 64 2$' out/points/vadd_4096.txt || fail "no line of the best: $(cat out/points/*)"
[ "$(wc -l <out/points/vadd_4096.txt)" = 12 ] || fail "not each point has a line: $(cat out/points/*)"
[ "$(wc -l <count)" = "$measured" ] || fail "what the log has was measured again"
search live --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules '$work/rules'"
grep -q 's for 16 trials; .*40.00 us' log || fail "no curve: $(cat log)"

[ $failures = 0 ]
