#!/usr/bin/env bash
# The same source gives the same bytes: the kernels of the zoo are built once from their
# folder, in a process of its own and several at a time, and once more as a copy
# elsewhere, all in one process and the other way round, under another locale, time zone
# and home. GEMMs, which ptxas takes half a minute for, are built as PTX of their highest
# target; distances.ing, which has their loops, as cubins. Files with many instances or
# variants, those with a line `// sample:` or `// long:`, are left out unless INGOT_SLOW is set.
# None may spill registers (spills.sh has the longer ones).
set -euo pipefail

. "$SOURCE_DIR/tests/support/script.sh"
arch=none
[[ -z ${INGOT_CUDA:-} || ! -x $INGOT_CUDA/bin/ptxas ]] || arch=sm_80,sm_90a
mkdir -p "$work/one" "$work/two" "$work/zoo/seeds" "$work/else where"
cp "$SOURCE_DIR"/tests/kernels/{,features/}*.ing "$work/zoo"
cp "$SOURCE_DIR"/tests/kernels/seeds/*.ing "$work/zoo/seeds"
[[ -n ${INGOT_SLOW:-} ]] || grep -lE '^// (sample|long):' "$work/zoo"/*.ing | xargs rm
cp "$work"/zoo/{,seeds/}*.ing "$work/else where"

# Prints the files of this folder and the one of the seeds, each with a zero behind it, that
# are GEMMs, or with -v those that are none.
zoo() {
  find . -maxdepth 2 -name '*.ing' -print0 |
    LC_ALL=C sort -z | grep -z "$@" -e '/s\?gemm'
}

# Builds the files named, for $1 into $2 and with the options that follow: each alone, two
# at a time.
build_each() {
  xargs -0 -n1 -P2 "$INGOT" build --arch "$1" -o "${@:2}"
}

# Builds them all in one process, backwards, in another environment.
build_reversed() {
  LC_ALL=C sort -rz | xargs -0 env LC_ALL=tr_TR.UTF-8 LANG=de_DE.UTF-8 TZ=Asia/Kathmandu HOME=/ \
    TMPDIR="$work" COLUMNS=20 "$INGOT" build --arch "$1" -o "${@:2}"
}

cd "$work/zoo"
zoo | build_each none "$work/one" --ptx sm_90a
zoo -v | build_each "$arch" "$work/one"

cd "$work/else where"
zoo | build_reversed none ../two --ptx sm_90a
zoo -v | build_reversed "$arch" ../two

diff -r "$work/one" "$work/two"
kernels=$(ls ./*.ing | wc -l)
[[ $(ls "$work/one" | wc -l) == $((3 * kernels)) ]]
for manifest in "$work"/one/*.json; do
  name=$(basename "$manifest" .json)
  lacks_spills "$manifest" "$(ls "$work/zoo/"{,seeds/}"$name.ing" 2>/dev/null)"
done
echo "$kernels kernels: fatbin, header and manifest are the same bytes"
[ $failures = 0 ]
