# A toolchain file: builds for Linux on aarch64, by the cross compilers of Debian and the libraries that
# tools/arm64-root put into build/arm64. What is built and runs during the build, does so by qemu.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_STRIP aarch64-linux-gnu-strip)

cmake_path(SET INGOT_ARM64 NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../build/arm64")
set(CMAKE_FIND_ROOT_PATH "${INGOT_ARM64}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_FLAGS_INIT "-isystem ${INGOT_ARM64}/usr/include -isystem ${INGOT_ARM64}/usr/include/aarch64-linux-gnu")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
