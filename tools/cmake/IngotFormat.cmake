# Adds the target `format` (rewrites every .c and .h file), and as a script,
#
#   cmake -P tools/cmake/IngotFormat.cmake
#
# the check that `format` would change nothing. Both want clang-format 14; the check
# prints a line that starts with "skipped" where there is none.

get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
find_program(CLANG_FORMAT NAMES clang-format-14)

# Sets `result` to all C sources and headers of the repository.
function(ingot_source_files result)
  set(patterns "")
  foreach(folder docs frontend ir passes nvptx runtime tools tests)
    list(APPEND patterns "${root}/${folder}/*.c" "${root}/${folder}/*.h")
  endforeach()
  file(GLOB_RECURSE files ${patterns})
  set(${result} "${files}" PARENT_SCOPE)
endfunction()

# Ends the script with an error when clang-format would change a file.
function(ingot_check_format)
  ingot_source_files(files)
  if(NOT files)
    return()
  endif()
  execute_process(COMMAND ${CLANG_FORMAT} --dry-run --Werror ${files} RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "run: cmake --build build/dev --target format")
  endif()
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  add_custom_target(format
    COMMAND ${CMAKE_COMMAND} -DREWRITE=ON -P "${CMAKE_CURRENT_LIST_FILE}" VERBATIM)
elseif(NOT CLANG_FORMAT)
  message("skipped: no clang-format-14 on this machine")
elseif(REWRITE)
  ingot_source_files(files)
  execute_process(COMMAND ${CLANG_FORMAT} -i ${files} COMMAND_ERROR_IS_FATAL ANY)
else()
  ingot_check_format()
endif()
