#!/usr/bin/env bash
# Runs every kernel of folders of the zoo (default: its own and features) on the executor,
# with sizes that `ingot check` chooses, under all policies: nothing may be found, every
# variant must have run, and each of its stores.
# Files with a line `// slow:` or `// long:` run one size of each kernel under one policy,
# unless INGOT_SLOW is set, and those with a line `// sample:` the kernels that it names: of
# slow ones the last alone (zoo.sh runs all that it names), and if the file is long, too, its first schedule and each
# third one, from another one in each file: they differ in numbers of the same defs, but the first ones for sm_80
# alone have copies that each thread waits for. What is proved for all sizes decides nothing here; it is asked only
# of files that proofs.sh leaves out, and of those that are slow or long only of gemm_epilogue.ing.
# check_seeds.sh does the same for the seeds.
set -uo pipefail

folders=("${@:-.}")
[ $# -gt 0 ] || folders+=(features)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 thirds=0 status=0

# Prints the values of one kind of line at the head of a kernel file.
lines() { sed -n "s|^// $1:[ ]*||p" "$2"; }

# Prints the warnings that variants were not run, but for those that lines `// far:` name.
unrun() { grep "$1" "$log" | grep -v "variant \`\(${2:--}\)[\`_]"; }

# Checks a file with some flags.
run() {
  "$INGOT" check "$@" >"$log" 2>&1
  status=$?
}

# Counts what has been run: there must be no fault, and none of the warnings $2, but for variants $3.
judge() {
  local file=$1 unrun=$2 far=$3
  shift 3
  if [ "$status" = 0 ] && [ -z "$(unrun "$unrun" "$far")" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "${file##*/} $*:"
    head -30 "$log"
  fi
}

# Checks a file, without the warnings $2 but for variants $3, with the flags that follow.
check() {
  run "$1" "${@:4}"
  judge "$@"
}

# Returns whether what is proved of a file is asked here.
is_proved() {
  case ${1##*/} in
  gemm_epilogue.ing) return 0 ;;
  gemm* | sgemm_split* | conv2d* | attention* | scan.ing) [ -z "$(lines slow "$1")$(lines long "$1")" ] ;;
  *) return 1 ;;
  esac
}

# Returns whether a schedule alone was left out, as it takes only sizes that would run for long.
is_far() {
  grep -q ': nothing ran$' "$log" && ! grep '^error' "$log" | grep -qv 'E1020'
}

# Checks the first schedule of a file and each third one by its number, with the flags that follow. Numbers have gaps,
# schedules for other instances, which are less than 36 long; a command that fails ends the search at 1000.
check_thirds() {
  local file=$1 at n=0 missing=0 rest step=1
  shift
  thirds=$((thirds + 1)) rest=$((thirds % 3))
  for ((at = 1; missing * step < 36 && at < 1000; at += step)); do
    run "$file" "$@" --schedule "$at"
    missing=$((missing + 1))
    ! grep -q "there is no schedule" "$log" || continue
    missing=0
    ! is_far || continue
    n=$((n + 1))
    judge "$file" none '' "$@" --schedule "$at"
    step=$((n == 1 && rest ? rest : 3))
  done
  [ $n -gt 0 ] || check "$file" none '' "$@" --schedule 1
}

# Checks all kernels of a file. A line `// far: VARIANT KNOB=VALUE` names a variant that takes only
# sizes that would run for long, and with which knob it takes smaller ones: it is checked with that.
check_file() {
  local file=$1 flags=(--cases 8) unrun='E1020\|E1040' far variant knob kernel kernels first
  far=$(lines far "$file" | sed 's/ .*//' | paste -sd'|' | sed 's/|/\\|/g')
  if [ -n "$(lines slow "$file")$(lines long "$file")" ] && [ -z "${INGOT_SLOW:-}" ]; then
    flags=(--cases 1 --policies random) unrun=none
  fi
  is_proved "$file" || flags+=(--no-proofs)
  read -ra kernels <<<"$(lines sample "$file")"
  [ ${#kernels[@]} -gt 0 ] && [ -z "${INGOT_SLOW:-}" ] || kernels=('')
  first=${kernels[0]}
  [ -z "$(lines slow "$file")" ] || [ -n "${INGOT_SLOW:-}" ] || kernels=("${kernels[-1]}")
  for kernel in "${kernels[@]}"; do
    if [ -n "$(lines slow "$file")" ] && [ -n "$(lines long "$file")" ] && [ -z "${INGOT_SLOW:-}" ]; then
      check_thirds "$file" "${flags[@]}" ${kernel:+--kernel "$kernel"}
    else
      check "$file" "$unrun" "$far" "${flags[@]}" ${kernel:+--kernel "$kernel"}
    fi
  done
  while read -r variant knob; do
    check "$file" "$unrun" '' "${flags[@]}" --schedule "$variant" --set "$knob" ${first:+--kernel "$first"}
  done < <(lines far "$file")
}

for folder in "${folders[@]}"; do
  for file in "$SOURCE_DIR/tests/kernels/$folder"/*.ing; do check_file "$file"; done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
