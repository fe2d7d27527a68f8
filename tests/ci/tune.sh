#!/usr/bin/env bash
# `ingot tune` by an agent without a GPU (tests/tune/agent.py), which makes times up, and
# by `ingot agent` on a driver that the test builds: the planted best is found and builds
# take it; faults of candidates and agents are recorded and lose nothing else; a search
# that is killed goes on where it was.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
needs_ptxas
cd "$work" || exit 1

kernel='kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }'
schedule='
schedule vadd {
    tune threads in [256, 128, 64, 512]
    tune lanes in [4, 2, 8]
    i0, i1, i2 = split(C.i, _, threads, lanes)
    bind(i0, block.x)
    bind(i1, thread.x)
    vectorize(i2)
}'
echo "$kernel$schedule" >vadd.ing

# Runs `ingot tune` by the stub with the rules of the standard input.
tune() {
  cat >rules.new && mv rules.new rules
  "$INGOT" tune vadd.ing --size n=4096 --jobs 2 --budget 300s \
    --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules rules --count count" "$@" >log 2>&1
}

# ---- The best is found, recorded, and taken by builds

tune --json <<'RULES' || fail "exit $?"
build 50
threads = 64\b.*lanes = 2\b 40
RULES
holds log '"text": "schedule vadd for sm_90 when n == 4096 {\n    threads = 64\n    lanes = 2\n'
holds log '"by": "'
holds log '"share": 0.0'
holds log '"of_limit": 0.0'
holds vadd.tuned 'vadd n=4096 on "Stub GPU" sm_90a schedule 1 threads=64 lanes=2 : state=measured us=40'
[ "$(grep -c 'turns=40' vadd.tuned.log)" -ge 1 ] || fail "the best was not measured again"
"$INGOT" schedule vadd.ing --arch sm_90 --size n=4096 >taken
holds taken 'threads = 64'
"$INGOT" schedule vadd.ing --arch sm_90 --size n=4100 >taken
holds taken 'tune threads in'
"$INGOT" build vadd.ing --arch sm_90 -o built >log 2>&1 || fail "build: exit $?"
holds built/vadd.json 't1'
lacks log warning
tune --effort quick --forget --json <<<'build 50' || fail "--effort quick: exit $?"
[ "$(grep -c '"state"' log)" = 10 ] || fail "--effort quick goes on behind 8 trials that bring nothing"
tune --forget --json <<<'threads = 64\b.*lanes = 2\b 40' || fail "--forget: exit $?"
"$INGOT" build vadd.ing --check --arch sm_90 -o built >log 2>&1 || { fail "build --check"; cat log; }
"$INGOT" build vadd.ing --arch sm_90 --ptx none --emit ptx -o recorded

# What --emit schedule prints makes the same code.
tune --emit schedule </dev/null || fail "--emit: exit $?"
cp rules emitted
grep -v '^//' log >emitted
mkdir pasted && { echo "$kernel"; cat emitted; echo "$schedule"; } >pasted/vadd.ing
"$INGOT" build pasted/vadd.ing --arch sm_90 --ptx none --emit ptx -o pasted
tune --effort none --emit schedule </dev/null || fail "--effort none: exit $?"
holds log 'threads = 64'

# The code of an entry, without its name.
body() {
  sed -n "/\.entry $2(/,/^}/p" "$1" | sed 's/vadd__[a-z0-9_]*//g'
}
body recorded/vadd.sm_90.ptx vadd__t1 >x
body pasted/vadd.sm_90.ptx vadd__s1 >y
if [ ! -s x ] || ! cmp -s x y; then
  fail "the schedule that --emit prints makes other code"
fi

# A terminal shows how far it is.
echo 'build 0.4' >quick
python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$INGOT" tune vadd.ing --size n=1048576 --trials 1 \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules quick" </dev/null >log || fail "a terminal: exit $?"
grep -qE '[0-9]+ s left, trial 1, best 0.40 us, [0-9.]+ % of the limit \(dram\), 1.000 of the build' log ||
  { fail "no progress"; cat log; }
grep -qE 'no schedule can take less than [0-9.e-]+ us, by the model: [0-9.]+ % of the limit' log ||
  { fail "no limit"; cat log; }

