include(CMakeFindDependencyMacro)
find_dependency(Ingot)
include("${CMAKE_CURRENT_LIST_DIR}/mylibTargets.cmake")
