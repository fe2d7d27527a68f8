# ingot_add_kernels(<target> FILES <file.ing>... [ARCH <sm>...] [PTX <sm>] [EMBED]
#                   [OPTIONS <option>...])
#
# Compiles each file.ing at build time into file.fatbin and file.h, again whenever the
# file, its file.tuned, what it includes or the compiler changes. <target> is an
# interface library: what links it can include file.h, and finds the fatbins in the
# folder that the target property INGOT_OUTPUT_DIR names.
#
#   find_package(Ingot REQUIRED)
#   ingot_add_kernels(kernels FILES gemm.ing softmax.ing ARCH sm_80 sm_90a)
#   target_link_libraries(app PRIVATE kernels)
#
# A static library that links kernels needs the runtime where it is linked; so its
# package exports both, and looks for Ingot itself:
#
#   install(TARGETS mylib kernels EXPORT mylibTargets)   # CMakeLists.txt
#   find_dependency(Ingot)                               # mylibConfig.cmake

function(ingot_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EMBED" "PTX" "FILES;ARCH;OPTIONS")
  if(NOT arg_FILES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ingot_add_kernels(${target}): expects FILES, and no '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(TARGET Ingot::ingot)
    set(command Ingot::ingot)
  else()
    set(command ingot)
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
      COMMAND ${command} build "${path}" -o "${out}" --depfile "${out}/${name}.d" ${options}
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      DEPENDS "${path}" ${tuned} ${command}
      DEPFILE "${out}/${name}.d"
      COMMENT "Compiling kernels of ${file}"
      VERBATIM)
    list(APPEND products "${out}/${name}.h")
  endforeach()

  add_custom_target(${target}_build DEPENDS ${products})
  add_library(${target} INTERFACE ${products})
  add_dependencies(${target} ${target}_build)
  target_include_directories(${target} INTERFACE "$<BUILD_INTERFACE:${out}>")
  set_target_properties(${target} PROPERTIES INGOT_OUTPUT_DIR "${out}")
  if(TARGET Ingot::runtime)
    target_link_libraries(${target} INTERFACE Ingot::runtime)
  elseif(TARGET ingot_runtime)
    target_link_libraries(${target} INTERFACE ingot_runtime)
  endif()
endfunction()