# Similar sizes begin with what was fastest.
"$INGOT" tune vadd.ing --size n=8192 --trials 1 --json \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules rules" >log 2>&1 || fail "a seed: exit $?"
holds log '"schedule": "schedule 1 threads=64 lanes=2"'

# Factors of tiles are knobs, too; each is what the others leave.
cat >tile.ing <<'ING'
kernel tile(A: f32[96, 256]) -> C: f32[96, 256] { C[i, j] = A[i, j] + 1.0 }

schedule tile {
    t = sample_perfect_tile(C.j, 3, 64)
    a, b = sample_perfect_tile(C.i, 2, 8)
    j0, j1, j2 = split(C.j, _, t[1], t[2])
    i0, i1 = split(C.i, _, b)
    reorder(j0, i1)
    bind(i0, block.y)
    bind(j0, block.x)
    bind(i1, thread.y)
    bind(j1, thread.x)
}
ING
echo 'build 150' >slow
"$INGOT" tune tile.ing --trials 4 --jobs 2 --emit schedule \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules slow" >log 2>&1 || fail "tile: exit $?"
grep -qE 't = \[extent\(C.j\) / \([0-9]+ \* [0-9]+\), [0-9]+, [0-9]+\]' log || { fail "no factors"; cat log; }

# What --emit schedule has printed in `log` for the kernel $1 of $1.ing, pasted in front of its schedules, makes the
# same code as the record does.
pastes() {
  grep -q "^schedule $1 " log || { fail "$1: nothing was emitted"; cat log; }
  "$INGOT" build "$1.ing" --arch sm_90 --ptx none --emit ptx -o recorded || fail "$1: not built"
  { cat log && cat "$1.ing"; } >"pasted/$1.ing"
  "$INGOT" build "pasted/$1.ing" --arch sm_90 --ptx none --emit ptx -o pasted || fail "$1: not pasted"
  cmp -s <(sed "s/$1__[a-z0-9_]*/$1/g" "recorded/$1.sm_90.ptx") <(sed "s/$1__[a-z0-9_]*/$1/g" "pasted/$1.sm_90.ptx") ||
    fail "$1: what --emit prints makes other code"
}
pastes tile

# Knobs that defs make, some of them with others alone; the same in a case of a rule.
cat >defs.ing <<'ING'
kernel defs(n: int, A: f32[n]) -> C: f32[n] { C[i] = A[i] + 1.0 }

schedule defs { over_blocks(C.i) }

def over_blocks(loop) {
    threads = sample_categorical([256, 128, 64])
    if threads == 64 { lanes = sample_categorical([1, 2, 4]) } else { lanes = 1 }
    i0, i1, i2 = split(loop, _, threads, lanes)
    bind(i0, block.x)
    bind(i1, thread.x)
}
ING
sed 's/^schedule.*/schedule defs by spread(C)\nrule spread(Y) { case(times in [1, 2]) { over_blocks(split(Y.i, _, times)[0]) } }/
     s/defs/ruled/' defs.ing >ruled.ing
