# Writes a C file that holds the text of other files:
#
#   cmake -DOUTPUT=library.c -DFILES="a.ing;b.ing" -P IngotEmbed.cmake
#
# It defines what tools/libingot/library.h declares, in the order of the names.

set(code "#include \"tools/libingot/library.h\"\n\n")
set(rows "")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND code "static const char ${identifier}[] = {\n${bytes}0};\n\n")
  string(APPEND rows "    {\"std/${name}\", ${identifier}, sizeof ${identifier} - 1},\n")
endforeach()
string(APPEND code "const struct library_file library_files[] = {\n${rows}    {0, 0, 0}};\n")
file(WRITE ${OUTPUT} "${code}")
