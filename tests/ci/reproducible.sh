#!/usr/bin/env bash
# The same source gives the same bytes: every kernel of the zoo is built once from its
# folder, in a process of its own and several at a time, and once more as a copy
# elsewhere, all in one process and the other way round, under another locale, time zone
# and home.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
arch=none
[[ -z ${INGOT_CUDA:-} || ! -x $INGOT_CUDA/bin/ptxas ]] || arch=sm_80,sm_90a
mkdir -p "$work/one" "$work/two" "$work/else where"
cp "$SOURCE_DIR"/tests/kernels/{,seeds/}*.ing "$work/else where"

cd "$SOURCE_DIR/tests/kernels"
printf '%s\0' {,seeds/}*.ing | xargs -0 -n1 -P2 "$INGOT" build --arch "$arch" -o "$work/one"

cd "$work/else where"
mapfile -t reversed < <(printf '%s\n' *.ing | LC_ALL=C sort -r)
env LC_ALL=tr_TR.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Kathmandu HOME=/ TMPDIR="$work" COLUMNS=20 \
  "$INGOT" build "${reversed[@]/#/./}" --arch "$arch" -o ../two/

diff -r "$work/one" "$work/two"
[[ $(ls "$work/one" | wc -l) == $((3 * ${#reversed[@]})) ]]
echo "${#reversed[@]} kernels: fatbin, header and manifest are the same bytes"