for one in defs:1 ruled:2; do
  cases=${one#*:} one=${one%:*}
  printf '%s\n' 'build 150' 'set threads = 64.*set lanes = 2\b 40' >few
  "$INGOT" tune $one.ing --size n=4096 --jobs 2 --emit schedule \
    --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules few" >log 2>&1 || fail "$one: exit $?"
  holds log '    set threads = 64'
  holds log '    set lanes = 2'
  pastes $one
  [ "$(grep -c 'threads=128 ' $one.tuned.log)" = "$cases" ] || fail "$one: knobs that are not made are told apart"
done

# A definition alone.
echo 'kernel alone(m: int, n: int, A: f32[m, n]) -> S: f32[m] { S[i] = sum(j in n) A[i, j] }' >alone.ing
"$INGOT" tune alone.ing --size m=512,n=4096 --jobs 2 --emit schedule \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules slow" >log 2>&1 || fail "alone: exit $?"
holds log 'when m == 512 && n == 4096 {'
pastes alone

# What other rules that match it would give is tried, too; so is the default in other shapes, where none does.
cat >second.ing <<'ING'
kernel second(n: int, A: f32[n]) -> C: f32[n] { C[i] = A[i] * 2.0 }

rule first(Y) matches len(reductions(Y)) == 0 { case { elementwise(Y.loops, 128, 4) } }
rule next(Y) matches len(reductions(Y)) == 0 { case(threads in [64, 32]) { elementwise(Y.loops, threads, 2) } }
rule never(Y) matches len(reductions(Y)) == 1 { case { elementwise(Y.loops, 16, 1) } }
ING
echo 'kernel plain(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[n - 1 - i] }' >plain.ing
printf '%s\n' 'build 150' 'threads = 32\b.* 40' 'split.C.i, _, 2, 128. 30' >few
for one in second plain; do
  "$INGOT" tune $one.ing --size n=4194304 --jobs 2 --emit schedule --reference none \
    --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules few" >log 2>&1 || fail "$one: exit $?"
  pastes $one
done
holds second.tuned 'rule next 3 : state=measured us=40'
lacks second.tuned.log 'rule never'
holds plain.tuned 'rule default '
holds plain.tuned 'us=30'

# A search of the whole space measures each point in as many turns, and ranks none.
rm -f vadd.tuned*
tune --effort exhaustive --json --forget <<'RULES' || fail "--effort exhaustive: exit $?"
build 50
threads = 64\b.*lanes = 2\b 40
RULES
holds log '"points": 12'
[ "$(grep -c ' turns=10 ' vadd.tuned.log)" = 12 ] || { fail "not each point in 10 turns"; cat vadd.tuned.log; }
holds vadd.tuned 'threads=64 lanes=2'
! grep -q '"predicted": [0-9]' log || fail "a search of the whole space ranks"

# What spills registers comes last.
cat >spills.ing <<'ING'
kernel spills(A: f32[64, 128, 256]) -> C: f32[64, 128, 256] { C[b, i, j] = sum(k in 128) A[b, k, j] * A[b, i, 255 - j] }

schedule spills {
    tune blocks in [8, 1, 2]
    acc = cache_write(C, local)
    i0, i1 = split(C.i, _, 64)
    bind(fuse(C.b, i0), block.x)
    bind(C.j, thread.x)
    reorder(C.j, C.k, i1)
    unroll(i1)
    reverse_compute_at(acc, C.j)
    launch(blocks)
}
ING
"$INGOT" tune spills.ing --jobs 1 --json --reference none \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --count spilled" >log 2>&1 || fail "spills: exit $?"
holds log '"state": "put off"'
sed -n 2p spilled | grep -q 'blocks = 1 ' || { fail "what spills does not come last"; cat spilled; }

# Comments do not make a record stale; what the kernel computes does.
sed -i 's|$| // a comment|' vadd.ing
"$INGOT" build vadd.ing --arch sm_90 -o built >log 2>&1
lacks log E0554
sed 's/A\[i\] + B/A[i] - B/' vadd.ing >changed.ing
cp vadd.tuned changed.tuned
"$INGOT" build changed.ing --arch sm_90 -o built >log 2>&1 || fail "stale: exit $?"
holds log 'warning[E0554]: the record for `vadd` is passed over: the kernel computes something else now'
echo "$kernel$schedule" >vadd.ing

# ---- The same seed takes the same way

for run in 1 2; do
  rm -f vadd.tuned*
  tune --seed 4 --trials 10 <<<'lanes = 2\b 40' || fail "--seed: exit $?"
  grep -o 'schedule 1.*turns=[0-9]*' vadd.tuned.log | sort >way$run
done
cmp -s way1 way2 || { fail "the same seed takes another way"; diff way1 way2; }

# ---- Faults of candidates

rm -f vadd.tuned*
tune --limit 6s <<'RULES' || fail "faults: exit $?"
build 50
threads = 64\b.*lanes = 2\b 40
threads = 256\b.*lanes = 2\b crash
threads = 256\b.*lanes = 4\b wrong
threads = 128\b.*lanes = 2\b fault
threads = 128\b.*lanes = 4\b hang
threads = 512\b.*lanes = 2\b garbage
RULES
for fault in 'threads=256 lanes=2 : state=crashed' 'threads=256 lanes=4 : state=wrong' \
  'threads=128 lanes=2 : state=fault' 'threads=128 lanes=4 : state=hung' \
  'threads=512 lanes=2 : state=crashed'; do
  holds vadd.tuned.log "$fault"
done
holds vadd.tuned 'threads=64 lanes=2'
holds log 'fault'
holds log '  to build with it: ingot build vadd.ing --arch sm_90a'

# The limit is of what the GPU does: checks may take longer by the clock, not by the processor.
rm -f vadd.tuned*
cat >rules <<'RULES'
build 50
threads = 64\b.*lanes = 2\b 40
threads = 256\b.*lanes = 2\b slow
threads = 256\b.*lanes = 8\b spins
threads = 128\b.*lanes = 2\b idles
threads = 128\b.*lanes = 4\b stuck
RULES
"$INGOT" tune vadd.ing --size n=4096 --jobs 2 --budget 300s --limit 1s \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules rules --phases" >log 2>&1 || fail "phases: exit $?"
for fate in 'threads=256 lanes=2 : state=measured us=400' \
  'threads=256 lanes=8 : state=hung.*takes more than 6 s of processor time' \
  'threads=128 lanes=2 : state=hung.*nothing is done for 6 s' \
  'threads=128 lanes=4 : state=hung.*the GPU works for more than 1 s'; do
  grep -q "$fate" vadd.tuned.log || { fail "not $fate"; cat vadd.tuned.log; }
done
holds vadd.tuned 'threads=64 lanes=2'

# A compiler that is killed, by its third ptxas.
rm -f vadd.tuned*
mkdir -p cuda/bin
ptxas=$(readlink -f "${INGOT_CUDA:-/usr/local/cuda}/bin/ptxas")
cat >cuda/bin/ptxas <<SH
#!/bin/sh
case "\$*" in *--version*) exec $ptxas "\$@" ;; esac
n=\$(/bin/cat $work/runs 2>/dev/null)
echo "x\$n" >$work/runs
[ "\$n" = xx ] && kill -9 \$PPID
exec $ptxas "\$@"
SH
chmod +x cuda/bin/ptxas
tune --cuda "$work/cuda" --jobs 1 <<<'lanes = 4 40' || fail "a killed compiler: exit $?"
[ "$(grep -c 'state=crashed.*the compiler ended by Killed' vadd.tuned.log)" = 1 ] ||
  { fail "a killed compiler is not recorded"; cat vadd.tuned.log; }
