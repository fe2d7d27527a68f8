#!/usr/bin/env bash
# `ingot lsp` answers a client: tests/support/lsp.py.
set -euo pipefail

exec python3 "$SOURCE_DIR/tests/support/lsp.py" "$INGOT" "$SOURCE_DIR"
