#!/usr/bin/env bash
# Builds and runs the example projects of this folder, each in a copy of its own, and prints what they print: on a
# machine with a GPU, what they computed was compared with the CPU.
#
#   docs/examples/run.sh [NAME ...]      c cpp rust go graph multi-gpu pipeline, without names all
#
#   INGOT      the command (ingot); CUDA   the toolkit's folder (/usr/local/cuda)
#   ARCH       the GPUs to make machine code for (sm_80,sm_90)
#   PIPELINE   the arguments of the example pipeline
#
# What lacks a compiler is left out, and said so; exit status 1 if one fails, 77 if none ran.
set -uo pipefail

examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$examples/../.." && pwd)
INGOT=$(command -v "${INGOT:-ingot}") || { echo "no ingot: set INGOT"; exit 1; }
export INGOT CUDA=${CUDA:-/usr/local/cuda} ARCH=${ARCH:-sm_80,sm_90} RUNTIME=$source/runtime
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Builds the example $1, which lies in the folder $2.
build() {
  case $1 in
    cpp)
      cmake -S "$2" -B "$2/build" -DCMAKE_BUILD_TYPE=Release -DCUDA="$CUDA" -DARCH="${ARCH//,/;}" \
        -DINGOT_SOURCE="$source" -DINGOT_COMMAND="$INGOT" && cmake --build "$2/build" && cp "$2/build/main" "$2"
      ;;
    rust) (cd "$2" && CARGO_TARGET_DIR=target cargo build --release --offline && cp target/release/gemv main) ;;
    *) make -C "$2" INGOT="$INGOT" RUNTIME="$RUNTIME" CUDA="$CUDA" ARCH="$ARCH" ;;
  esac
}

# The tool that an example needs beside a C compiler.
tool() {
  case $1 in
    cpp) echo cmake ;;
    rust) echo cargo ;;
    go) echo go ;;
    *) echo make ;;
  esac
}

failures=0
runs=0
[[ $# -gt 0 ]] || set -- c cpp rust go graph multi-gpu pipeline
for name in "$@"; do
  if ! command -v "$(tool "$name")" >/dev/null; then
    echo "$name: not tried, there is no $(tool "$name")"
    continue
  fi
  cp -r "$examples/$name" "$work/$name"
  arguments=()
  [[ $name == pipeline ]] && read -ra arguments <<<"${PIPELINE:-}"
  runs=$((runs + 1))
  if ! build "$name" "$work/$name" >"$work/log" 2>&1; then
    cat "$work/log"
    echo "$name: FAILED to build"
  elif ! (cd "$work/$name" && LD_LIBRARY_PATH=$CUDA/lib64:${LD_LIBRARY_PATH:-} ./main "${arguments[@]}"); then
    echo "$name: FAILED"
  else
    continue
  fi
  failures=$((failures + 1))
done
[[ $runs -gt 0 ]] || exit 77
echo "$runs examples, $failures failed"
[[ $failures == 0 ]]
