#!/usr/bin/env bash
# Exit codes of every command when the machine fails it: streams that are closed or full,
# no descriptors, no memory, a killed child, tools that are missing or lie. The code is 3,
# or 0 where it does not matter; there is a message, and no output is left behind.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
cd "$work" || exit 1
cat >ok.ing <<'ING'
kernel add(n: int, A: f32[n], B: f32[n]) -> C: f32[n] { C[i] = A[i] + B[i] }
ING
cc -O1 -o trace "$SOURCE_DIR/tests/faults/trace.c" || exit 1
export ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS:-}
"$INGOT" build ok.ing --arch none -o good || exit 1

# Checks what a command left that ended with $1, which must be one of the codes $2; $3 says
# what it was.  If only the report of a build fails, the build itself is there and whole.
judge() {
  local got=$1 codes=$2
  [[ " $codes " == *" $got "* ]] || fail "$3: exit status $got: $(head -c 300 log)"
  if [[ $got != 0 ]]; then
    [[ ! -e out ]] || { [[ $3 == *--json* ]] && diff -r good out; } ||
      fail "$3: left $(ls -A out)"
    [[ -s log || $codes == *silent* ]] || fail "$3: no message"
  fi
  rm -rf out
}

commands=(
  "build ok.ing --arch none -o out"
  "build ok.ing --arch none -o out --check"
  "build ok.ing --arch none -o out --json"
  "build ok.ing --emit ptx -o out"
  "run ok.ing --size n=100 --device cpu"
  "check ok.ing --size n=10"
  "inspect ok.ing --arch none"
  "inspect good/ok.fatbin --json"
  "fmt ok.ing"
  "opt ok.ing"
  "std"
  "explain all"
  "explain E0101"
  "--help"
  "build --help"
  "--version"
)

# Streams that are closed, full, or read by nobody: who prints fails.
for command in "${commands[@]}"; do
  says=3
  case $command in
    *--json*) ;;
    build\ ok* | check\ *) says="0 3" ;;
  esac
  "$INGOT" $command >&- 2>log
  judge $? "$says" "$command, closed output"
  "$INGOT" $command >/dev/full 2>log
  judge $? "$says" "$command, full output"
  { "$INGOT" $command 2>log || echo $? >code; } | true
  judge "$(cat code 2>/dev/null || echo 0)" "0 3 silent" "$command, broken pipe"
  rm -f code
  "$INGOT" $command >/dev/null 2>&- <&-
  judge $? "0 silent" "$command, closed input and messages"
done
echo 'kernel bad(' >bad.ing
"$INGOT" build bad.ing --arch none -o out 2>&-
judge $? "1 silent" "an error into closed messages"

"$INGOT" fmt /proc/self/mem >out.txt 2>log
judge $? 3 "a source that cannot be read"
grep -q E0917 log || fail "a source that cannot be read: $(cat log)"

# Few descriptors, from none that is free to enough.
enough=0
for most in 3 4 5 6 7 8 9 10 12 14 16 20 24 32; do
  for command in "${commands[@]}"; do
    (ulimit -n $most && exec "$INGOT" $command) >out.txt 2>log
    got=$?
    grep -q 'error while loading shared libraries' log && continue
    judge $got "0 3" "$command, $most descriptors"
    [[ $most != 32 || $got != 0 ]] || enough=$((enough + 1))
  done
done
[[ $enough == "${#commands[@]}" ]] || fail "32 descriptors are enough for $enough commands"

# Little memory: from what only loads the command to what is enough.  A sanitizer maps more
# addresses than there are.
if (ulimit -v 4000000 && "$INGOT" --version) >/dev/null 2>&1; then
  least=50000
  until (ulimit -v $least && "$INGOT" --version) >/dev/null 2>&1; do
    least=$((least + 10000))
  done
  for more in 0 2 4 6 8 12 16 24 32 48 64 96 128 192 256 512 1024 2048; do
    for command in "${commands[@]:0:10}"; do
      (ulimit -v $((least + more * 1000)) && exec "$INGOT" $command) >out.txt 2>log
      judge $? "0 3" "$command, $((least + more * 1000)) KiB"
    done
  done
fi

# The child that emits code is killed: at every third of its calls.
killed=0
for ((at = 0; ; at += 3)); do
  ./trace 9 llvm $at "$INGOT" build ok.ing --arch none -o out 2>log
  got=$?
  [[ $got == 77 || $got == 98 ]] && break
  judge $got "0 3" "killed at call $at"
  killed=$((killed + 1))
done
rm -rf out
[[ $got == 77 || $killed -gt 3 ]] || fail "the child was killed $killed times"

# Tools that are missing, fail, say nothing, or write what they should not.
mkdir -p cuda/bin
for tool in fatbinary nvdisasm; do
  for script in "" "exit 1" "kill -9 \$\$" "exit 0" "echo nonsense" "cat good/ok.fatbin; echo" \
    "cat good/ok.fatbin good/ok.fatbin"; do
    rm -f "cuda/bin/$tool"
    [[ -z $script ]] || printf '#!/bin/sh\ncd %s; %s\n' "$work" "$script" >"cuda/bin/$tool"
    [[ -z $script ]] || chmod +x "cuda/bin/$tool"
    if [[ $tool == fatbinary ]]; then
      "$INGOT" build ok.ing --fatbinary --cuda cuda --arch none -o out >log 2>&1
      judge $? 3 "fatbinary: $script"
    elif [[ -n ${INGOT_CUDA:-} && -x $INGOT_CUDA/bin/ptxas && ! $script =~ (0|echo|cat) ]]; then
      ln -sf "$INGOT_CUDA/bin/ptxas" cuda/bin/ptxas
      "$INGOT" inspect ok.ing --cuda cuda --arch sm_90 --sass >log 2>&1
      judge $? 3 "nvdisasm: $script"
    fi
  done
done
mkdir none
PATH=$work/none "$INGOT" run ok.ing --size n=100 --device cpu --reference host >log 2>&1
judge $? 3 "no C compiler"

[ $failures = 0 ]
