#!/usr/bin/env bash
# The runtime's ABI is the one that runtime/abi says: constants, functions, layouts. What is in it
# neither goes nor changes while INGOT_ABI is the same; new lines may come:
#
#   SOURCE_DIR=. tests/ci/abi.sh print >runtime/abi
#
# And a header that was written when INGOT_ABI began still compiles, and opens.
set -euo pipefail
cd "$SOURCE_DIR"

# Prints all that the headers of C say, as one file.
headers() {
  printf '#include "%s"\n' runtime/ingot*.h
}

# Prints what they declare, without structures, as one line of single spaces.
declarations() {
  headers | cc -E -I. -x c -std=c11 - |
    awk '/^# / { ours = $3 ~ /ingot[a-z_]*\.h"$/; next } ours' | tr -s ' \n\t' ' ' |
    sed -E 's/__attribute__\(\(visibility\("hidden"\)\)\) //g
            s/struct [a-z_]+ \{[^}]*\}[^;]*;//g; s/ *([(),]) */\1/g; s/,/, /g'
}

# Prints the ABI: sorted lines, each of one thing.
abi() {
  headers | cc -dM -E -I. -x c - | sed -nE 's/^#define (INGOT_[A-Z_]+) ([0-9]+)$/constant \1 = \2/p'
  declarations | tr ';' '\n' | sed -nE 's/^ *(.*\))$/function \1/p; s/^ *(typedef .*)/type \1/p'
  declarations | tr ';' '\n' | sed -nE 's/^ *(enum [a-z_]+) \{(.*)\}/\1,\2/p' |
    awk -F, '{ for (i = 2; i <= NF; i++) if ($i ~ /=/) { gsub(/^ +| +$/, "", $i); print $1 ": " $i } }'
  headers >"$work/all.h"
  cat runtime/ingot*.h | sed -nE 's/^struct (ingot_[a-z_]+) \{$/extern char of_\1[sizeof(struct \1)];/p' |
    clang-22 -x c -std=c11 -fsyntax-only -I. -include "$work/all.h" -Xclang -fdump-record-layouts - |
    awk '/\| struct ingot_/ { name = $4; ours = 1; next }
         ours && /\[sizeof/ { sub(/.*\[/, ""); sub(/\].*/, ""); print "struct " name ": " $0 }
         /^$/ { ours = 0 }
         ours && /^ *[0-9]+ \|   [^ ]/ { at = $1; sub(/.*\|   /, ""); print "struct " name ": at " at ": " $0 }'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ ${1:-} == print ]]; then
  abi | LC_ALL=C sort
  exit
fi
now=$work/now
abi | LC_ALL=C sort >"$now"
faults=0
gone=$(LC_ALL=C comm -23 runtime/abi "$now")
new=$(LC_ALL=C comm -13 runtime/abi "$now")
if [[ -n $gone ]]; then
  echo "runtime/ingot*.h lack these: let them stay, or raise INGOT_ABI and write runtime/abi again"
  echo "$gone"
  faults=1
elif [[ -n $new ]]; then
  echo "new in runtime/ingot*.h: add them to runtime/abi, by tests/ci/abi.sh print"
  echo "$new"
  faults=1
fi

# What is declared is all that the objects export.
for source in runtime/*.c; do
  cc -std=c11 -O2 -c "$source" -o "$work/$(basename "$source" .c).o"
done
diff <(nm --defined-only -g "$work"/*.o | awk 'NF == 3 { print $3 }' | sort) \
  <(sed -nE '/^function typedef/d; s/^function .*[ *](ingot_[a-z_]+)\(.*/\1/p' "$now" | sort) || faults=1

# A header that the first ingot of this ABI wrote.
cp tests/package/make/main.c "$work"
cp "tests/package/abi/scale.h.$(sed -n "s/^constant INGOT_ABI = //p" runtime/abi)" "$work/scale.h"
cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iruntime "$work/main.c" \
  "$work/ingot.o" -o "$work/app" -ldl -lpthread
"$work/app" || faults=1
exit $faults
