# tuner_embed(OUTPUT HEADER … NAMESPACE … TYPE … FUNCTION … FILES … [INCLUDED …] [STEMS] [SHA256 [COUNTED]] [BELOW
# FOLDER]):
# writes a C++ file that defines the function that HEADER declares, `std::span<const TYPE> NAMESPACE::FUNCTION()`. It
# returns the name and the text of each of FILES, in this order; each text ends with 0. STEMS: names without their
# ending. SHA256: the third member of TYPE is the digest of the text. COUNTED: the fourth is that of the text without
# the directives in uncounted_directives.inc. BELOW: the name of a file in a folder called FOLDER is its path from
# there, except where it was given with `..`. INCLUDED: files beside them, whose texts replace their `#include
# "NAME"`, once in each of FILES; each comes after those that include it. The C++ file is written again when one of
# all these changes.
#
# This file is also the script that writes the C++ file. It splits string literals, because compilers limit their
# length.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(TUNER_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
  set(TUNER_UNCOUNTED ${CMAKE_CURRENT_LIST_DIR}/../tuner/session/wisdom/uncounted_directives.inc)
  function(tuner_embed output)
    cmake_parse_arguments(embed "STEMS;SHA256;COUNTED" "HEADER;NAMESPACE;TYPE;FUNCTION;BELOW" "FILES;INCLUDED" ${ARGN})
    list(TRANSFORM embed_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
    list(TRANSFORM embed_INCLUDED PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(JOIN embed_FILES "|" files)
    list(JOIN embed_INCLUDED "|" included)
    add_custom_command(OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${files}" -DHEADER=${embed_HEADER}
              -DNAMESPACE=${embed_NAMESPACE} -DTYPE=${embed_TYPE} -DFUNCTION=${embed_FUNCTION} -DSTEMS=${embed_STEMS} -DSHA256=${embed_SHA256}
              -DCOUNTED=${embed_COUNTED} -DUNCOUNTED=${TUNER_UNCOUNTED}
              -DBELOW=${embed_BELOW} "-DINCLUDED=${included}" -P ${TUNER_EMBED_SCRIPT}
      DEPENDS ${embed_FILES} ${embed_INCLUDED} ${TUNER_EMBED_SCRIPT} ${TUNER_UNCOUNTED} VERBATIM)
  endfunction()
  return()
endif()

set(delimiter "tuner_text")
string(REPLACE "|" ";" FILES "${FILES}")
string(REPLACE "|" ";" INCLUDED "${INCLUDED}")
set(entries "")
foreach(file IN LISTS FILES)
  file(READ ${file} text)
  foreach(header IN LISTS INCLUDED)
    get_filename_component(name ${header} NAME)
    file(READ ${header} inner)
    string(REPLACE "#pragma once\n" "" inner "${inner}")
    string(REPLACE "\n#include \"${name}\"\n" "\n${inner}" text "${text}")
  endforeach()
  string(FIND "${text}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} contains )${delimiter}\", which ends the literal that it is embedded in")
  endif()
  string(LENGTH "${text}" length)
  set(literal "")
  foreach(begin RANGE 0 ${length} 8000)
    string(SUBSTRING "${text}" ${begin} 8000 piece)
    string(APPEND literal "     R\"${delimiter}(${piece})${delimiter}\"\n")
  endforeach()
  if(STEMS)
    get_filename_component(name ${file} NAME_WE)
  else()
    get_filename_component(name ${file} NAME)
    if(BELOW AND NOT file MATCHES "/\\.\\./" AND file MATCHES ".*/${BELOW}/(.*)")
      set(name ${CMAKE_MATCH_1})
    endif()
  endif()
  set(digest "")
  if(SHA256)
    string(SHA256 digest "${text}")
    set(digest "     , \"${digest}\"")
  endif()
  if(COUNTED)
    set(counted "${text}")
    file(STRINGS ${UNCOUNTED} names REGEX "^\"")
    foreach(directive IN LISTS names)
      string(REGEX REPLACE "\"(.*)\"," "\\1" directive "${directive}")
      string(REGEX REPLACE "\n#pragma tuner ${directive}(\\\\\n|[^\n])*" "" counted "${counted}")
    endforeach()
    string(SHA256 counted "${counted}")
    string(APPEND digest ", \"${counted}\"")
  endif()
  string(APPEND entries "    {\"${name}\",\n${literal}${digest}\n    },\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/Embed.cmake; do not edit.
#include <${HEADER}>

namespace ${NAMESPACE} {

std::span<const ${TYPE}> ${FUNCTION}() {
  static constexpr ${TYPE} files[] = {
${entries}  };
  return files;
}

}  // namespace ${NAMESPACE}
")
