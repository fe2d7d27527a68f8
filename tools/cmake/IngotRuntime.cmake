# The loader that generated headers call:
#
#   ingot_options    flags, definitions and include folders that all of our C files share
#   ingot_runtime    a static library, position-independent, with hidden symbols
#   Ingot::runtime   the same under the name that it has once it is installed

separate_arguments(INGOT_INSTRUMENT_FLAGS UNIX_COMMAND "${INGOT_INSTRUMENT}")

add_library(ingot_options INTERFACE)
target_include_directories(ingot_options INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(ingot_options INTERFACE
  INGOT_CHECKED=$<BOOL:${INGOT_CHECKED}>
  INGOT_VERSION="${PROJECT_VERSION}")
target_compile_options(ingot_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wundef
  -Wwrite-strings -Wvla -Wformat=2
  $<$<C_COMPILER_ID:Clang>:-Wno-enum-float-conversion> # constants are enums
  $<$<BOOL:${INGOT_WERROR}>:-Werror>
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  -ffunction-sections -fdata-sections
  ${INGOT_INSTRUMENT_FLAGS})
target_link_options(ingot_options INTERFACE ${INGOT_INSTRUMENT_FLAGS})

find_package(Threads REQUIRED)
# A program gets the objects of the cache, of the debug checks and of pipelines only if it calls them.
add_library(ingot_runtime STATIC runtime/ingot.c runtime/ingot_cache.c runtime/ingot_copiers.c
  runtime/ingot_debug.c runtime/ingot_pipeline.c)
set_target_properties(ingot_runtime PROPERTIES
  EXPORT_NAME runtime
  C_VISIBILITY_PRESET hidden)
# Nothing unwinds through it: it calls nothing of the program.
target_compile_options(ingot_runtime PRIVATE -fno-asynchronous-unwind-tables)
target_include_directories(ingot_runtime PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ingot>)
target_link_libraries(ingot_runtime
  PRIVATE $<BUILD_INTERFACE:ingot_options>
  PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
add_library(Ingot::runtime ALIAS ingot_runtime)
