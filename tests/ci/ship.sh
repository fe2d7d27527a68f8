#!/usr/bin/env bash
# What is shipped: the .tar.gz, the .deb and the wheel hold the same tree with the licences, manual
# pages and completions, say the same version, name no folder of the build, and serve a project
# wherever they are unpacked.
set -uo pipefail
unset MAKEFLAGS MFLAGS

if grep -q '^INGOT_INSTRUMENT:[A-Z]*=.' "$BUILD_DIR/CMakeCache.txt"; then
  echo "skipped: an instrumented runtime links with nothing else"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
cd "$work" || exit 1

# Prints what went wrong, and goes on.
complain() {
  echo "FAIL: $*"
  failures=$((failures + 1))
}

# Prints the names of the files below folder $1.
files_below() {
  (cd "$1" && find . -type f | sort)
}

cpack --config "$BUILD_DIR/CPackConfig.cmake" -B pack >log 2>&1 || complain "cpack: $(cat log)"
version=$("$INGOT" --version | cut -d' ' -f2)

# The .tar.gz, unpacked in a folder that has a space in its name.
mkdir 'a folder' deb pip
tar -xzf pack/ingot-"$version"-linux-*.tar.gz -C 'a folder' || complain "no .tar.gz"
tree=$(echo "$work/a folder"/ingot-*)
for file in share/doc/ingot/{LICENSE,NOTICE,CHANGELOG.md,ingot.spdx.json} \
  share/man/man1/ingot.1 share/bash-completion/completions/ingot \
  share/zsh/site-functions/_ingot share/fish/vendor_completions.d/ingot.fish; do
  [[ -s $tree/$file ]] || complain "no $file"
done
for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$SOURCE_DIR/tools/ingot/commands.def"); do
  [[ -s $tree/share/man/man1/ingot-$command.1 ]] || complain "no manual page of $command"
done
grep -rlIF -e "$BUILD_DIR" -e "$SOURCE_DIR" "$tree" >log && complain "names the build: $(cat log)"
grep -qx "Version: $version" "$tree/lib/pkgconfig/ingot.pc" || complain "ingot.pc: another version"
cp -r "$SOURCE_DIR/tests/package/cxx" .
cmake -S cxx -B cxx/build -DIngot_DIR="$tree/lib/cmake/Ingot" >log 2>&1 || complain "$(cat log)"
cmake --build cxx/build >log 2>&1 || complain "the tree elsewhere: $(cat log)"
cxx/build/app >log || complain "the tree elsewhere: $(cat log)"

# The .deb.
dpkg-deb -x pack/ingot_"$version"_*.deb deb || complain "no .deb"
[[ $(dpkg-deb -f pack/ingot_*.deb Package Version) == "Package: ingot
Version: $version" ]] || complain ".deb: $(dpkg-deb -f pack/ingot_*.deb)"
[[ $(dpkg-deb -f pack/ingot_*.deb Depends) == *libc6* ]] || complain ".deb: depends on no libc6"
diff <(files_below deb/usr) <(files_below "$tree") || complain ".deb: other files"

# The wheel, installed as pip does it.
wheel=$("$SOURCE_DIR/tools/wheel" "$BUILD_DIR" wheel) || complain "no wheel"
python3 -m pip install -q --no-index --no-deps --disable-pip-version-check \
  --root-user-action=ignore --prefix "$work/pip" "$wheel" >log 2>&1 || complain "pip: $(cat log)"
prefix=$(dirname "$(dirname "$(find pip -path '*/bin/ingot')")")
[[ $("$prefix/bin/ingot" --version) == "ingot $version" ]] || complain "wheel: no command"
diff <(files_below "$prefix" | grep -v dist-info) <(files_below "$tree") ||
  complain "wheel: other files"

# The list of what is linked.
python3 - "$tree/share/doc/ingot/ingot.spdx.json" "$version" <<'END' || complain "ingot.spdx.json"
import json, sys
sbom = json.load(open(sys.argv[1]))
packages = {p["name"]: p for p in sbom["packages"]}
assert packages["Ingot"]["versionInfo"] == sys.argv[2]
assert packages["GMP"]["licenseConcluded"].startswith("LGPL-3.0-or-later")
assert packages["LLVM"]["versionInfo"].startswith("22.")
assert len(sbom["relationships"]) == len(packages) == len({p["SPDXID"] for p in sbom["packages"]})
END
for library in $(sed -n 's/^  "\([A-Za-z+]*\)|.*/\1/p' "$SOURCE_DIR/tools/cmake/IngotLicences.cmake"); do
  grep -qwF "$library" "$SOURCE_DIR/NOTICE" || complain "NOTICE has no $library"
done

[[ $failures == 0 ]]
