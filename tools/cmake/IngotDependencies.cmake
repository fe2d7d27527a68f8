# Finds LLVM 20 to 22, isl, gmp, jansson, zlib, zstd, the CUDA tools and, as INGOT_MPI says, MPI.
#
# Sets  ingot_dependencies  an interface target: include folders and libraries
#       INGOT_LLVM_MAJOR    the version of LLVM: 22
#       INGOT_LLVM_BIN      the folder of LLVM's tools (FileCheck, not, lit)
#       INGOT_CUDA          the folder with bin/ptxas, or empty
#       INGOT_CUDA_DEFAULT  what the command tries last when it looks for ptxas
#
# With INGOT_STATIC_LLVM every library is an archive and the command needs libc and
# libm only; otherwise all are shared, which links in a fraction of the time.

# The parts of LLVM that Ingot calls; llvm-config adds what they need.
set(INGOT_LLVM_COMPONENTS
  core analysis bitreader bitwriter irreader linker native nvptx orcjit passes
  CACHE STRING "LLVM components to link")

# The versions of LLVM that Ingot is tested with, the preferred one first. With an older one
# some instructions are inline assembly: nvptx/lacking.def.
set(INGOT_LLVM_TESTED 22 21 20)
list(TRANSFORM INGOT_LLVM_TESTED PREPEND llvm-config- OUTPUT_VARIABLE llvm_config_names)
find_program(LLVM_CONFIG NAMES ${llvm_config_names} llvm-config)
if(NOT LLVM_CONFIG)
  message(FATAL_ERROR "Ingot needs LLVM 20, 21 or 22, and there is no llvm-config: install "
    "llvm-22-dev, or set LLVM_CONFIG to the llvm-config of one")
endif()

# Runs llvm-config with the arguments that follow and sets `result` to its output.
function(ingot_llvm_config result)
  execute_process(COMMAND ${LLVM_CONFIG} ${ARGN}
    OUTPUT_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

ingot_llvm_config(INGOT_LLVM_VERSION --version)
ingot_llvm_config(INGOT_LLVM_INCLUDE --includedir)
ingot_llvm_config(INGOT_LLVM_BIN --bindir)
string(REGEX MATCH "^[0-9]+" INGOT_LLVM_MAJOR "${INGOT_LLVM_VERSION}")
if(NOT INGOT_LLVM_MAJOR IN_LIST INGOT_LLVM_TESTED)
  message(FATAL_ERROR "Ingot needs LLVM 20, 21 or 22, and ${LLVM_CONFIG} is of LLVM ${INGOT_LLVM_VERSION}")
endif()
message(STATUS "Found LLVM ${INGOT_LLVM_VERSION}: ${LLVM_CONFIG}")

if(INGOT_STATIC_LLVM)
  set(link_mode --link-static)
else()
  set(link_mode --link-shared)
endif()
ingot_llvm_config(INGOT_LLVM_FILES ${link_mode} --libfiles ${INGOT_LLVM_COMPONENTS})
separate_arguments(INGOT_LLVM_FILES UNIX_COMMAND "${INGOT_LLVM_FILES}")

add_library(ingot_dependencies INTERFACE)
target_include_directories(ingot_dependencies SYSTEM INTERFACE ${INGOT_LLVM_INCLUDE})
target_link_libraries(ingot_dependencies INTERFACE ${INGOT_LLVM_FILES})

# Finds the library `name`, static or shared as LLVM is, and links it to all of Ingot.
function(ingot_find_library name)
  if(INGOT_STATIC_LLVM)
    find_library(INGOT_LIB_${name} NAMES lib${name}.a REQUIRED)
  else()
    find_library(INGOT_LIB_${name} NAMES ${name} REQUIRED)
  endif()
  target_link_libraries(ingot_dependencies INTERFACE ${INGOT_LIB_${name}})
endfunction()

foreach(library isl gmp jansson zstd z)
  ingot_find_library(${library})
endforeach()
target_link_libraries(ingot_dependencies INTERFACE m)

if(INGOT_STATIC_LLVM)
  target_link_libraries(ingot_dependencies INTERFACE -l:libstdc++.a)
  target_link_options(ingot_dependencies INTERFACE -static-libgcc)
endif()

# Links the target `name` with the C library below INGOT_GLIBC_ROOT, which tools/glibc-root makes
# of an older one: the command runs from that on.
function(ingot_link_old_glibc name)
  set(folder "${INGOT_GLIBC_ROOT}/usr/lib/${CMAKE_C_LIBRARY_ARCHITECTURE}")
  if(NOT EXISTS "${folder}/crt1.o")
    message(FATAL_ERROR "INGOT_GLIBC_ROOT has no C library: ${folder}/crt1.o is missing")
  endif()
  add_library(ingot_old_glibc OBJECT "${PROJECT_SOURCE_DIR}/tools/cmake/old_glibc.c")
  target_link_libraries(${name} PRIVATE ingot_old_glibc pthread dl m)
  target_link_options(${name} PRIVATE "--sysroot=${INGOT_GLIBC_ROOT}" "-B${folder}/" "-L${folder}"
    -Wl,--wrap=exp,--wrap=log,--wrap=pow,--wrap=exp2,--wrap=log2)
endfunction()

# MPI is a shared library, whatever the others are: only ingot-mpi is linked with it.
if(INGOT_MPI STREQUAL "AUTO")
  find_package(MPI QUIET COMPONENTS C)
elseif(INGOT_MPI)
  find_package(MPI REQUIRED COMPONENTS C)
endif()

# Sets `result` to the first folder of those that follow which holds the CUDA tools
# that Ingot cannot do without, or to nothing.
function(ingot_find_cuda result)
  foreach(folder ${ARGN})
    if(EXISTS "${folder}/bin/ptxas" AND EXISTS "${folder}/nvvm/libdevice/libdevice.10.bc")
      set(${result} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

if(NOT DEFINED INGOT_CUDA)
  ingot_find_cuda(cuda "$ENV{INGOT_CUDA}" "${PROJECT_SOURCE_DIR}/build/cuda"
    "$ENV{CUDA_HOME}" /usr/local/cuda)
  set(INGOT_CUDA "${cuda}")
endif()
set(INGOT_CUDA_DEFAULT "${INGOT_CUDA}" CACHE PATH "The CUDA folder that the command tries last")
