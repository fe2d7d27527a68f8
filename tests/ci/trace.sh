#!/usr/bin/env bash
# The listings of docs/TRACE.md are what the compiler prints now. If they are not:
#
#   docs/trace/write.py build/dev/ingot
set -euo pipefail

"$SOURCE_DIR/docs/trace/write.py" "$INGOT" --check || {
  echo "docs/TRACE.md differs: write it again with \`docs/trace/write.py INGOT\`, and read the text around what changed"
  exit 1
}
