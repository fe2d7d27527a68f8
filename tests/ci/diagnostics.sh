#!/usr/bin/env bash
# Every diagnostic has a test that causes it: each code of `ingot explain all` occurs in
# a test other than those of `explain` itself.
set -uo pipefail

missing=0
for code in $("$INGOT" explain all | cut -d' ' -f1); do
  if ! grep -rqs --include='*.ing' --include='*.test' --include='*.sh' --include='*.c' \
    -e "$code" "$SOURCE_DIR/tests"; then
    name=$(sed -n "s/^DIAG($code, \([a-z_0-9]*\),.*/\1/p" "$SOURCE_DIR"/ir/base/diag.def)
    if ! grep -rqs --include='*.c' -e "D_$name\b" "$SOURCE_DIR/tests"; then
      echo "no test causes $code ($name)"
      missing=$((missing + 1))
    fi
  fi
done
echo "$("$INGOT" explain all | wc -l) diagnostics, $missing without a test"
[ "$missing" = 0 ]
