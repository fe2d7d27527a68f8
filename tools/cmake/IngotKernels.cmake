# ingot_add_kernels(<target> FILES <file.ing>... [ARCH <sm>...] [PTX <sm>] [EMBED]
#                   [JOBS <number>] [JOB_POOL <pool>] [OPTIONS <option>...])
#
# Compiles each file.ing at build time into file.fatbin and file.h, again whenever the
# file, its file.tuned, what it includes or the compiler changes. <target> is an
# interface library: what links it can include file.h, and finds the fatbins in the
# folder that the target property INGOT_OUTPUT_DIR names.
#
#   find_package(Ingot REQUIRED)              # or add_subdirectory(ingot)
#   ingot_add_kernels(kernels FILES gemm.ing softmax.ing ARCH sm_80 sm_90a)
#   target_link_libraries(app PRIVATE kernels)
#
# Each command assembles for several architectures at a time: as many as there are
# processors, at most JOBS, and under make -j as many as its jobserver lets it. JOB_POOL is
# a pool of Ninja.
#
# A static library that links kernels needs the runtime where it is linked; so its
# package exports both, and looks for Ingot itself:
#
#   install(TARGETS mylib kernels EXPORT mylibTargets)   # CMakeLists.txt
#   find_dependency(Ingot)                               # mylibConfig.cmake

function(ingot_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED" "PTX;JOBS;JOB_POOL" "FILES;ARCH;OPTIONS")
  if(NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ingot_add_kernels(${target}): expects FILES, and no '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  set(options ${arg_OPTIONS})
  if(arg_ARCH)
    list(JOIN arg_ARCH "," architectures)
    list(APPEND options --arch ${architectures})
  endif()
  if(arg_PTX)
    list(APPEND options --ptx ${arg_PTX})
  endif()
  if(arg_EMBED)
    list(APPEND options --embed)
  endif()

  if(arg_JOBS)
    list(APPEND options --jobs ${arg_JOBS})
  endif()
  set(pool "")
  if(arg_JOB_POOL)
    set(pool JOB_POOL ${arg_JOB_POOL})
  endif()
  # make gives its jobserver to commands that name it.
  set(wrapper "")
  if(CMAKE_GENERATOR STREQUAL "Unix Makefiles")
    set(wrapper ${CMAKE_COMMAND} -E env "INGOT_MAKE=$(MAKE)")
  endif()

  set(out "${CMAKE_CURRENT_BINARY_DIR}/${target}")
  file(MAKE_DIRECTORY "${out}")
  set(products "")
  foreach(file ${arg_FILES})
    get_filename_component(path "${file}" ABSOLUTE)
    get_filename_component(name "${file}" NAME_WLE)
    get_filename_component(folder "${path}" DIRECTORY)
    file(GLOB tuned CONFIGURE_DEPENDS "${folder}/${name}.tuned")
    add_custom_command(
      OUTPUT "${out}/${name}.h"
      BYPRODUCTS "${out}/${name}.fatbin"
      COMMAND ${wrapper} $<TARGET_FILE:Ingot::ingot> build "${path}" -o "${out}" --depfile "${out}/${name}.d" ${options}
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      DEPENDS "${path}" ${tuned} $<TARGET_FILE:Ingot::ingot>
      DEPFILE "${out}/${name}.d"
      COMMENT "Compiling kernels of ${file}"
      ${pool}
      VERBATIM)
    list(APPEND products "${out}/${name}.h")
  endforeach()

  add_custom_target(${target}_build DEPENDS ${products})
  add_library(${target} INTERFACE ${products})
  add_dependencies(${target} ${target}_build)
  target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${out}>")
  set_target_properties(${target} PROPERTIES INGOT_OUTPUT_DIR "${out}")
  target_link_libraries(${target} INTERFACE Ingot::runtime)
endfunction()

# Compiles the runtime for the system of this build, and lets Ingot::runtime, which is
# imported, be the result: so a package that exports kernels still names Ingot::runtime.
function(ingot_compile_runtime)
  set(folder "${CMAKE_BINARY_DIR}/Ingot")
  if(NOT TARGET ingot_runtime_compiled)
    add_library(ingot_runtime_compiled STATIC ${ARGV})
    set_target_properties(ingot_runtime_compiled PROPERTIES
      OUTPUT_NAME ingot_runtime
      ARCHIVE_OUTPUT_DIRECTORY "$<1:${folder}>"
      C_STANDARD 11
      C_VISIBILITY_PRESET hidden
      POSITION_INDEPENDENT_CODE ON)
    target_compile_options(ingot_runtime_compiled PRIVATE -fno-asynchronous-unwind-tables)
    target_include_directories(ingot_runtime_compiled PRIVATE
      $<TARGET_PROPERTY:Ingot::runtime,INTERFACE_INCLUDE_DIRECTORIES>)
  endif()
  set(archive "${folder}/${CMAKE_STATIC_LIBRARY_PREFIX}ingot_runtime${CMAKE_STATIC_LIBRARY_SUFFIX}")
  get_target_property(configurations Ingot::runtime IMPORTED_CONFIGURATIONS)
  set_target_properties(Ingot::runtime PROPERTIES IMPORTED_LOCATION "${archive}")
  foreach(configuration ${configurations})
    set_property(TARGET Ingot::runtime PROPERTY IMPORTED_LOCATION_${configuration} "${archive}")
  endforeach()
  add_dependencies(Ingot::runtime ingot_runtime_compiled)
endfunction()
