# What the scripts of tests/ci and tests/faults share, which read it by `.`: a folder $work that is removed at the
# end, failures that are counted, and what a test needs of the machine. A script ends with `[ $failures = 0 ]`.

work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
failures=0

# Prints what went wrong, and goes on.
fail() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# The file $1 must hold the text $2.
holds() {
  grep -qF -- "$2" "$1" || fail "$1 lacks: $2, it is: $(cat "$1")"
}

# The file $1 must not hold the text $2.
lacks() {
  ! grep -qF -- "$2" "$1" || fail "$1 has: $2, it is: $(cat "$1")"
}

# No kernel of the manifest $1, of the file $2, may spill registers: more bytes a thread than a line `// spills: BYTES`
# of the file knows of.
lacks_spills() {
  local most spilled
  most=$(sed -n 's|^// spills: \([0-9]*\).*|\1|p' "$2")
  spilled=$(awk -v most="${most:-0}" '
    /"name":/ { name = $2 }
    /"spill_(stores|loads)":/ && $2 + 0 > most { print name }' "$1" | sort -u)
  [ -z "$spilled" ] || fail "$(basename "$1"): spills in" $spilled
}

# Skips the test where there is no ptxas.
needs_ptxas() {
  ls "${INGOT_CUDA:-/usr/local/cuda}"/bin/ptxas >/dev/null 2>&1 || { echo "no ptxas"; exit 77; }
}

# Skips the test in builds whose runtime links with nothing else.
needs_plain_runtime() {
  ! grep -q '^INGOT_INSTRUMENT:[A-Z]*=.' "$BUILD_DIR/CMakeCache.txt" ||
    { echo "skipped: an instrumented runtime links with nothing else"; exit 77; }
}
