# Writes a C file that holds the text of other files:
#
#   cmake -DOUTPUT=library.c -DARRAY=library_files -DFOLDER=std "-DFILES=a.ing;b.ing"
#         [-DHEADS=ON] -P IngotEmbed.cmake
#
# It defines one of the arrays that tools/libingot/library.h declares, in the order of the
# names, which begin with FOLDER. With HEADS it holds the comment that each file begins
# with, no more.

set(code "#include \"tools/libingot/library.h\"\n\n")
set(rows "")
foreach(file ${FILES})
  string(REGEX MATCH "(rules/)?[^/]*$" name ${file})
  string(MAKE_C_IDENTIFIER ${name} identifier)
  if(HEADS)
    file(READ ${file} text)
    string(REGEX MATCH "^(//[^\n]*\n)+" text "${text}")
    string(HEX "${text}" bytes)
  else()
    file(READ ${file} bytes HEX)
  endif()
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND code "static const char ${identifier}_text[] = {\n${bytes}0};\n\n")
  string(APPEND rows "    {\"${FOLDER}/${name}\", ${identifier}_text, sizeof ${identifier}_text - 1},\n")
endforeach()
string(APPEND code "const struct library_file ${ARRAY}[] = {\n${rows}    {0, 0, 0}};\n")
file(WRITE ${OUTPUT} "${code}")
