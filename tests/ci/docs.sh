#!/usr/bin/env bash
# The tutorial and the how-to pages: every file in them is built, every command runs and prints
# what the page shows (tests/support/pages.py).
set -euo pipefail

for tool in ptxas nvdisasm; do
  [[ -x ${INGOT_CUDA:-/usr/local/cuda}/bin/$tool ]] || { echo "no $tool"; exit 77; }
done
cd "$SOURCE_DIR"
exec python3 tests/support/pages.py "$INGOT" docs/tutorial/*.md docs/howto/*.md
