#!/usr/bin/env bash
# A build that is ended at any of its system calls, or one of whose calls fails, leaves the
# old files or the new ones, all of them, and nothing beside them.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
cd "$work" || exit 1
runs=0
mkdir a b
echo 'kernel f(n: int, A: f32[n]) -> C: f32[n] { C[i] = A[i] + 1.0 }' >a/f.ing
echo 'kernel f(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }' >b/f.ing
cc -O1 -o trace "$SOURCE_DIR/tests/faults/trace.c" || exit 1
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}

# Builds the kernel of folder $1 into the folder $2.
build() {
  "$INGOT" build "$1/f.ing" --arch none -o "$2" >/dev/null
}

# Builds b over a under `trace` with these arguments, and sets `status` to its exit status
# and `state` to what the folder holds then: old, new, or what is wrong with it.
trace() {
  if [[ ${state:-} != old ]]; then
    rm -rf out && cp -r old out
  fi
  ./trace "$@" "$INGOT" build b/f.ing --arch none -o out 2>log >said
  status=$?
  grep -x "[0-9]*" said >calls
  runs=$((runs + 1))
  if diff -rq old out >/dev/null; then
    state=old
  elif diff -rq new out >/dev/null; then
    state=new
  else
    state="neither: $(ls -A out)"
  fi
}

# Does $1, a signal or `fail`, at every call of the process $2, every $3th; there must be
# at least $4.
sweep() {
  local n=0 step=$3
  for (( ; ; n += step)); do
    if [[ $1 == fail ]]; then
      trace fail "$n" 28
    else
      trace "$1" "$2" "$n"
    fi
    [[ $status -eq 98 ]] && break
    case $1/$2/$status/$state in
      9/main/137/old | 9/main/137/new | 15/main/143/old | 15/main/143/new) ;;
      15/main/0/new) ;; # at the last call, which ends the process
      9/child/3/old | 9/child/0/new | fail/child/3/old | fail/child/0/new) ;;
      *) fail "$1 $2 at call $n ${TRACE_DENY:-}: exit status $status, $state: $(cat log)" ;;
    esac
  done
  [[ $n -ge $4 ]] || fail "$1 $2: only $n calls"
}

build a old && build b new || exit 1
trace watch out old new
[[ $status -ne 77 ]] || { echo "skipped: nobody may trace here" && exit 77; }
[[ $status/$state == 0/new ]] || fail "watch: exit status $status: $(cat log)"
[[ $(cat calls) -gt 300 ]] || fail "watch: only $(cat calls) calls"

sweep 9 main 1 200
sweep 15 main 7 200
sweep 9 child 1 20
sweep fail child 1 20
for TRACE_DENY in link nameless lock; do
  export TRACE_DENY
  trace watch out old new
  [[ $status/$state == 0/new ]] || fail "without $TRACE_DENY: exit status $status, $state"
  sweep 9 child 1 20
  sweep fail child 1 20
done
unset TRACE_DENY

# What two kills at once leave: the next build removes it.
rm -rf out && cp -r old out
mv out/f.h out/.f.h.123.1.tmp
cp new/f.json out/.f.json.123.0.tmp
build b out
diff -r new out || fail "not mended"

# The same bytes again: the files stay, with a new time.
touch -d 2001-01-01 out/*
ls -i out >before
build b out
diff before <(ls -i out) || fail "written again"
[[ -z $(find out -not -newermt 2002-01-01) ]] || fail "no new time"

echo "$runs builds traced"
[ $failures = 0 ]
