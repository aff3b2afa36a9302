# cmake -DOUTPUT=embedded.cpp -DFILES=a.cu;b.cu -P embed.cmake: kernel files as string literals, in pieces that every
# compiler takes (MSVC and -Wpedantic stop at 65536 characters).
set(delimiter "tuner_template")
set(piece 8192)
set(arrays "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(FIND "${text}" ")${delimiter}\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} contains )${delimiter}\", which ends the literal that it is embedded in")
  endif()
  string(LENGTH "${text}" length)
  set(literal "")
  set(begin 0)
  while(begin LESS length)
    string(SUBSTRING "${text}" ${begin} ${piece} part)
    string(APPEND literal "    R\"${delimiter}(${part})${delimiter}\"\n")
    math(EXPR begin "${begin} + ${piece}")
  endwhile()
  string(APPEND arrays "    {\"${name}\",\n${literal}    },\n")
endforeach()
file(WRITE ${OUTPUT}
"// Generated from templates/*.cu by templates/embed.cmake.
#include <templates/embedded.hpp>

namespace tuner {
namespace {

constexpr EmbeddedTemplate kTemplates[] = {
${arrays}};

}  // namespace

std::span<const EmbeddedTemplate> embedded_templates() { return kTemplates; }

}  // namespace tuner
")