holds vadd.tuned 'state=measured us=40'

# One that does nothing: its third ptxas stops it.
rm -f vadd.tuned* runs
sed -i 's/kill -9 /kill -STOP /; s/$PPID$/$PPID \&\& sleep 1000/' cuda/bin/ptxas
tune --cuda "$work/cuda" --jobs 1 --ptxas-timeout 2 <<<'lanes = 4 40' || fail "a stopped compiler: exit $?"
[ "$(grep -c 'state=hung.*the compiler does nothing' vadd.tuned.log)" = 1 ] ||
  { fail "a stopped compiler is not recorded"; cat vadd.tuned.log; }
holds vadd.tuned 'state=measured us=40'

# ---- Killed at any time, it goes on

rm -f vadd.tuned* count
cat >rules <<'RULES'
build 50
threads = 64\b.*lanes = 2\b 40
RULES
"$INGOT" tune vadd.ing --size n=4096 --jobs 1 --budget 300s \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules rules --count count --delay 0.2" >log 2>&1 &
tuner=$!
until [ "$(cat vadd.tuned.log 2>/dev/null | wc -l)" -ge 4 ]; do sleep 0.05; done
kill -9 $tuner
wait $tuner 2>/dev/null
printf 'vadd n=4096 on "Stub GPU" sm_9' >>vadd.tuned.log
sleep 0.3
tune <rules || fail "resumed: exit $?"
holds vadd.tuned 'threads=64 lanes=2'
# One that was measured as the tuner was killed may be measured again.
twice=$(grep -o 'schedule 1.*turns=[0-9]*' vadd.tuned.log | sed 's/us=.*turns/turns/' | sort | uniq -d | wc -l)
[ "$twice" -le 1 ] || { fail "$twice were measured twice"; cat vadd.tuned.log; }

