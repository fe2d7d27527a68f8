#!/usr/bin/env bash
# What the documents name is there: the target of every relative link, in all of them; and in those that
# lead through the tree every path that begins at its top, such as `ir/ops.def`.
set -uo pipefail
cd "$SOURCE_DIR"

faults=0
links=0

# Counts a path; reports one that is not there.
need() {
  links=$((links + 1))
  [[ -e $2 ]] && return
  echo "$1: $2 does not exist"
  faults=$((faults + 1))
}

for file in $(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*'); do
  while read -r target; do
    need "$file" "$(dirname "$file")/${target%%#*}"
  done < <(grep -v '^    ' "$file" | sed 's/`[^`]*`//g' | grep -o '](\([^)]*\))' | sed 's/^](\(.*\))$/\1/' | grep -v '^https\?:\|^#')
done

for file in README.md CONTRIBUTING.md docs/GLOSSARY.md docs/TRACE.md; do
  while read -r path; do
    need "$file" "$path"
  done < <(grep -o '`[a-z]*/[a-z0-9_/.]*`' "$file" | tr -d '`' |
    grep -E '^(docs|frontend|ir|nvptx|passes|runtime|tests|tools)/' | sort -u)
done

echo "$links links and paths, $faults faults"
[ "$faults" = 0 ]
