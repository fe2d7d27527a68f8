#!/usr/bin/env bash
# `ingot report` writes pages whose data are right: tests/support/report.py.
set -euo pipefail

exec python3 "$SOURCE_DIR/tests/support/report.py" "$INGOT" "$SOURCE_DIR" "${INGOT_CUDA:-}"
