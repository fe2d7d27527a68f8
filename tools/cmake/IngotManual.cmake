# Writes the manual pages and the completion of shells, below the folder OUTPUT as they lie in
# share:
#
#   cmake -DINGOT=build/ingot -DCOMMANDS=tools/ingot/commands.def -DOUTPUT=manual
#         -P IngotManual.cmake

# Writes what `ingot doc` prints for the options that follow to the file `name`.
function(ingot_write_doc name)
  execute_process(COMMAND ${INGOT} doc ${ARGN}
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${OUTPUT}/${name}" "${text}")
endfunction()

file(REMOVE_RECURSE "${OUTPUT}")
ingot_write_doc(man/man1/ingot.1 --man)
file(STRINGS "${COMMANDS}" rows REGEX "^COMMAND")
foreach(row ${rows})
  string(REGEX REPLACE "^COMMAND\\(([a-z]+).*" "\\1" name "${row}")
  ingot_write_doc(man/man1/ingot-${name}.1 --man ${name})
endforeach()
ingot_write_doc(bash-completion/completions/ingot --completion bash)
ingot_write_doc(zsh/site-functions/_ingot --completion zsh)
ingot_write_doc(fish/vendor_completions.d/ingot.fish --completion fish)
