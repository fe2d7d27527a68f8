# Writes ingot.spdx.json, what the command is linked with and under which licences, in SPDX 2.3;
# and installs, with a command that contains these libraries, their licences.

# Each row: name, licence, module of pkg-config, package of Debian, where it comes from.
set(INGOT_LIBRARIES
  "LLVM|Apache-2.0 WITH LLVM-exception||llvm-${INGOT_LLVM_MAJOR}-dev|https://github.com/llvm/llvm-project"
  "isl|MIT|isl|libisl-dev|https://libisl.sourceforge.io"
  "GMP|LGPL-3.0-or-later OR GPL-2.0-or-later|gmp|libgmp-dev|https://gmplib.org"
  "Jansson|MIT|jansson|libjansson-dev|https://github.com/akheron/jansson"
  "zlib|Zlib|zlib|zlib1g-dev|https://zlib.net"
  "Zstandard|BSD-3-Clause OR GPL-2.0-only|libzstd|libzstd-dev|https://github.com/facebook/zstd"
  "libstdc++|GPL-3.0-or-later WITH GCC-exception-3.1||libstdc++-12-dev|https://gcc.gnu.org")

find_program(INGOT_PKG_CONFIG NAMES pkg-config pkgconf)
mark_as_advanced(INGOT_PKG_CONFIG)

# Sets `result` to the version of a library that pkg-config knows by `module`.
function(ingot_version_of result module)
  set(version "")
  if(module AND INGOT_PKG_CONFIG)
    execute_process(COMMAND ${INGOT_PKG_CONFIG} --modversion ${module}
      OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Appends a package to `ingot_packages`, with the identity SPDXRef-<name>.
function(ingot_add_package name version licence from)
  string(MAKE_C_IDENTIFIER "${name}" identity)
  string(REPLACE "_" "-" identity "${identity}")
  set(versioned "")
  if(version)
    set(versioned "\n      \"versionInfo\": \"${version}\",")
  endif()
  set(ingot_packages "${ingot_packages},
    {
      \"SPDXID\": \"SPDXRef-${identity}\",
      \"name\": \"${name}\",${versioned}
      \"downloadLocation\": \"${from}\",
      \"filesAnalyzed\": false,
      \"licenseConcluded\": \"${licence}\",
      \"licenseDeclared\": \"${licence}\",
      \"copyrightText\": \"NOASSERTION\"
    }" PARENT_SCOPE)
  set(ingot_identity "SPDXRef-${identity}" PARENT_SCOPE)
endfunction()

set(ingot_packages "")
set(ingot_relations "")
set(ingot_link DYNAMIC_LINK)
if(INGOT_STATIC_LLVM)
  set(ingot_link STATIC_LINK)
endif()
ingot_add_package(Ingot "${PROJECT_VERSION}" Apache-2.0 NOASSERTION)
foreach(row ${INGOT_LIBRARIES})
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 name)
  list(GET row 1 licence)
  list(GET row 2 module)
  list(GET row 3 debian)
  list(GET row 4 from)
  ingot_version_of(version "${module}")
  if(name STREQUAL "LLVM")
    set(version "${INGOT_LLVM_VERSION}")
  endif()
  ingot_add_package("${name}" "${version}" "${licence}" "${from}")
  string(APPEND ingot_relations ",
    {
      \"spdxElementId\": \"SPDXRef-Ingot\",
      \"relationshipType\": \"${ingot_link}\",
      \"relatedSpdxElement\": \"${ingot_identity}\"
    }")
  set(text "/usr/share/doc/${debian}/copyright")
  if(INGOT_STATIC_LLVM AND EXISTS "${text}")
    install(FILES "${text}" DESTINATION ${INGOT_DOC_DIR}/licences RENAME ${name}.txt)
  elseif(INGOT_STATIC_LLVM)
    message(WARNING "packages of this build lack the licence of ${name}: there is no ${text}")
  endif()
endforeach()

string(TIMESTAMP created UTC)
string(REGEX REPLACE "^," "" ingot_packages "${ingot_packages}")
file(CONFIGURE OUTPUT ingot.spdx.json @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "ingot-@PROJECT_VERSION@",
  "documentNamespace": "https://spdx.org/spdxdocs/ingot-@PROJECT_VERSION@-@ingot_link@",
  "creationInfo": {"created": "@created@", "creators": ["Tool: CMake-@CMAKE_VERSION@"]},
  "packages": [@ingot_packages@
  ],
  "relationships": [
    {
      "spdxElementId": "SPDXRef-DOCUMENT",
      "relationshipType": "DESCRIBES",
      "relatedSpdxElement": "SPDXRef-Ingot"
    }@ingot_relations@
  ]
}
]])
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ingot.spdx.json DESTINATION ${INGOT_DOC_DIR})
