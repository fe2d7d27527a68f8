#!/usr/bin/env bash
# Builds the example projects of this folder, each in a copy of its own, runs them, and prints what they print: on a
# machine with a GPU, what they computed was compared with the CPU.
#
#   docs/examples/run.sh [NAME ...]                  c cpp rust go graph multi-gpu pipeline, without names all
#   docs/examples/run.sh --build FOLDER [NAME ...]   builds: FOLDER/NAME, and in FOLDER/lib what they need
#   docs/examples/run.sh --run FOLDER [NAME ...]     runs what --build made, also on a machine without compilers
#
#   INGOT      the command (ingot); CUDA   the toolkit's folder (/usr/local/cuda)
#   ARCH       the GPUs to make machine code for (sm_80,sm_90)
#   PIPELINE   the arguments of the example pipeline
#
# What lacks a compiler is left out, and said so; exit status 1 if one fails, 77 if there was none to build or to run.
set -uo pipefail

examples=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$(cd "$examples/../.." && pwd)
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

# Copies CUDA's runtime to the folder $1, by the name that programs ask for.
copy_cudart() {
  local library=$CUDA/lib64/libcudart.so name
  name=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
  mkdir -p "$1" && cp -L "$library" "$1/${name:-libcudart.so}"
}

# Builds the examples named into the folder $1; returns how many failed.
build_all() {
  local folder=$1 name failures=0
  INGOT=$(realpath "$(command -v "${INGOT:-ingot}")") || { echo "no ingot: set INGOT"; exit 1; }
  export INGOT CUDA=${CUDA:-/usr/local/cuda} ARCH=${ARCH:-sm_80,sm_90} RUNTIME=$source/runtime
  copy_cudart "$folder/lib" || { echo "no runtime of CUDA in $CUDA/lib64: set CUDA"; exit 1; }
  for name in "${@:2}"; do
    rm -f "$folder/$name"
    if ! command -v "$(tool "$name")" >/dev/null; then
      echo "$name: not tried, there is no $(tool "$name")"
      continue
    fi
    cp -r "$examples/$name" "$work/$name"
    if ! build "$name" "$work/$name" >"$work/log" 2>&1; then
      cat "$work/log"
      echo "$name: FAILED to build"
      failures=$((failures + 1))
      continue
    fi
    cp "$work/$name/main" "$folder/$name"
  done
  return $failures
}

# Runs those of the examples named that are in the folder $1; returns how many failed.
run_all() {
  local folder=$1 name arguments failures=0 runs=0
  export LD_LIBRARY_PATH=$folder/lib:${LD_LIBRARY_PATH:-}
  for name in "${@:2}"; do
    [[ -f $folder/$name ]] || continue
    arguments=()
    [[ $name == pipeline ]] && read -ra arguments <<<"${PIPELINE:-}"
    runs=$((runs + 1))
    (cd "$work" && "$folder/$name" "${arguments[@]}") && continue
    echo "$name: FAILED"
    failures=$((failures + 1))
  done
  [[ $runs -gt 0 ]] || exit 77
  echo "$runs examples ran, $failures failed"
  return $failures
}

mode=both
folder=$work/programs
case ${1:-} in
  --build | --run)
    mode=${1#--}
    [[ $mode == build ]] && mkdir -p "$2"
    folder=$(cd "$2" && pwd) || exit 1
    shift 2
    ;;
esac
[[ $# -gt 0 ]] || set -- c cpp rust go graph multi-gpu pipeline
failures=0
[[ $mode == run ]] || { build_all "$folder" "$@" || failures=$?; }
[[ $mode == build ]] || { run_all "$folder" "$@" || failures=$((failures + $?)); }
[[ $failures == 0 ]]
