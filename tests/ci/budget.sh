#!/usr/bin/env bash
# A file of less than 100 lines is built or refused with little processor time and memory,
# whatever it asks for: products of unrolled loops, long conditions, deep expressions, lists that
# double, many kernels. Each of the files below took more once, or is near a limit. What counts is
# processor time, not the clock, and twice what a slow machine needs.
set -uo pipefail

seconds=${INGOT_BUDGET_SECONDS:-20} # of processor time
kilobytes=3000000                    # of address space, with all libraries
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
: >"$folder/tried" && : >"$folder/failed"

# Builds the file on the standard input, for PTX alone; it is done (0) or refused (1).
try() {
  local file=$folder/$1.ing status
  cat >"$file"
  [ "$(wc -l <"$file")" -lt 100 ] || echo "$1: not a small file" >>"$folder/failed"
  (
    ulimit -t "$seconds" -v "$kilobytes"
    exec "$INGOT" build "$file" -o "$folder/out" --arch none
  ) >"$folder/log" 2>&1
  status=$?
  echo "$1" >>"$folder/tried"
  [ "$status" -le 1 ] && [ "$status" = "${2:-$status}" ] && return
  { echo "$1: exit status $status" && tail -5 "$folder/log"; } >>"$folder/failed"
}

# Prints words for each number of a range: a printf format that takes it once or more.
each() {
  local i
  for ((i = $2; i <= $3; i++)); do printf "${1//@/$i}"; done
}

gemm() {
  echo 'kernel g(M: int, N: int, K: int, A: f32[M, K], B: f32[K, N]) -> C: f32[M, N] {'
  echo '    C[i, j] = sum(k in K) A[i, k] * B[k, j]'
  echo '}'
  echo 'schedule g {' && cat && echo '}'
}

copy() {
  echo 'kernel c(n: int, A: f32[n]) -> C: f32[n] { C[i] = A[i] }'
  cat
}

# ---- Products of loops

gemm <<'END' | try unrolled-product 1
    i0, j0, i1, j1 = tile(C.i, C.j, 32, 32)
    k0, k1 = split(C.k, _, 32)
    reorder(k0, i1, j1, k1)
    for l in [i1, j1, k1] { unroll(l) }
END
gemm <<'END' | try virtual-product 1
    i0, i1, i2 = split(C.i, _, 64, 16)
    j0, j1, j2 = split(C.j, _, 64, 16)
    reorder(i0, j0, i1, j1, i2, j2)
    bind(i1, vthread.x)
    bind(j1, vthread.y)
    bind(i2, thread.x)
    bind(j2, thread.y)
END
gemm <<'END' | try virtual-in-unrolled
    i0, i1, i2, i3 = split(C.i, _, 16, 16, 8)
    j0, j1 = split(C.j, _, 16)
    reorder(i0, j0, i1, j1, i2, i3)
    bind(i1, vthread.x)
    bind(j1, vthread.y)
    bind(i2, thread.x)
    unroll(i3)
END
gemm <<'END' | try unrolled-in-bounds
    i0, j0, i1, j1 = tile(C.i, C.j, 32, 32)
    k0, k1 = split(C.k, _, 4)
    reorder(k0, i1, j1, k1)
    for l in [i1, j1, k1] { unroll(l) }
END
try unrolled-nest 1 <<'END'
kernel k(A: f32[1024] inout) {
    for a in 0..1024 @unroll { for b in 0..1024 @unroll { for c in 0..1024 @unroll {
        for d in 0..1024 @unroll { for e in 0..1024 @unroll { for f in 0..1024 @unroll {
            for g in 0..1024 @unroll { A[g] = A[g] + 1.0 }
        } } }
    } } }
}
END

# ---- Conditions and sizes

