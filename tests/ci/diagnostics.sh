#!/usr/bin/env bash
# Every diagnostic has a test that causes it: each code of `ingot explain all` occurs in
# a test other than those of `explain` itself. Two cannot be caused by any input, only by
# a fault of the compiler: an input that is written to (E1003), and an instruction that the
# executor does not know (E0915).
set -uo pipefail

unreachable=" E0915 E1003 "
missing=0
for code in $("$INGOT" explain all | cut -d' ' -f1); do
  if ! grep -rqs --include='*.ing' --include='*.test' --include='*.sh' --include='*.c' --exclude=diagnostics.sh \
    -e "$code" "$SOURCE_DIR/tests"; then
    name=$(sed -n "s/^DIAG($code, \([a-z_0-9]*\),.*/\1/p" "$SOURCE_DIR"/ir/base/diag.def)
    if ! grep -rqs --include='*.c' -e "D_$name\b" "$SOURCE_DIR/tests"; then
      [[ $unreachable == *" $code "* ]] && continue
      echo "no test causes $code ($name)"
      missing=$((missing + 1))
    fi
  fi
done
echo "$("$INGOT" explain all | wc -l) diagnostics, $missing without a test"
[ "$missing" = 0 ]
