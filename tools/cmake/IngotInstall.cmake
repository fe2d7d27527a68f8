# Installs, below a prefix that may be moved as a whole:
#
#   bin/ingot                 the command; bin/ingot-mpi, where it is built
#   lib/libingot_runtime.a    the loader, with the headers of include/ingot
#   share/ingot               the loader for those who compile it themselves, ingot*.c; the
#                             schema of manifests
#   lib/cmake/Ingot           the CMake package
#   lib/pkgconfig/ingot.pc    the same for pkg-config
#   share/doc/ingot           LICENSE, NOTICE, CHANGELOG, the list of what is linked
#   share/...                 manual pages, completion for bash, zsh and fish
#
# INGOT_INSTALL=OFF leaves all of it out of a project that contains Ingot.

include(CMakePackageConfigHelpers)

if(NOT INGOT_INSTALL)
  return()
endif()

set(INGOT_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Ingot")
set(INGOT_DOC_DIR "${CMAKE_INSTALL_DATADIR}/doc/ingot")
set(INGOT_SYSTEM "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")

set(installed ingot_runtime)
if(TARGET ingot)
  list(APPEND installed ingot)
endif()
install(TARGETS ${installed} EXPORT IngotTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET ingot-mpi)
  install(TARGETS ingot-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT IngotTargets NAMESPACE Ingot:: DESTINATION ${INGOT_PACKAGE_DIR})
install(FILES runtime/ingot.h runtime/ingot.hpp runtime/ingot_cache.h runtime/ingot_copiers.h
  runtime/ingot_debug.h runtime/ingot_pipeline.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)
install(FILES runtime/ingot.c runtime/ingot_cache.c runtime/ingot_copiers.c runtime/ingot_debug.c
  runtime/ingot_pipeline.c
  DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot)
install(FILES docs/manifest.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot)
install(FILES LICENSE NOTICE CHANGELOG.md DESTINATION ${INGOT_DOC_DIR})

configure_package_config_file(tools/cmake/IngotConfig.cmake.in IngotConfig.cmake
  INSTALL_DESTINATION ${INGOT_PACKAGE_DIR}
  PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(IngotConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  ${PROJECT_BINARY_DIR}/IngotConfig.cmake
  ${PROJECT_BINARY_DIR}/IngotConfigVersion.cmake
  tools/cmake/IngotKernels.cmake
  DESTINATION ${INGOT_PACKAGE_DIR})

# From the folder of ingot.pc up to the prefix.
file(RELATIVE_PATH INGOT_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" INGOT_PC_UP "${INGOT_PC_UP}")
configure_file(tools/cmake/ingot.pc.in ingot.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ingot.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET ingot)
  include(IngotLicences)
  install(CODE "
    set(ingot \"${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:ingot>\")
    set(ingot_commands \"${PROJECT_SOURCE_DIR}/tools/ingot/commands.def\")
    set(ingot_data \"${CMAKE_INSTALL_DATADIR}\")
    set(ingot_scratch \"${PROJECT_BINARY_DIR}\")
    include(\"${PROJECT_SOURCE_DIR}/tools/cmake/IngotManual.cmake\")")
endif()
