#!/usr/bin/env bash
# What is shipped: the .tar.gz, the .deb and the wheel hold the same tree with the licences, manual
# pages and completions, say the same version, name no folder of the build, and serve a project
# wherever they are unpacked.
set -uo pipefail
unset MAKEFLAGS MFLAGS

. "$SOURCE_DIR/tests/support/script.sh"
needs_plain_runtime
cd "$work" || exit 1

# Prints the names of the files below folder $1.
files_below() {
  (cd "$1" && find . -type f | sort)
}

cpack --config "$BUILD_DIR/CPackConfig.cmake" -B pack >log 2>&1 || fail "cpack: $(cat log)"
version=$("$INGOT" --version | cut -d' ' -f2)

# The .tar.gz, unpacked in a folder that has a space in its name.
mkdir 'a folder' deb pip
tar -xzf pack/ingot-"$version"-linux-*.tar.gz -C 'a folder' || fail "no .tar.gz"
tree=$(echo "$work/a folder"/ingot-*)
for file in share/doc/ingot/{LICENSE,NOTICE,CHANGELOG.md,ingot.spdx.json} \
  share/man/man1/ingot.1 share/bash-completion/completions/ingot \
  share/zsh/site-functions/_ingot share/fish/vendor_completions.d/ingot.fish; do
  [[ -s $tree/$file ]] || fail "no $file"
done
for command in $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' "$SOURCE_DIR/tools/ingot/commands.def"); do
  [[ -s $tree/share/man/man1/ingot-$command.1 ]] || fail "no manual page of $command"
done
grep -rlIF -e "$BUILD_DIR" -e "$SOURCE_DIR" "$tree" >log && fail "names the build: $(cat log)"
grep -qx "Version: $version" "$tree/lib/pkgconfig/ingot.pc" || fail "ingot.pc: another version"
cp -r "$SOURCE_DIR/tests/package/cxx" .
cmake -S cxx -B cxx/build -DIngot_DIR="$tree/lib/cmake/Ingot" >log 2>&1 || fail "$(cat log)"
cmake --build cxx/build >log 2>&1 || fail "the tree elsewhere: $(cat log)"
cxx/build/app >log || fail "the tree elsewhere: $(cat log)"

# The .deb.
dpkg-deb -x pack/ingot_"$version"_*.deb deb || fail "no .deb"
[[ $(dpkg-deb -f pack/ingot_*.deb Package Version) == "Package: ingot
Version: $version" ]] || fail ".deb: $(dpkg-deb -f pack/ingot_*.deb)"
[[ $(dpkg-deb -f pack/ingot_*.deb Depends) == *libc6* ]] || fail ".deb: depends on no libc6"
diff <(files_below deb/usr) <(files_below "$tree") || fail ".deb: other files"

# The wheel, installed as pip does it.
wheel=$("$SOURCE_DIR/tools/wheel" "$BUILD_DIR" wheel) || fail "no wheel"
python3 -m pip install -q --no-index --no-deps --disable-pip-version-check \
  --root-user-action=ignore --prefix "$work/pip" "$wheel" >log 2>&1 || fail "pip: $(cat log)"
prefix=$(dirname "$(dirname "$(find pip -path '*/bin/ingot')")")
[[ $("$prefix/bin/ingot" --version) == "ingot $version" ]] || fail "wheel: no command"
diff <(files_below "$prefix" | grep -v dist-info) <(files_below "$tree") ||
  fail "wheel: other files"

# The list of what is linked.
python3 - "$tree/share/doc/ingot/ingot.spdx.json" "$version" <<'END' || fail "ingot.spdx.json"
import json, sys
sbom = json.load(open(sys.argv[1]))
packages = {p["name"]: p for p in sbom["packages"]}
assert packages["Ingot"]["versionInfo"] == sys.argv[2]
assert packages["GMP"]["licenseConcluded"].startswith("LGPL-3.0-or-later")
assert packages["LLVM"]["versionInfo"].startswith("22.")
assert len(sbom["relationships"]) == len(packages) == len({p["SPDXID"] for p in sbom["packages"]})
END
for library in $(sed -n 's/^  "\([A-Za-z+]*\)|.*/\1/p' "$SOURCE_DIR/tools/cmake/IngotLicences.cmake"); do
  grep -qwF "$library" "$SOURCE_DIR/NOTICE" || fail "NOTICE has no $library"
done

[ $failures = 0 ]
