# Installs the manual pages and the completion of shells, which `ingot doc` prints. A part of the
# installation, which tells it
#
#   ingot            the command, behind what runs it where it is for another machine
#   ingot_commands   the table of its commands, commands.def
#   ingot_data       the folder that becomes share, below the prefix
#   ingot_scratch    a folder to write them in; installations at the same time each have a part
#                    of their own there

# Writes what `ingot doc` prints for the options that follow to the file `name`.
function(ingot_write_doc name)
  execute_process(COMMAND ${ingot} doc ${ARGN}
    OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE "${ingot_scratch}/${name}" "${text}")
endfunction()

string(RANDOM LENGTH 16 part)
set(ingot_scratch "${ingot_scratch}/manual-${part}")
ingot_write_doc(man/man1/ingot.1 --man)
file(STRINGS "${ingot_commands}" rows REGEX "^COMMAND")
foreach(row ${rows})
  string(REGEX REPLACE "^COMMAND\\(([a-z]+).*" "\\1" name "${row}")
  ingot_write_doc(man/man1/ingot-${name}.1 --man ${name})
endforeach()
ingot_write_doc(bash-completion/completions/ingot --completion bash)
ingot_write_doc(zsh/site-functions/_ingot --completion zsh)
ingot_write_doc(fish/vendor_completions.d/ingot.fish --completion fish)
file(INSTALL "${ingot_scratch}/" DESTINATION "${CMAKE_INSTALL_PREFIX}/${ingot_data}")
file(REMOVE_RECURSE "${ingot_scratch}")