{
  copy </dev/null
  each 'schedule c when (n %% 1@ == @ %% 5 || n > @000 && n < @500) { split(C.i, _, 32) }\n' 1 40
} | try disjunctions 0
{
  echo 'kernel c(n: int, A: f32[n]) -> C: f32[n] where n > 0'
  each ' && (n %% 1@ == @ %% 5 || n > @000)' 1 60
  echo ' { C[i] = A[i] }'
} | try where-of-disjunctions
{
  copy </dev/null
  printf 'schedule c when n > 0' && each ' && (n / @ %% 3 != 1 || n / 1@ %% 5 == 2)' 2 40
  echo ' { split(C.i, _, 32) }'
} | try quotients-in-a-guard
copy <<'END' | try perfect-tile-of-a-prime 1
schedule c { x = sample_perfect_tile(C.i, 4) }
END
try perfect-tile-of-2^63 1 <<'END'
kernel c(A: f32[9223372036854775807]) -> C: f32[9223372036854775807] { C[i] = A[i] }
schedule c { x = sample_perfect_tile(C.i, 4) }
END
try perfect-tile-of-2^40 <<'END'
kernel c(A: f32[1099511627689]) -> C: f32[1099511627689] { C[i] = A[i] }
schedule c { x = sample_perfect_tile(C.i, 8) }
END

# ---- Expressions

{
  printf 'kernel c(n: int, A: f32[n]) -> C: f32[n] { C[i] = ' && each '(' 1 5000
  printf 'A[i]' && each ')' 1 5000 && echo ' }'
} | try brackets 1
{
  printf 'kernel c(n: int, A: f32[n]) -> C: f32[n] { C[i] = A[i]' && each ' + A[i] * @.0' 1 1900
  echo ' }'
} | try long-sum
{
  printf 'kernel c(n: int, A: f32[n]) -> C: f32[n] { C[i] = ' && each 'A[i] > @.0 ? ' 1 90
  printf 'A[i]' && each ' : @.0' 1 90 && echo ' }'
} | try chosen
{
  echo 'kernel c(n: int, A: f32[n]) -> C: f32[n] {'
  echo '    let s0[i in n] = A[i]'
  each '    let s@[i in n] = s$((@ - 1))[i] * s$((@ - 1))[i]\n' 1 40 |
    while read -r line; do eval "echo \"$line\""; done
  echo '    C[i] = s40[i]' && echo '}'
} >"$folder/chain"
try squares <"$folder/chain"
{
  cat "$folder/chain"
  echo 'schedule c { for s in [' && each 's@, ' 0 39 && echo 's40] { compute_inline(s) } }'
} | try inlined-squares 1
{
  echo 'kernel c(n: int, A: f32[n]) -> C: f32[n] {'
  each '    let s@[i in n] = A[i] * @.0\n' 0 60
  printf '    C[i] = s0[i]' && each ' + s@[i]' 1 60 && echo && echo '}'
} | try many-stages
{
  echo 'kernel k(n: int, A: f32[n]) -> C: f32[1] {'
  each '    let s@[z in 1] = sum(k in n) A[k] * @.5\n' 0 89
  printf '    C[i] = s0[0]' && each ' + s@[0]' 1 89 && echo && echo '}'
} | try many-reductions
try digits <<'END'
kernel d(n: int, A: f32[n, 64]) -> C: f32[n, 64] {
    C[i, j] = A[(i * 7 / 3 * 64 + j * 5 % 64) / 11 % n, (i * 64 + j) * 3 / 7 % 61] + A[i, j * 9 / 2 % 64]
}
schedule d {
    f = fuse(C.loops)
    a, b, c = split(f, _, 96, 5)
    bind(a, block.x)
    bind(b, thread.x)
}
END

# ---- Schedules