# ---- Several agents

rm -f vadd.tuned*
stub="exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules rules --delay 0.1 --count"
"$INGOT" tune vadd.ing --size n=4096 --jobs 2 --budget 300s --agents "$stub a; $stub b" >log 2>&1 ||
  fail "agents: exit $?"
[ "$(wc -l <a)" -ge 3 ] && [ "$(wc -l <b)" -ge 3 ] || { fail "one agent did it all"; wc -l a b; }
holds vadd.tuned 'threads=64 lanes=2'

# The second one greets while candidates are compiled; what is wrong with it ends the search.
agent="exec python3 '$SOURCE_DIR/tests/tune/agent.py'"
for other in "$agent --device Other|has another kind of GPU" "exit 3|ended with exit status 3"; do
  "$INGOT" tune vadd.ing --size n=4096 --agents "$agent; ${other%|*}" >log 2>&1
  [ $? = 3 ] || fail "an agent that does not fit is not refused"
  holds log "${other#*|}"
done

# ---- Which GPU it is, before an agent says so

early="exec python3 '$SOURCE_DIR/tests/tune/agent.py' --greeting 0.5 --early"
by_log() {
  "$INGOT" tune vadd.ing --size "n=$1" --trials 1 --forget --cross "$early --device '$2'" >log 2>&1 ||
    fail "$2: exit $?"
  holds log "compared with $3"
  grep -q "^vadd n=$1 on \"$2\"" vadd.tuned.log || fail "no record of $2"
}
rm -f vadd.tuned*
by_log 100 'NVIDIA H200' 'eval behind the greeting'
by_log 200 'NVIDIA H200' 'eval before the greeting'
by_log 300 'NVIDIA H100' 'eval behind the greeting'
by_log 400 'Stub GPU' 'eval behind the greeting'
by_log 500 'Stub GPU' 'eval before the greeting'

# ---- The agent itself

cc -w -shared -fPIC -O1 -o libcuda.so.1 "$SOURCE_DIR/tests/faults/fake_gpu.c" || exit 1
rm -f vadd.tuned*

# Runs `ingot tune` on the driver in mode $1: exit $2, and its output holds $3.
by_agent() {
  local mode=$1 status=$2 text=$3 got
  shift 3
  FAKE_GPU=$mode "$INGOT" tune vadd.ing --size n=1000 --trials 2 --driver "$work/libcuda.so.1" "$@" >log 2>&1
  got=$?
  [ $got = "$status" ] || fail "FAKE_GPU=$mode $*: exit $got instead of $status"
  holds log "$text"
}
by_agent slow 0 'compared with eval'
by_agent slow 0 'without its schedules, which was compared with the definition at small sizes' --steps 100 --forget
by_agent idle 1 'error[E0922]: `vadd` cannot be tuned: what a build takes, the only variant, computes something else'
by_agent outside 1 'E0909'
by_agent empty 3 'error[E0921]: the agent'
by_agent slow 1 'error[E0922]' --budget 0.001s

# ---- Where nothing can be written, and what cannot be asked

rm -rf vadd.tuned*
mkdir vadd.tuned
tune <rules
[ $? = 3 ] || fail "a record that cannot be written: exit $?"
holds log 'error[E0817]: cannot write `vadd.tuned`'
rm -rf vadd.tuned*
mkdir vadd.tuned.log
tune <rules
[ $? = 3 ] || fail "a log that cannot be written: exit $?"
holds log 'error[E0923]: cannot write the log `vadd.tuned.log`'
rm -rf vadd.tuned*
for options in "--budget never" "--trials 0" "--emit ptx" "--effort some"; do
  # shellcheck disable=SC2086
  "$INGOT" tune vadd.ing --size n=8 $options >log 2>&1
  [ $? = 2 ] || fail "$options: not refused"
done
"$INGOT" tune vadd.ing --size n=8 --cross "echo '{}'" >log 2>&1
[ $? = 3 ] || fail "an agent that says nothing is not refused"
holds log 'does not say which GPU it has'

[ $failures = 0 ]
