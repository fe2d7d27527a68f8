#!/usr/bin/env bash
# A sample of the mutants of lowered kernels that unit/simt_mutants catches, through the command:
# each is a kernel that `defines` the one which it was made of, and `ingot check` is to find
# it at sizes and data of its own, or the compiler refuses it.
#
#   MUTANTS=400 MUTANTS_SEED="7 8" check_mutants.sh      how many are drawn of each seed
#
# One seed here: unit/simt_mutants runs 150 without the command.
# At least 95 in 100 must be found, and none may end otherwise than with 0 or 1.
set -euo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for seed in ${MUTANTS_SEED:-1}; do
  mkdir "$scratch/$seed"
  MUTANTS_TO=$scratch/$seed MUTANTS=${MUTANTS:-40} MUTANTS_SEED=$seed "$BUILD_DIR/tests/unit/simt_mutants" \
    >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
done

# Checks one mutant at a few sizes: the exit code goes beside it.
check_one() {
  local code=0
  "$INGOT" check --kernel mutant --cases 8 --arch "$(sed -n 's|^// target: ||p' "$1")" --json "$1" \
    >"$1.json" 2>"$1.err" || code=$?
  echo "$code" >"$1.code"
}
export -f check_one
export INGOT
find "$scratch" -name '*.ing' | sort | xargs -P 2 -I{} bash -c 'check_one {}'

all=0 found=0 refused=0 failed=0
for file in "$scratch"/*/*.ing; do
  all=$((all + 1))
  code=$(<"$file.code")
  if [ "$code" = 1 ] && grep -q '"runs":' "$file.json"; then
    found=$((found + 1))
  elif [ "$code" = 1 ] && grep -q 'error\[E0404\]' "$file.err"; then
    refused=$((refused + 1))
  else
    [ "$code" = 0 ] || failed=$((failed + 1))
    name=${file#"$scratch"/}
    echo "$name: exit $code: $(head -n 1 "$file.err")"
  fi
done
echo "$all mutants: $found found, $refused refused"
[ "$failed" = 0 ] && [ "$found" -gt 0 ] && [ $((100 * (found + refused))) -ge $((95 * all)) ]
