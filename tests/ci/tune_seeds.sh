#!/usr/bin/env bash
# The template of seed 004 has the seed's 2,880 points, of which one that a search chooses compiles; and what the tuner
# prints of it makes the same code.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
needs_ptxas
cd "$work" || exit 1

cp "$SOURCE_DIR/tests/kernels/seeds/004_dwconv_template.ing" . || exit 1
echo 'build 150' >rules
# The budget leaves a moment for ranking, not the seconds that all points take on two processors.
"$INGOT" tune 004_dwconv_template.ing --trials 2 --budget 20s --json \
  --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules rules" >log || fail "exit $?: $(cat log)"
holds log '"points": 2880,'
holds log '"recorded": true'

[ $failures = 0 ]
