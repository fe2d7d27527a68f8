#!/usr/bin/env bash
# The code in the documents is code: each indented block that begins with a kernel, a schedule, a rule or a
# def gets through its schedules without an error or a warning, with nothing for `...`; a kernel whose body is
# left out is read. Schedules alone are for the kernels of texts.ing, beside this file. What README.md shows
# of `ingot check` is what it prints, but for times and counts.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
blocks=0

# Writes the indented blocks of a document with code of ours to files in $work, without their indentation.
split_blocks() {
  rm -f "$work"/*.ing
  awk -v folder="$work" '
    /^    / || (/^$/ && inside) { block = block substr($0, 5) "\n"; if (!inside) line = NR; inside = 1; next }
    inside { emit() }
    END { if (inside) emit() }
    function emit() {
      if (block ~ /^(kernel|schedule|rule|def) /)
        printf "%s", block > sprintf("%s/%04d.ing", folder, line)
      inside = 0
      block = ""
    }' "$SOURCE_DIR/$1"
}

# Checks the blocks of a document.
check_document() {
  split_blocks "$1"
  for block in "$work"/*.ing; do
    blocks=$((blocks + 1))
    line=$(basename "$block" .ing | sed 's/^0*//')
    {
      grep -q '^kernel ' "$block" || cat "$SOURCE_DIR/tests/ci/texts.ing"
      sed '/^rule .*{ \.\.\. }$/s/\.\.\./case { }/; s/\.\.\.//' "$block"
    } >"$work/whole"
    way=(opt --stop-after schedule)
    ! grep -q '^{ \.\.\. }$' "$block" || way=(fmt)
    "$INGOT" "${way[@]}" "$work/whole" >/dev/null 2>"$work/log" && [ ! -s "$work/log" ] ||
      fail "$1:$line: $(cat "$work/log")"
  done
}

for document in README.md frontend/LANGUAGE.md frontend/SCHEDULES.md; do
  check_document "$document"
done
# ---- The output of `ingot check` in README.md

# Prints a report without what differs from machine to machine.
steady() { sed 's/ in [0-9.]* s:/ in TIME:/; s/[0-9]* accesses/N accesses/; s/^ *$//' "$1"; }

split_blocks README.md
cp "$(grep -l '^kernel reverse' "$work"/*.ing)" "$work/reverse.ing"
sed -n '/^    \$ ingot check reverse.ing/,/^$/p' "$SOURCE_DIR/README.md" | sed '1d;$d;s/^    //' >"$work/shown"
(cd "$work" && "$INGOT" check reverse.ing 2>&1 | head -"$(wc -l <shown)" >printed)
[ -s "$work/shown" ] || fail "README.md shows no \`ingot check\`"
diff <(steady "$work/shown") <(steady "$work/printed") || fail "README.md shows another \`ingot check reverse.ing\`"

echo "$blocks blocks, $failures faults"
[ "$failures" = 0 ] && [ "$blocks" -gt 10 ]
