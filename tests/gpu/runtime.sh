#!/usr/bin/env bash
# What of the runtime and its tools shows on a GPU alone: images that are added and removed, a cache of what the
# driver compiles, checks of arrays, lines that kernels print, programmatic and cooperative launches, `ingot doctor`.
# Prints a line for each. Skipped without a GPU.
#
#   tests/gpu/runtime.sh                    builds and runs
#   tests/gpu/runtime.sh --build FOLDER     builds, which needs compilers and CUDA's toolkit (CUDA), and no GPU
#   tests/gpu/runtime.sh --run FOLDER       runs what that made, with INGOT, a driver and ptxas
#
# INGOT is the command, SOURCE_DIR the source, ARCH the architecture of the GPU (sm_90).
set -uo pipefail

arch=${ARCH:-sm_90}
cuda=${CUDA:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Builds artefacts and programs into the folder $1.
build() {
  local folder=$1 runtime=$SOURCE_DIR/runtime here=$SOURCE_DIR/tests/gpu/runtime library=$cuda/lib64/libcudart.so name
  "$INGOT" build "$here/checks.ing" -o "$folder" --arch "$arch" --ptx sm_75 &&
    "$INGOT" build "$here/checks.ing" -o "$folder/newer" --arch none --ptx sm_80 || return 1
  for name in main debug; do
    cc -std=c11 -O2 -Wall -Wextra -Werror $([[ $name == main ]] || echo -DINGOT_DEBUG) -I"$folder" -I"$runtime" \
      -isystem "$cuda/include" "$here/main.c" "$runtime"/ingot{,_cache,_debug}.c "$library" -ldl -lpthread \
      -o "$folder/$name" || return 1
  done
  name=$(objdump -p "$library" | awk '$1 == "SONAME" { print $2 }')
  mkdir -p "$folder/lib" && cp -L "$library" "$folder/lib/${name:-libcudart.so}"
}

failures=0
# Runs the command behind $1 and $2, and prints a line that says $1: each of the patterns $2, separated by `;`, must be
# in what it prints, and its exit status 0.
expect() {
  local name=$1 patterns pattern verdict=pass status
  IFS=';' read -ra patterns <<<"$2"
  "${@:3}" >"$work/log" 2>&1
  status=$?
  for pattern in "${patterns[@]}"; do
    grep -qE -- "$pattern" "$work/log" || { verdict=FAIL && echo "no line $pattern:"; }
  done
  [[ $status == 0 ]] || verdict=FAIL
  [[ $verdict == pass ]] || { cat "$work/log" && failures=$((failures + 1)); }
  printf '%s %-36s %s\n' $verdict "$name" "$(grep -E -- "${patterns[0]:-^}" "$work/log" | head -1)"
}

# The milliseconds behind the word $1 in the last log.
milliseconds() {
  sed -nE "s/.*$1 ([0-9.]+) ms.*/\1/p" "$work/log"
}

# Does the command fail?
fails() {
  ! "$@"
}

# Copies the artefact $1 to one of the name $2.
copy_artefact() {
  cp "$work/$1.fatbin" "$work/$2.fatbin" && sed "s/$1\.fatbin/$2.fatbin/" "$work/$1.json" >"$work/$2.json"
}

# Images that are removed, refused and added; the program is the same.
run_images() {
  expect "machine code of this GPU" "^image $arch, exact;^product: 0 wrong" "$folder/main" "$work/checks.fatbin" load
  copy_artefact checks ptx
  expect "its image is removed" "" "$INGOT" image remove "$work/ptx.fatbin" --arch "$arch"
  expect "what the driver compiles" "^image compute_75, JIT;^product: 0 wrong" "$folder/main" "$work/ptx.fatbin" load
  copy_artefact ptx again
  expect "a kernel that would not wait" "E0839" fails "$INGOT" image add "$work/again.fatbin" --arch "$arch"
  expect "machine code is added" "" "$INGOT" image add "$work/again.fatbin" --from "$folder/checks.json"
  expect "it is loaded" "^image $arch, exact;^product: 0 wrong" "$folder/main" "$work/again.fatbin" load
  copy_artefact ptx newer
  expect "PTX of another build is added" "" "$INGOT" image add "$work/newer.fatbin" --from "$folder/newer/checks.json"
  expect "it is loaded" "^image compute_80, JIT;^product: 0 wrong" "$folder/main" "$work/newer.fatbin" load
}

# Runs a program with the cache, which must then say $2; $1 names the line.
expect_cache() {
  expect "cache: $1" "^cache: $2;^product: 0 wrong;^image compute_(75|80), JIT" \
    "$folder/main" "${3:-$work/ptx.fatbin}" cache "$work/cache"
  hashes+=("$(sed -n 's/^product: 0 wrong, hash //p' "$work/log")")
}

# The cache. The driver's own is off: it would have what ours lacks.
run_cache() {
  local hashes=() entry miss hit
  export CUDA_CACHE_DISABLE=1
  expect_cache "an entry is missing" "found 0, missing 1, damaged 0, stored 1, not stored 0"
  miss=$(milliseconds load)
  expect_cache "it is found" "found 1, missing 0, damaged 0, stored 0, not stored 0"
  hit=$(milliseconds load)
  [[ $(milliseconds JIT) == 0.000 ]] || { echo "FAIL: a hit compiles" && failures=$((failures + 1)); }
  echo "     a load that compiles takes $miss ms, one that finds an entry $hit ms"
  [[ ! -e /dev/nvidia0 ]] || awk "BEGIN { exit !($hit < $miss) }" ||
    { echo "FAIL: finding takes longer than compiling" && failures=$((failures + 1)); }
  entry=$(ls "$work"/cache/*)
  cp "$entry" "$work/kept"
  printf 'x' | dd of="$entry" bs=1 seek=$(($(stat -c %s "$entry") / 2)) conv=notrunc status=none
  expect_cache "a byte is damaged" "found 0, missing 0, damaged 1, stored 1, not stored 0"
  expect_cache "it was stored again" "found 1, missing 0, damaged 0, stored 0, not stored 0"
  cmp -s "$entry" "$work/kept" || echo "     what was compiled again has other bytes"
  truncate -s 1000 "$entry"
  expect_cache "half an entry" "found 0, missing 0, damaged 1, stored 1, not stored 0"
  expect_cache "other PTX" "found 0, missing 1, damaged 0, stored 1, not stored 0" "$work/newer.fatbin"
  for name in "$work"/cache/*; do [[ $name == "$entry" ]] || cp "$name" "$entry"; done
  expect_cache "an entry of other PTX" "found 0, missing 0, damaged 1, stored 1, not stored 0"
  [[ $(printf '%s\n' "${hashes[@]}" | sort -u | wc -l) == 1 && ${#hashes[@]} == 7 ]] ||
    { echo "FAIL: results differ: ${hashes[*]}" && failures=$((failures + 1)); }
  unset CUDA_CACHE_DISABLE
}

# Launches of the image of this GPU, and of what the driver compiles; $1 names which.
run_launches() {
  expect "print, $1" '^A\[0\] = 1(\.0*)?, C = 2(\.0*)?$;^A\[1\] = 2(\.0*)?, C = 4(\.0*)?$' "$folder/main" "$2" print
  expect "programmatic launches, $1" '^programmatic: 1000 steps, 0 wrong' "$folder/main" "$2" programmatic
  expect "cooperative launches, $1" '^too many blocks: .*blocks;^cooperative: 4096 shares, 0 wrong' \
    "$folder/main" "$2" cooperative
}

# Arrays that are as they should not be.
run_arrays() {
  local always='^misaligned: .*aligned;^null: .*A: ;^as they should be: runs;^arrays: 0 wrong'
  expect "arrays" "$always" "$folder/main" "$work/checks.fatbin" arrays
  expect "arrays, with INGOT_DEBUG" "^overlapping: .*overlap;$always;^too short: .*A" \
    "$folder/debug" "$work/checks.fatbin" arrays
  grep -E '^(misaligned|overlapping|null|too short|of the host): ' "$work/log" | sed 's/^/     /'
}

# What the doctor says of this machine, and of artefacts.
run_doctor() {
  local sm=${arch#sm_}
  if [[ -e /dev/nvidia0 ]]; then
    expect "doctor: this machine" "^GPU 0 .*sm_${sm%[af]};^driver +for CUDA;^ptxas " "$INGOT" doctor
    grep -E '^(driver|GPU|ptxas)' "$work/log" | sed 's/^/     /'
  fi
  expect "doctor: an artefact" " $arch +exact" "$INGOT" doctor "$work/checks.fatbin"
  expect "doctor: one of PTX" "compute_75 +JIT" "$INGOT" doctor "$work/ptx.fatbin"
}

# Runs all that the folder $1 has.
run() {
  folder=$1
  export LD_LIBRARY_PATH=$folder/lib:${LD_LIBRARY_PATH:-}
  cp "$folder"/checks.{fatbin,json} "$work"
  run_images
  run_cache
  run_launches "machine code" "$work/checks.fatbin"
  run_launches "compiled PTX" "$work/ptx.fatbin"
  run_arrays
  run_doctor
  echo "$failures failed"
  [[ $failures == 0 ]]
}

case ${1:-} in
  --build) mkdir -p "$2" && build "$(cd "$2" && pwd)" ;;
  --run) run "$(cd "$2" && pwd)" ;;
  *)
    [[ -e /dev/nvidia0 ]] || { echo "no GPU: skipped" && exit 77; }
    mkdir "$work/programs" && build "$work/programs" && run "$work/programs"
    ;;
esac
