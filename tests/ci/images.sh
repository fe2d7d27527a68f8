#!/usr/bin/env bash
# Images are added to an artefact and removed from it, and a program that was compiled before
# goes on loading it, on the driver of tests/fake_driver (a GPU of sm_90).
set -euo pipefail

[[ -n ${FAKE_DRIVER:-} ]] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
driver=$FAKE_DRIVER/libcuda.so.1

# Prints what went wrong, and ends.
fail() {
  echo "FAIL: $*"
  exit 1
}

# Checks that the program loads image $1 of out/object.fatbin, or says so.
loads() {
  ./main out/object.fatbin "$driver" >log || true
  grep -q -- "$1" log || fail "$2: loads $(cat log) instead of $1"
}

# Runs the command that follows, which must complain with code $1 and words $2; nothing may change.
refused() {
  local code=$1 words=$2
  shift 2
  sha256sum out/* >before
  "$INGOT" image "$@" 2>log && fail "image $*: was done"
  [[ $(cat log) == *"$code"*"$words"* ]] || fail "image $*: $(cat log)"
  sha256sum --quiet -c before || fail "image $*: files changed"
}

cp "$SOURCE_DIR/tests/bindings/object.ing" .
"$INGOT" build object.ing -o out --arch none --ptx sm_75
cc -std=c11 -O1 -Wall -Wextra -Werror -Iout -I"$SOURCE_DIR/runtime" "$SOURCE_DIR/tests/bindings/images.c" \
  "$SOURCE_DIR/runtime/ingot.c" -ldl -lpthread -o main
cp -r out built
loads compute_75 "as built"

# ---- Of another build of the source.

"$INGOT" build object.ing -o more --arch none --ptx sm_80
"$INGOT" image add out/object.fatbin --from more/object.json
loads compute_80 "added from another build"
"$INGOT" image list out/object.fatbin >log
grep -q 'changed since it was built' log || fail "list: $(cat log)"
{ head -c -1 out/object.fatbin; printf x; } >damaged.fatbin
refused E0818 'its stamp is of other bytes' list damaged.fatbin
"$INGOT" image remove out/object.json --arch compute_75
loads compute_80 "the first one removed"
refused E0835 "has an image for compute_80 already" add out/object.fatbin --from more/object.fatbin --arch compute_80
refused E0836 "would have no image left" remove out/object.fatbin --arch compute_80
refused E0834 "has no image for sm_90" remove out/object.fatbin --arch sm_90
"$INGOT" image add out/object.fatbin --from built/object.fatbin --arch compute_75
"$INGOT" image remove out/object.fatbin --arch compute_80
diff -r out built || fail "not what was built, though its images are"

# Another definition, other parameters, another schedule, no kernel of the name.
mkdir wrong
sed 's/A\[i\] + s/A[i] * s/' object.ing >wrong/body.ing
sed 's/s: f32/s: f64/; s/ + s/ + f32(s)/' object.ing >wrong/parameter.ing
printf '%s\n' "$(cat object.ing)" 'schedule vadd {' '    b, t = split(C.i, [_, 32])' '    bind(b, block.x)' \
  '    bind(t, thread.x)' '}' >wrong/schedule.ing
sed 's/vadd/other/' object.ing >wrong/name.ing
for name in body parameter schedule name; do
  "$INGOT" build wrong/$name.ing -o wrong --arch none --ptx sm_80
done
refused E0838 'its `vadd` computes something else' add out/object.fatbin --from wrong/body.fatbin
refused E0838 'its `vadd` computes something else' add out/object.fatbin --from wrong/parameter.fatbin
refused E0838 'it launches `vadd` in another way' add out/object.fatbin --from wrong/schedule.fatbin
refused E0838 'it has no kernel `vadd`' add out/object.fatbin --from wrong/name.fatbin
refused '' 'cannot read `out/none.json`' add out/none.json --from more/object.json
mv more/object.json more/gone
refused '' 'cannot read `more/object.json`' add out/object.fatbin --from more/object.fatbin
"$INGOT" build object.ing -o linked --arch none --emit object
refused E0833 'are in the object file `linked/object.o`' add linked/object.json --from built/object.json

# A program of another build refuses what is not its own.
cp out/object.fatbin kept
"$INGOT" build wrong/schedule.ing -o other --arch none --ptx sm_75
"$INGOT" image add other/schedule.fatbin --from wrong/schedule.fatbin
cp other/schedule.fatbin out/object.fatbin
loads "of another build than the header" "another build"
cp kept out/object.fatbin

# What a kernel that waits by itself must not become.
cp "$SOURCE_DIR/docs/examples/launch_attribute.ing" twice.ing
"$INGOT" build twice.ing -o twice --arch none --ptx sm_75 >log 2>&1 || fail "twice: $(cat log)"
refused E0839 'would not wait for the kernel before it on sm_90' add twice/twice.fatbin --arch sm_90
refused '' 'is PTX, which another build has' add out/object.fatbin --arch compute_90

# ---- Of the PTX that is there.

if [[ -z ${INGOT_CUDA:-} ]]; then
  echo "not tested: there is no ptxas"
  exit
fi
"$INGOT" image add out/object.fatbin --arch sm_90,sm_80,sm_120a
loads 'sm_90$' "assembled"
"$INGOT" doctor out/object.fatbin >log
grep -q 'sm_90 .*exact' log || fail "doctor: $(cat log)"
python3 - out/object.json built/object.json <<'END' || fail "the manifest"
import json, sys
now, built = (json.load(open(p)) for p in sys.argv[1:])
assert now["fatbin"]["built"] == built["fatbin"]["hash"] != now["fatbin"]["hash"]
assert [i["target"] for i in now["images"]] == ["sm_90", "sm_80", "sm_120a", "compute_75"]
assert now["tools"]["ptxas"] and now["images"][0]["kernels"][0]["registers"] > 0
assert now["kernels"] == built["kernels"]
END
"$INGOT" image remove out/object.fatbin --arch compute_75
refused E0837 "has no PTX that becomes machine code for sm_89" add out/object.fatbin --arch sm_89
"$INGOT" image remove out/object.fatbin --arch sm_90,sm_120a
loads "the GPU is sm_90, the fatbin has cubin sm_80" "removed"
