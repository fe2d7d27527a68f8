#!/usr/bin/env bash
# The runtime's object file stays below 24 KiB, so that nobody minds linking it.
set -euo pipefail

object=$(mktemp)
trap 'rm -f "$object"' EXIT
cc -std=c11 -O2 -fPIC -fno-asynchronous-unwind-tables -c "$SOURCE_DIR/runtime/ingot.c" -o "$object"
bytes=$(stat -c %s "$object")
echo "runtime/ingot.c: $bytes bytes as an object file"
[ "$bytes" -lt 24576 ]
