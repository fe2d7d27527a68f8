#!/usr/bin/env bash
# Plants faults in candidates of `ingot tune` on a GPU: one that never ends, one that writes to an illegal address, one
# that writes nothing, and an agent that crashes. Each is recorded, and the search goes on. Skipped without a GPU.
#
#   INGOT=build/static/ingot SOURCE_DIR=. tests/gpu/planted.sh
#
# ARCH names the GPU's architecture (sm_90a); ptxas is in the PATH or in INGOT_CUDA; GPU is the file whose presence
# says that there is a GPU.
set -uo pipefail

[ -e "${GPU:-/dev/nvidia0}" ] || { echo "no GPU: skipped"; exit 77; }
INGOT=$(readlink -f "$INGOT") SOURCE_DIR=$(readlink -f "$SOURCE_DIR") arch=${ARCH:-sm_90a} status=0
ptxas=${INGOT_CUDA:+$INGOT_CUDA/bin/}ptxas
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

cat >vadd.ing <<'ING'
kernel vadd(n: int, A: f32[n], B: f32[n]) -> C: f32[n] {
    C[i] = A[i] + B[i]
}

schedule vadd {
    tune threads in [64, 128, 256, 512]
    tune lanes in [2, 4, 8]
    b, t, v = split(C.i, _, threads, lanes)
    bind(b, block.x)
    bind(t, thread.x)
    vectorize(v)
}
ING

# Makes a cubin of the kernel that begins with these instructions.
plant() {
  sed -e '/^\.reqntid/d' -e "s/^{\$/{\n$2/" vadd.ptx >"$1.ptx"
  "$ptxas" -arch "$arch" "$1.ptx" -o "$1.cubin" || exit 1
}
"$INGOT" build vadd.ing --rules-only --arch none --emit ptx -o . >/dev/null || exit 1
sed "s/\bvadd\b/vadd__s1/; s/\bvadd_param/vadd__s1_param/" vadd.*.ptx >vadd.ptx
plant hang 'Forever: nanosleep.u32 1000; bra Forever;'
plant fault '.reg .b64 %nowhere; mov.b64 %nowhere, 16; st.global.b32 [%nowhere], 1;'
plant wrong 'ret;'

cat >rules <<'RULES'
threads = 64\b.*lanes = 2\b hang
threads = 128\b.*lanes = 2\b fault
threads = 256\b.*lanes = 2\b wrong
threads = 512\b.*lanes = 2\b crash
RULES
"$INGOT" tune vadd.ing --size n=1000000 --trials 12 --limit 5s \
  --cross "python3 $SOURCE_DIR/tests/gpu/planted_agent.py rules . $INGOT agent" >log 2>&1 || status=1
cat log
for fault in 'threads=64 lanes=2 : state=hung' 'threads=128 lanes=2 : state=fault' \
  'threads=256 lanes=2 : state=wrong' 'threads=512 lanes=2 : state=crashed'; do
  grep -q "$fault" vadd.tuned.log && echo "recorded: $fault" || { echo "MISSING: $fault"; status=1; }
done
measured=$(grep -o 'schedule 1 threads=[0-9]* lanes=[48] : state=measured' vadd.tuned.log | sort -u | wc -l)
echo "$measured of 8 other points measured"
[ "$measured" = 8 ] || { status=1; cat vadd.tuned.log; }
exit $status
