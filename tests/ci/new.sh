#!/usr/bin/env bash
# The way of a user through "A kernel of your own" in README.md: its commands, as they stand there,
# with its definition in the file that `ingot new` wrote. `tune` measures by an agent that makes times
# up, and the program runs on a driver whose GPU is the CPU. Then what `ingot new` writes as it is:
# the commands of its README.md, and names and folders that it refuses.
set -uo pipefail
. "$SOURCE_DIR/tests/support/script.sh"
needs_ptxas
needs_plain_runtime
cd "$work" || exit 1

# Prints a section of README.md: the one with that heading.
section() { awk -v heading="## $1" '/^## / { on = $0 == heading } on' "$SOURCE_DIR/README.md"; }

# Prints the commands of a text behind `$ `.
commands() { sed -n 's/^    \$ //p'; }

# Prints the kernel and the schedule of a text.
kernel() { sed -n '/^    \(kernel\|schedule\) /,/^    }/s/^    //p'; }

# `ingot` as users have it, which measures by the stub and takes the driver of the test.
cmake --install "$BUILD_DIR" --prefix "$work/prefix" >log 2>&1 || fail "install: $(cat log)"
mkdir bin
cat >bin/ingot <<WRAPPER
#!/bin/sh
command=\$1
shift
case \$command in
tune) set -- "\$@" --trials 2 --jobs 2 --cross "exec python3 '$SOURCE_DIR/tests/tune/agent.py' --rules $work/rules" ;;
run) set -- "\$@" --driver $work/libcuda.so.1 --jit --no-timing ;;
esac
exec "$work/prefix/bin/ingot" "\$command" "\$@"
WRAPPER
chmod +x bin/ingot
printf '.* 40\n^build 50\n' >rules
cc -w -shared -fPIC -O1 -o libcuda.so.1 "$SOURCE_DIR/tests/faults/fake_gpu.c" || exit 1
export PATH="$work/bin:$PATH" LD_LIBRARY_PATH="$work" CMAKE_PREFIX_PATH="$work/prefix"

# Runs commands one after another in this shell; each must succeed.
follow() {
  local command
  while read -r command; do
    eval "$command" >"$work/log" 2>&1 </dev/null || fail "$command: $(cat "$work/log")"
    ! grep -q 'warning' "$work/log" || fail "$command: $(cat "$work/log")"
  done
}

# ---- README.md

section "A kernel of your own" >text
[ "$(commands <text | wc -l)" -ge 6 ] || fail "README.md has $(commands <text | wc -l) commands"
follow < <(commands <text | head -2)
kernel <"$work/text" >blend.ing
grep -q '^kernel blend' blend.ing || fail "README.md has no definition"
follow < <(commands <"$work/text" | tail -n +3)
ls out/blend.fatbin out/blend.h out/blend.json blend.tuned >/dev/null || fail "lacks results: $(ls . out)"
grep -q '^C\[1\] = ' "$work/log" || fail "the program printed $(cat "$work/log")"

# ---- What `ingot new` writes, as it is

cd "$work" || exit 1
follow <<<"ingot new first; cd first"
follow < <(sed -n 's/^    \([a-z].*[^ ]\)  *# .*/\1/p' README.md)
grep -q '^C\[1\] = 1.5, C\[1000002\] = ' "$work/log" || fail "the program printed $(cat "$work/log")"
ls out/first.fatbin >/dev/null || fail "lacks results: $(ls . out)"
follow <<<"ingot fmt --check first.ing"
sed -i 's|^//     ||' first.ing
grep -q '^schedule first' first.ing || fail "there is no schedule to take the comment from"
rm first.tuned* # of the kernel without a schedule
follow <<<"ingot fmt --check first.ing; ingot check first.ing"
grep -rl my_kernel . && fail "the name of the template is left"

# A program without a GPU says so.
LD_LIBRARY_PATH='' build/main >"$work/log" 2>&1
[ $? = 77 ] && grep -q 'no GPU' "$work/log" || [ -e /dev/nvidia0 ] || fail "without a GPU: $(cat "$work/log")"

# ---- What it refuses

# `ingot new $1` ends with 2, says $2, and leaves what is there.
refused() {
  ls -R >before
  ingot new "$1" >"$work/log" 2>&1
  [ $? = 2 ] || fail "new $1: not refused"
  grep -qF -- "$2" "$work/log" || fail "new $1: $(cat "$work/log")"
  ls -R | cmp -s - before || fail "new $1: changed the folder"
}
mkdir "$work/refuse" && cd "$work/refuse" && mkdir there && touch before file || exit 1
# shellcheck disable=SC2016
refused there '`there` is there already'
refused file '`file` is there already'
refused 3d 'a name has letters, digits and `_`, and begins with no digit'
refused my-kernel 'a name has letters, digits and `_`'
refused a/b 'a name has letters, digits and `_`'
refused for 'it is a word of the language'
refused int 'a keyword of C or C++'
refused main 'the program has that function'
[ $failures = 0 ]
