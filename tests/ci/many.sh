#!/usr/bin/env bash
# A hundred artefacts in one program, each with a kernel of the same name: --prefix tells them apart,
# one C file includes all their headers, and each launches its own image. Needs no GPU: the driver is
# that of tests/fake_driver.
set -euo pipefail

[[ -n ${FAKE_DRIVER:-} ]] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
count=100
for ((i = 0; i < count; i++)); do
  echo "kernel vadd(n: int, A: f32[n], C: f32[n] inout, s: f32) { C[i] = $i.0 * A[i] + s }" >"file$i.ing"
done
"$INGOT" build file*.ing --arch none --embed --prefix lib_@_ 2>log
[[ ! -s log ]] || { cat log && exit 1; }

{
  for ((i = 0; i < count; i++)); do echo "#include \"file$i.h\""; done
  cat "$SOURCE_DIR/tests/ci/many.c"
  for ((i = 0; i < count; i++)); do echo "LAUNCH(lib_file${i}_file$i, lib_file${i}_vadd)"; done
  echo 'static int (*const all[])(void) = {'
  for ((i = 0; i < count; i++)); do echo "    run_lib_file${i}_vadd,"; done
  printf '};\n\nint main(void)\n{\n    return run_all(all, sizeof all / sizeof *all);\n}\n'
} >main.c
cc -std=c11 -Wall -Wextra -Werror -O1 -I. -I"$SOURCE_DIR/runtime" -I"$SOURCE_DIR" \
  main.c "$SOURCE_DIR/runtime/ingot.c" -ldl -lpthread -o main
./main | tee out
grep -qx "launches $count of $count" out

# Without a prefix two of them exclude each other, and the compiler says which.
"$INGOT" build file1.ing file2.ing --arch none -o plain 2>log
grep -q 'warning\[E0792\]' log
printf '#include "file1.h"\n#include "file2.h"\n' >plain/both.c
! cc -I"$SOURCE_DIR/runtime" -c plain/both.c -o both.o 2>log
grep -q 'another header has vadd, too; build this one with --prefix' log

# Nor is a header taken for another one of its name.
mkdir one two
cp file1.ing one/same.ing
sed s/vadd/vsub/ file2.ing >two/same.ing
for folder in one two; do "$INGOT" build $folder/same.ing --arch none -o $folder; done
printf '#include "one/same.h"\n#include "one/same.h"\n' >again.c
cc -I"$SOURCE_DIR/runtime" -c again.c -o again.o
printf '#include "one/same.h"\n#include "two/same.h"\n' >both.c
! cc -I"$SOURCE_DIR/runtime" -c both.c -o both.o 2>log
grep -q 'another header has the tables of same, too; build this one with --prefix' log
