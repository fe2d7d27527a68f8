#!/usr/bin/env bash
# The barriers of the kernels of the zoo: in the text of the launch of each kernel that
# has most, as the `// barriers:` line of its file says; none where there is no line.
# Files with a line `// slow:` are left out unless INGOT_SLOW is set.
set -uo pipefail

failed=0 total=0

# Prints, for each kernel of a file, the most barriers of a launch of any variant; of a
# branch on top of a launch, those of the side that has more.
count() {
  "$INGOT" opt "$1" --stop-after flatten | awk '
    /^kernel / { here = 0; name = $2; sub(/\(.*/, "", name); if (!(name in most)) order[n++] = name; most[name] += 0 }
    /^    launch / { here = 0 }
    /^        if / { base = here; side = 0 }
    /^        } else / { side = here; here = base }
    /^        }$/ { if (side > here) here = side; side = 0 }
    /^ *barrier(\(cluster\))?$/ { here++ }
    here > most[name] { most[name] = here }
    END { for (i = 0; i < n; i++) printf "%s%d", i ? " " : "", most[order[i]] }'
}

for file in "$SOURCE_DIR"/tests/kernels/{,features/,seeds/}*.ing; do
  [ -n "${INGOT_SLOW:-}" ] || ! grep -q '^// slow:' "$file" || continue
  wanted=$(sed -n 's|^// barriers:[ ]*||p' "$file")
  found=$(count "$file") || found=failed
  total=$((total + 1))
  [ -n "$wanted" ] || found=$(sed 's/^0\( 0\)*$//' <<<"$found")
  if [ "$found" != "$wanted" ]; then
    failed=$((failed + 1))
    echo "${file##*/}: barriers: ${found:-0} instead of ${wanted:-0}"
  fi
done
echo "$total files, $failed with other barriers than they say"
[ "$failed" = 0 ] && [ "$total" -gt 0 ]
