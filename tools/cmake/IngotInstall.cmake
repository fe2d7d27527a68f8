# Installs bin/ingot, include/ingot/ingot.h, share/ingot/ingot.c and the CMake package.

include(CMakePackageConfigHelpers)

set(INGOT_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Ingot")

if(TARGET ingot)
  install(TARGETS ingot RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET ingot_runtime)
  install(FILES runtime/ingot.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ingot)
  install(FILES runtime/ingot.c DESTINATION ${CMAKE_INSTALL_DATADIR}/ingot)
endif()

configure_package_config_file(tools/cmake/IngotConfig.cmake.in IngotConfig.cmake
  INSTALL_DESTINATION ${INGOT_PACKAGE_DIR}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_DATADIR)
write_basic_package_version_file(IngotConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/IngotConfig.cmake
  ${PROJECT_BINARY_DIR}/IngotConfigVersion.cmake
  tools/cmake/IngotKernels.cmake
  DESTINATION ${INGOT_PACKAGE_DIR})
