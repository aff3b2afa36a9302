#include <tuner/core/kernel/program_text.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {

std::string without_definitions(std::string text, const std::vector<MacroSpec>& macros) {
  const std::vector<std::string> names = names_of(macros);
  return without_definitions(std::move(text), std::vector<std::string_view>(names.begin(), names.end()));
}

std::string program_text(const KernelSpec& spec, ProgramPart part) {
  const bool of_reference = part == ProgramPart::reference && spec.has_reference_sources();
  std::string text = whole_text(spec, part);
  return of_reference ? text : without_definitions(std::move(text), spec.program.macros);
}

std::string program_text(const KernelSpec& spec) { return program_text(spec, ProgramPart::kernel); }

std::string whole_text(const KernelSpec& spec, ProgramPart part) {
  const bool of_reference = part == ProgramPart::reference && spec.has_reference_sources();
  std::string text;
  std::size_t at = 0;
  int line = 1;
  for (const SourceFile& file : spec.program.sources) {
    if (file.of_reference != of_reference) continue;
    const std::size_t begin = at;
    for (; line <= file.line && at < spec.program.text.size(); ++line)
      at = std::min(spec.program.text.find('\n', at), spec.program.text.size() - 1) + 1;
    text.append(spec.program.text, begin, at - begin);
    if (!text.ends_with('\n')) text += '\n';
    text += line_directive(1, file.path) + file.text;
    if (!text.ends_with('\n')) text += '\n';
    text += line_directive(line, spec.program.file);
  }
  text.append(spec.program.text, at);
  return text;
}

bool may_occur(const KernelSpec& spec, ProgramPart part, std::string_view word) {
  if (occurs_in_code(program_text(spec, part), word)) return true;
  const bool own = part == ProgramPart::reference && spec.has_reference_sources();
  const std::shared_ptr<const Includes>& includes = own ? spec.program.reference_includes : spec.program.includes;
  if (!includes) return false;
  return includes->unknown || std::ranges::any_of(includes->files, [&](const IncludedFile& file) {
           return occurs_in_code(file.text, word);
         });
}

const std::string* unknown_headers(const KernelSpec& spec) {
  for (const auto& includes : {&spec.program.includes, &spec.program.reference_includes})
    if (*includes && (*includes)->unknown) return &*(*includes)->unknown;
  return nullptr;
}

}  // namespace tuner
