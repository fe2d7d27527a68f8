#!/usr/bin/env bash
# What is packed for aarch64 compiles as what is packed for x86-64, by qemu:
#
#   tools/arm64-root && cmake --preset static-aarch64 && cmake --build build/static-aarch64
#   cpack --config build/static-aarch64/CPackConfig.cmake -B out -G TGZ
#   INGOT=build/static/ingot tests/package/arm64.sh out/ingot-*-linux-aarch64.tar.gz [FILE ...]
#
# The newest version of the C library that the command asks for is 2.27 or older. The PTX of the files that are named,
# or of some, is the same for two architectures, byte for byte, and so is what the command says. Both commands are of
# the same sources. No part of CI: the build takes minutes, and qemu some; GEMMs that are chosen by rules, with their
# many variants, take it hours. It ends with the outcome, `FILES files of PTX, BYTES bytes: the same by both`, or with
# what differs and exit status 1.
set -euo pipefail

[[ $# -ge 1 && -n ${INGOT:-} ]] || { sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2; }
source=$(cd "$(dirname "$0")/../.." && pwd)
ours=$(realpath "$INGOT")
mapfile -t files < <([[ $# -lt 2 ]] || realpath "${@:2}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$1" -C "$work"
tree=$(echo "$work"/ingot-*)
theirs=(qemu-aarch64 -L /usr/aarch64-linux-gnu "$tree/bin/ingot")
cd "$work"

newest=$(aarch64-linux-gnu-objdump -T "$tree/bin/ingot" | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -1)
echo "$(du -m "$1" | cut -f1) MB, the command $(du -m "$tree/bin/ingot" | cut -f1) MB, for $newest"
[[ $(printf '%s\n' "$newest" GLIBC_2.27 | sort -V | tail -1) == GLIBC_2.27 ]] || exit 1
diff <("${theirs[@]}" --version) <("$ours" --version)
[[ -s $tree/share/man/man1/ingot-build.1 ]]

# Compiles the files by both, and compares all that they write.
zoo=$source/tests/kernels
[[ ${#files[@]} -gt 0 ]] || files=("$zoo"/{vadd,cast_f8e4m3,softmax,histogram,scan,transpose}.ing
  "$source"/tests/lit/schedule/std/gemm_sm{8,9}0.ing)
for file in "${files[@]}"; do
  for arch in sm_80 sm_90a; do
    "$ours" build "$file" --arch $arch --emit ptx -o "x86/$arch" >x86.log 2>&1 || true
    "${theirs[@]}" build "$file" --arch $arch --emit ptx -o "arm/$arch" >arm.log 2>&1 || true
    diff x86.log arm.log
  done
done
diff -rq x86 arm
echo "$(find arm -name '*.ptx' | wc -l) files of PTX, $(cat arm/*/*.ptx | wc -c) bytes: the same by both"
