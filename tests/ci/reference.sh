#!/usr/bin/env bash
# docs/REFERENCE.md is what `ingot doc --markdown` prints, and what that is made of is whole:
#
#   - the head of each primitive's file names every diagnostic that the file reports, and
#     none that does not exist
#   - ir/prims.def names as many parameters as there are arguments
#   - ir/words.def has every word of the parsers
#   - docs/examples has an example of each primitive, and no other, which is right on the CPU
set -uo pipefail
cd "$SOURCE_DIR"

faults=0
fault() {
  echo "$@"
  faults=$((faults + 1))
}

code_of() {
  sed -n "s/^DIAG(\(E[0-9]*\), $1,.*/\1/p" ir/base/diag.def
}

primitives=$(sed -n 's/^PRIM(\([a-z_]*\),.*/\1/p' ir/prims.def)
for primitive in $primitives; do
  file=passes/schedule/primitives/$primitive.c
  head=$(sed -n '/^\/\//!q;p' "$file")
  for name in $(grep -o '\bD_[a-z_0-9]*' "$file" | sort -u); do
    code=$(code_of "${name#D_}")
    [[ $head == *$code* ]] || fault "$file: its head does not say that it reports $code ($name)"
  done
  for code in $(grep -o '\bE[0-9]\{4\}\b' <<<"$head"); do
    grep -q "^DIAG($code," ir/base/diag.def || fault "$file: there is no diagnostic $code"
  done
  [[ -f docs/examples/$primitive.ing ]] || fault "docs/examples/$primitive.ing is missing"
done
for example in docs/examples/*.ing; do
  grep -qx "$(basename "$example" .ing)" <<<"$primitives" || fault "$example is of no primitive"
done

while IFS='|' read -r name letters parameters; do
  [[ $(wc -w <<<"$parameters") = "${#letters}" ]] ||
    fault "ir/prims.def: $name has ${#letters} arguments and other parameters: $parameters"
done < <(sed -n 's/^PRIM(\([a-z_]*\), *"\([a-z]*\)[+?*]*", *"\([^"]*\)".*/\1|\2|\3/p' ir/prims.def)

for word in $(sed -n 's/.*parse_take(p, "\([a-z_]*\)").*/\1/p' ir/text/parse_kernel.c \
  ir/text/parse_terms.c ir/text/parse_decl.c frontend/schedule.c | sort -u); do
  [[ $word =~ ^(by|else)$ ]] || grep -q "^WORD(\"$word\"," ir/words.def ||
    fault "ir/words.def lacks a row for \`$word\`"
done

"$INGOT" check --cases 3 docs/examples/*.ing >/dev/null ||
  fault "examples in docs/examples are refused or wrong"

"$INGOT" doc --markdown | diff docs/REFERENCE.md - ||
  fault "docs/REFERENCE.md differs: write it again with \`ingot doc --markdown > docs/REFERENCE.md\`"

echo "$(wc -w <<<"$primitives") primitives, $faults faults"
[ "$faults" = 0 ]
