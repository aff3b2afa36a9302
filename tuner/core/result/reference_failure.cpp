#include <tuner/core/result/reference_failure.hpp>

#include <algorithm>
#include <string_view>

#include <tuner/core/cpp/included_file.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

/// The line of `mine.cu:14:5: …` if \p message begins with a place in \p file; else 0.
int line_in(std::string_view message, std::string_view file) {
  if (!message.starts_with(file) || message.substr(file.size(), 1) != ":") return 0;
  const std::string_view number = word_at(message, file.size() + 1);
  return number_of<int>(number).value_or(0);
}

/// Whether \p line of \p text is in a `__global__` function \p name.
bool is_line_of(std::string_view text, int line, std::string_view name) {
  const std::string code = code_of(text);
  const auto line_of = [&](std::size_t at) {
    return 1 + std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  };
  const std::vector<Signature> heads = find_signatures(code, name);
  return std::ranges::any_of(heads, [&](const Signature& head) {
    const std::string_view body = in_braces(code, head.end);
    const std::size_t end =
        body.empty() ? code.size() : static_cast<std::size_t>(body.data() - code.data()) + body.size();
    return line_of(head.begin) <= line && line <= line_of(end);
  });
}

/// Whether \p message is about the reference alone, as far as it shows.
bool is_about_reference(const KernelSpec& spec, std::string_view message) {
  if (spec.has_reference_sources()) return true;
  if (spec.verification.default_is_reference) return false;
  const ProgramSpec& program = spec.program;
  bool has_place = false;
  for (const LaunchSpec& launch : spec.verification.reference) {
    const std::string_view whole = launch.instantiate;
    const std::vector<std::string_view> words = words_of(whole.substr(0, whole.find('<')));
    if (words.empty() || has_word(message, words.back())) return true;
    const auto is_in = [&](std::string_view file, std::string_view text) {
      const int line = line_in(message, file);
      has_place = has_place || line > 0;
      return line > 0 && is_line_of(text, line, words.back());
    };
    if (is_in(program.file, program.text)) return true;
    for (const SourceFile& file : program.sources)
      if (is_in(file.path, file.text)) return true;
    if (program.includes)
      for (const IncludedFile& file : program.includes->files)
        if (is_in(file.path, file.text)) return true;
  }
  return !has_place;
}

}  // namespace

std::string reference_failure(const KernelSpec& spec, const CompileError& error) {
  return spec.program.file +
         (is_about_reference(spec, error.message) ? ": the reference does not compile: "
                                                  : ": the kernel's source does not compile: ") +
         error.message + '\n' + error.log;
}

}  // namespace tuner
