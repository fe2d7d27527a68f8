#!/usr/bin/env bash
# `mpirun ingot tune` on one machine, with agents without a GPU (tests/tune/agent.py): all
# ranks get work and a GPU each; faults of agents are recorded and lose nothing else, and
# so does the end of a whole rank, where mpirun allows it; without MPI there is an error,
# and no tuners that know nothing of each other.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
needs_ptxas
cd "$work" || exit 1
unset CUDA_VISIBLE_DEVICES

cat >vadd.ing <<'ING'
kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }

schedule vadd {
    tune threads in [256, 128, 64, 512, 32, 1024]
    tune lanes in [4, 2, 8, 16]
    i0, i1, i2 = split(C.i, _, threads, lanes)
    bind(i0, block.x)
    bind(i1, thread.x)
    vectorize(i2)
}
ING
best='threads = 64\b.*lanes = 2\b 40'
printf 'build 50\n%s\n' "$best" >rules

# ---- What is refused, with or without MPI

mkdir alone
cp "$INGOT" alone/ingot

# `ingot $1`, as rank $2 of 4, must end with $3.
as_rank() {
  OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=$2 "$1" tune vadd.ing --size n=64 "${@:4}" >log 2>&1
  [ $? = "$3" ] || { fail "rank $2 ${*:4}: not exit $3"; cat log; }
}
as_rank alone/ingot 0 3
holds log 'error[E0924]: 4 processes cannot tune together: this build has no MPI: there is no `ingot-mpi` beside it'
as_rank alone/ingot 1 3
[ ! -s log ] || { fail "every rank says it"; cat log; }
as_rank "$INGOT" 0 3 --gpus 2
holds log 'E0924'
as_rank "$INGOT" 0 3 --agents 'a; b'
holds log 'E0924'
[ ! -e vadd.tuned.log ] || fail "one of several tuners wrote a log"

helper=$(dirname "$INGOT")/ingot-mpi
if [ ! -x "$helper" ] || ! command -v mpirun >/dev/null; then
  echo "no MPI"
  [ $failures = 0 ] && exit 77
  exit 1
fi
export ASAN_OPTIONS=detect_leaks=0 # MPI's own
"$helper" >log 2>&1
[ $? = 2 ] || fail "ingot-mpi by hand: not exit 2"
"$helper" bridge "ingot-mpi-no-such" >log 2>&1 && fail "a bridge to nowhere"
holds log 'no rank behind'
# A launcher whose processes are strangers to MPI.
PMI_SIZE=4 PMI_RANK=0 "$INGOT" tune vadd.ing --size n=64 >log 2>&1
[ $? = 3 ] || fail "strangers: not exit 3"
holds log '4 processes were started, MPI has 1'

# ---- Several ranks

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# Runs $1 ranks, whose agents take the options $2; more options of mpirun are in `mpi`.
mpi=()
tune() {
  local ranks=$1 agent=$2
  shift 2
  # shellcheck disable=SC2016
  mpirun --oversubscribe --mca btl self,vader "${mpi[@]}" -n "$ranks" "$INGOT" tune vadd.ing --size n=4096 \
    --jobs 2 --budget 300s --seed 3 --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules rules $agent" \
    "$@" >log 2>&1
}

# The same winner as one agent finds, and about as much work for each rank, on the GPU of
# its number; nothing is measured twice but to be surer.
tune 1 '--count one' || { fail "one rank: exit $?"; cat log; }
grep -o 'schedule 1 .* : ' vadd.tuned >alone/winner
rm -f vadd.tuned*
# shellcheck disable=SC2016
tune 4 '--delay 0.3 --count count.$OMPI_COMM_WORLD_RANK.$CUDA_VISIBLE_DEVICES' ||
  { fail "four ranks: exit $?"; cat log; }
holds log ' s left, trial 0'
grep -o 'schedule 1 .* : ' vadd.tuned >winner
cmp -s winner alone/winner || { fail "another winner"; cat winner alone/winner; }
all=$(cat count.* | wc -l)
for rank in 0 1 2 3; do
  own=$(wc -l <count.$rank.$rank)
  [ $((own * 8)) -ge "$all" ] || { fail "rank $rank has $own of $all measurements"; wc -l count.*; }
