# What `cpack` makes of a build, of the preset `static` for others:
#
#   cpack --config build/static/CPackConfig.cmake -G TGZ    ingot-VERSION-linux-x86_64.tar.gz
#   cpack --config build/static/CPackConfig.cmake -G DEB    ingot_VERSION_amd64.deb
#   tools/wheel build/static OUT                            a wheel of Python
#
# and of static-aarch64: ingot-VERSION-linux-aarch64.tar.gz.
#
# The tree in the .tar.gz may lie anywhere.

string(TOLOWER "${CMAKE_SYSTEM_NAME}" system)
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_NAME ingot)
set(CPACK_PACKAGE_VENDOR Ingot)
if(NOT CPACK_PACKAGE_CONTACT)
  set(CPACK_PACKAGE_CONTACT "the Ingot maintainers <ingot@localhost>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Compiler of GPU kernels into fatbins and C headers")
set(CPACK_PACKAGE_DESCRIPTION
  "Kernels are written as what they compute and how their loops run. The command\nmakes fatbins\
 for NVIDIA GPUs and C headers with launch functions of them; the small\nruntime loads them.")
set(CPACK_PACKAGE_FILE_NAME "ingot-${PROJECT_VERSION}-${system}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS nvidia-cuda-toolkit)
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
# Of an older C library, which this system's list of symbols does not know: its own version.
if(INGOT_GLIBC_ROOT)
  file(STRINGS "${INGOT_GLIBC_ROOT}/usr/include/features.h" minor REGEX "define[ \t]+__GLIBC_MINOR__")
  string(REGEX REPLACE "[^0-9]" "" minor "${minor}")
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.${minor})")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)

include(CPack)
