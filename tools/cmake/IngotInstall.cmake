# Installs bin/ingot, bin/ingot-mpi where it is built, lib/libingot_runtime.a, ingot.h and
# ingot.hpp in include/ingot, for programs that compile the runtime themselves
# share/ingot/ingot.c, the schema of manifests, the CMake package and the licence.

include(CMakePackageConfigHelpers)

set(INGOT_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Ingot")

install(TARGETS ingot ingot_runtime EXPORT IngotTargets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET ingot-mpi)
  install(TARGETS ingot-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(EXPORT IngotTargets NAMESPACE Ingot:: DESTINATION ${INGOT_PACKAGE_DIR})
install(FILES runtime/ingot.h runtime/ingot.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)
install(FILES runtime/ingot.c DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot)
install(FILES docs/manifest.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(tools/cmake/IngotConfig.cmake.in IngotConfig.cmake
  INSTALL_DESTINATION ${INGOT_PACKAGE_DIR})
write_basic_package_version_file(IngotConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/IngotConfig.cmake
  ${PROJECT_BINARY_DIR}/IngotConfigVersion.cmake
  tools/cmake/IngotKernels.cmake
  DESTINATION ${INGOT_PACKAGE_DIR})