done
twice=$(grep -o 'schedule 1.*turns=[0-9]*' vadd.tuned.log | sed 's/us=.*turns/turns/' | sort | uniq -d | wc -l)
[ "$twice" = 0 ] || fail "$twice were measured twice"

# Faults of candidates, whichever rank has them.
rm -f vadd.tuned*
cat >rules <<RULES
build 50
$best
threads = 256\b.*lanes = 2\b crash
threads = 256\b.*lanes = 4\b wrong
threads = 128\b.*lanes = 2\b fault
threads = 128\b.*lanes = 4\b hang
threads = 512\b.*lanes = 2\b garbage
RULES
tune 3 '' --limit 4s || { fail "faults: exit $?"; cat log; }
for fault in 'threads=256 lanes=2 : state=crashed' 'threads=256 lanes=4 : state=wrong' \
  'threads=128 lanes=2 : state=fault' 'threads=128 lanes=4 : state=hung' 'threads=512 lanes=2 : state=crashed'; do
  holds vadd.tuned.log "$fault"
done
[ "$(grep -vc 'state=measured' vadd.tuned.log)" = 5 ] || { fail "others are lost, too"; cat vadd.tuned.log; }
holds vadd.tuned.log 'why="the agent ended by Segmentation fault"'
holds vadd.tuned 'threads=64 lanes=2'
printf 'build 50\n%s\n' "$best" >rules

# A list of GPUs: each agent gets its rank's, whether it is in time for a trial or not.
# shellcheck disable=SC2016
CUDA_VISIBLE_DEVICES=7,5 tune 2 '--delay 0.3 $(touch list.$OMPI_COMM_WORLD_RANK.$CUDA_VISIBLE_DEVICES)' \
  --trials 12 --forget || { fail "a list of GPUs: exit $?"; cat log; }
for name in list.0.7 list.1.5; do
  [ -e $name ] || { fail "no $name"; ls; }
done

# An agent that cannot be started is an error, as without MPI.
# shellcheck disable=SC2016
tune 2 '--version 0.0.$OMPI_COMM_WORLD_RANK' && fail "an agent of another version"
holds log 'E0921'

# Agents of ingot itself, which get the options of the tuner.
cc -w -shared -fPIC -O1 -o libcuda.so.1 "$SOURCE_DIR/tests/faults/fake_gpu.c" || exit 1
rm -f vadd.tuned*
FAKE_GPU=slow mpirun --oversubscribe --mca btl self,vader -n 2 "$INGOT" tune vadd.ing --size n=1000 --trials 2 \
  --driver "$work/libcuda.so.1" >log 2>&1 || { fail "own agents: exit $?"; cat log; }
holds log 'compared with eval'

# ---- A rank that is killed, with the agent that has its first trial

# shellcheck disable=SC2016
killed='--delay 0.1 $([ $OMPI_COMM_WORLD_RANK = 2 ] && echo --parent 2)'
rm -f vadd.tuned*
mpi=(--enable-recovery)
tune 3 "$killed" --limit 4s || { fail "a rank is killed: exit $?"; cat log; }
[ "$(grep -vc 'state=measured' vadd.tuned.log)" = 1 ] ||
  { fail "a killed rank loses more than one"; cat vadd.tuned.log; }
holds vadd.tuned 'threads=64 lanes=2'

# mpirun ends all others, unless it is told not to: the log has what was measured.
rm -f vadd.tuned*
mpi=()
tune 3 "$killed" && fail "mpirun does not mind"
before=$(grep -c 'state=measured' vadd.tuned.log)
[ "$before" -ge 1 ] || { fail "the log is lost"; cat vadd.tuned.log; }
tune 3 '' || { fail "resumed: exit $?"; cat log; }
holds vadd.tuned 'threads=64 lanes=2'
twice=$(grep -o 'schedule 1.*turns=[0-9]*' vadd.tuned.log | sed 's/us=.*turns/turns/' | sort | uniq -d | wc -l)
[ "$twice" -le 3 ] || { fail "$twice were measured twice"; cat vadd.tuned.log; }

[ $failures = 0 ]
