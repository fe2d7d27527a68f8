#!/usr/bin/env bash
# The runtime's syntax and types on macOS, by clang and headers of our own, as C11 and as C++17; and
# what it says there, where NVIDIA has no driver: by the same source on this system.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE_DIR"
warnings='-Wall -Wextra -Wconversion -Wshadow -Werror'

for target in x86_64 arm64; do
  for language in 'c -std=c11 -Wpedantic' 'c++ -std=c++17'; do
    for source in runtime/*.c; do
      # shellcheck disable=SC2086
      clang-22 --target=$target-apple-macos11 -fsyntax-only -ffreestanding -nostdlibinc $warnings \
        -isystem tests/support/cross/macos -Iruntime -x $language "$source"
      echo "$source for $target as $language"
    done
  done
done

cat >"$work/main.c" <<'END'
#include <stdio.h>
#include "scale.h"

int main(void)
{
    char text[INGOT_TEXT_SIZE];
    struct ingot_module *module;
    enum ingot_status status = ingot_open(&module, &scale_artifact,
                                          scale_fatbin, sizeof scale_fatbin, 0);

    status = status ? status : ingot_preload(module);
    printf("%d %s\n", status, ingot_error_text(module, text, sizeof text));
    ingot_close(module);
    return 0;
}
END
cp "tests/package/abi/scale.h.$(sed -n 's/^constant INGOT_ABI = //p' runtime/abi)" "$work/scale.h"
cc -std=c11 -Iruntime -c -D__APPLE__ runtime/ingot.c -o "$work/ingot.o"
cc -std=c11 -Iruntime "$work/main.c" "$work/ingot.o" -o "$work/app" -ldl -lpthread
"$work/app" | tee "$work/said"
diff "$work/said" <(echo '7 scale: NVIDIA has no driver for macOS')
