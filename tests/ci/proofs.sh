#!/usr/bin/env bash
# Prints what is proved of each kernel for all sizes, and fails if that is less than it was.
#
#   INGOT=build/dev/ingot tests/ci/proofs.sh [FILE...]
#
# Without files: all of tests/kernels but the products by Tensor Cores (gemm*, sgemm_split*, conv2d, linear, attention),
# which take seconds each, those with a line `// slow:`, and scan.ing, whose blocks read from memory which tile is
# theirs. A row for each file: accesses proved, of those with a claim, results written in full, and
# processor time.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${INGOT:=build/dev/ingot}"
# Percent over all files.
least="99 95 95 91"

files=("$@")
if [[ ${#files[@]} -eq 0 ]]; then
  mapfile -t files < <(ls tests/kernels/*.ing tests/kernels/{features,seeds,matrix}/*.ing | grep -v '/gemm\|/sgemm_split\|/conv2d\|/linear\|/attention\|/scan[.]' | xargs grep -L '^// slow:')
else
  least="0 0 0 0"
fi

# Prints the row of a file.
row() {
  local out
  out=$({ TIMEFORMAT='seconds %U'; time "$INGOT" opt --proofs "$1"; } 2>&1)
  awk -v file="${1#tests/kernels/}" '
    /^seconds/ { seconds = $2 }
    /^[^ ].*: bounds/ {
      sub(/^[^:]*: /, "")
      n = split($0, part, ", ")
      for (i = 1; i <= n; i++) {
        split(part[i], word, " ")
        proved[word[1]] += word[2]
        all[word[1]] += word[4]
      }
    }
    END {
      printf "%-36s", file
      n = split("bounds block_race grid_race coverage", claim, " ")
      for (i = 1; i <= n; i++)
        printf " %6d of %6d", proved[claim[i]], all[claim[i]]
      printf " %8.2f s\n", seconds
    }' <<<"$out"
}

for file in "${files[@]}"; do
  row "$file"
done | awk -v least="$least" '
  BEGIN {
    printf "%-36s %16s %16s %16s %16s\n", "file", "bounds", "block_race", "grid_race", "coverage"
  }
  {
    print
    seconds += $(NF - 1)
    for (i = 0; i < 4; i++) {
      proved[i] += $(2 + 3 * i)
      all[i] += $(4 + 3 * i)
    }
  }
  END {
    split(least, wanted, " ")
    printf "%-36s", "all"
    for (i = 0; i < 4; i++) {
      share = all[i] ? 100 * proved[i] / all[i] : 0
      printf " %14.1f %%", share
      few = few || share < wanted[i + 1]
    }
    printf " %8.2f s\n", seconds
    if (few)
      print "fewer are proved than before: " least " percent"
    exit few
  }'