{
  copy </dev/null
  echo 'def d0() { x = 1 }'
  each 'def d@() { d$((@ - 1))() d$((@ - 1))() }\n' 1 40 |
    while read -r line; do eval "echo \"$line\"" | sed 's/) d/)\n d/'; done
  echo 'schedule c { d40() }'
} | try defs-that-double 1
copy <<'END' | try ranges 1
schedule c { for i in range(100000) { for j in range(100000) { x = i * j } } }
END
{
  copy </dev/null
  echo 'schedule c {' && echo '    l = [1, 2]' && each '    l = [l, l]\n' 1 60 && echo '}'
} | try lists-that-double
{
  copy </dev/null
  echo 'schedule c {' && echo '    a, b = split(C.i, _, 5)'
  each '    a, b = split(fuse(a, b), _, @7)\n' 1 60
  echo '}'
} | try rounds
{
  copy </dev/null
  echo 'schedule c {' && echo '    l = C.loops'
  each '    l = [l, loop_partition(l[-1], @)]\n' 1 90
  echo '}'
} | try partitions
{
  copy </dev/null
  echo 'schedule c {' && each '    tune x@ = [1, 2, 3, 4, 5, 6, 7, 8]\n' 1 90
  echo '    split(C.i, _, x1)' && echo '}'
} | try knobs
try refused-slowly 1 <<'END'
kernel s(Z: int, Y: int, X: int, A: f32[Z + 2, Y + 2, X + 2]) -> B: f32[Z, Y, X] {
    B[z, y, x] = A[z, y + 1, x + 1] + A[z + 2, y + 1, x + 1] + A[z + 1, y + 1, x] + A[z + 1, y + 1, x + 2]
}
schedule s {
    z0, z1 = split(B.z, _, 32)
    y0, y1 = split(B.y, _, 8)
    x0, x1 = split(B.x, _, 32)
    reorder(z0, y0, x0, z1, y1, x1)
    S = cache_read(B, A, shared)
    compute_at(S, z1)
    for l in [z0, y0, x0] { bind(l, block) }
}
END
try rolled-and-shared 1 <<'END'
kernel s(Z: int, Y: int, X: int, A: f32[Z + 2, Y + 2, X + 2]) -> B: f32[Z, Y, X] {
    B[z, y, x] = A[z, y + 1, x + 1] + A[z + 2, y + 1, x + 1] + A[z + 1, y, x + 1] + A[z + 1, y + 2, x + 1]
        + A[z + 1, y + 1, x] + A[z + 1, y + 1, x + 2]
}
schedule s {
    z0, z1 = split(B.z, _, 32)
    y0, y1 = split(B.y, _, 8)
    x0, x1 = split(B.x, _, 32)
    reorder(z0, y0, x0, z1, y1, x1)
    S = cache_read(B, A, shared)
    compute_at(S, z1)
    bind(z0, block.z)
    bind(y0, block.y)
    bind(x0, block.x)
    bind(y1, thread.y)
    bind(x1, thread.x)
    rolling_buffer(S, 0)
    fetch(S, 8, 32, 1)
}
END

# ---- Many of something

{
  printf 'kernel p(n: int' && each ', A@: f32[n]' 1 1000
  printf ') -> C: f32[n] { C[i] = A1[i]' && each ' + A@[i]' 2 1000 && echo ' }'
} | try parameters
{ each 'kernel k@(n: int, A: f32[n, n]) -> C: f32[n] { C[i] = sum(j in n) A[i, j] }\n' 1 60; } |
  try kernels
{
  echo 'kernel e(n: int, A: f32[n] inout) {'
  each 'for i@ in 0..2 { ' 1 60 && printf 'A[0] = A[0] + 1.0' && each ' }' 1 60 && echo ' }'
} | try nested-loops
{
  echo 'kernel e(n: int, A: f32[n] inout) {' && echo 'for b in 0..n @block.x { for t in 0..256 @thread.x {'
  echo 'alloc S: f32[4096] in shared'
  each 'S[(t * @ + @) %% 4096] = S[(t * 3 + @7) %% 4096] + A[b]\n' 1 60
  echo 'A[b] = S[0]' && echo '} } }'
} | try conflicts

cat "$folder/failed"
echo "$(wc -l <"$folder/tried") files"
[ ! -s "$folder/failed" ] && [ "$(wc -l <"$folder/tried")" = 31 ]
