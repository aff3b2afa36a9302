#include <tuner/backend/cuda/compile/source_text.hpp>

#include <algorithm>
#include <array>

#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/scoped_code.hpp>

namespace tuner::cuda {
namespace {

/// \p macros, each `NAME=VALUE`, as lines.
std::string definitions(const std::vector<std::string>& macros) {
  std::string lines;
  for (std::string macro : macros) {
    std::replace(macro.begin(), macro.begin() + static_cast<std::ptrdiff_t>(macro.find('=') + 1), '=', ' ');
    lines += "#define " + macro + '\n';
  }
  return lines;
}

/// Whether \p macro is a word of \p text.
auto is_word_of(std::string_view text) {
  return [text](std::string_view macro) { return has_word(text, macro); };
}

/// Whether the toolkit's headers may read \p macro, which the author sets for them.
bool is_for_the_toolkit(std::string_view macro) {
  constexpr std::array kPrefixes{"_", "CCCL_", "CG_", "CUB_", "CUDA_", "CUTE_", "CUTLASS_", "LIBCUDACXX_", "THRUST_"};
  return std::ranges::any_of(kPrefixes, [&](const char* prefix) { return macro.starts_with(prefix); });
}

}  // namespace

std::string with_macros(const std::string& source, const std::string& name, const std::vector<std::string>& macros,
                        std::size_t at, bool is_precompiled) {
  if (macros.empty() && (at == 0 || !is_precompiled)) return source;
  const CodePlace place = place_in(source, at, name);
  return source.substr(0, at) + (at > 0 && is_precompiled ? "#pragma nv_hdrstop\n" : "") + definitions(macros) +
         line_directive(place.line, place.file) + source.substr(at);
}

std::size_t end_of_headers(const std::string& source, const std::vector<IncludedFile>& texts,
                           const std::vector<std::string_view>& macros) {
  const std::string code = code_of(source, Literals::kept);
  std::size_t end = 0, at = 0, last = 0;  // `last`: where words of macros may be
  int depth = 0;
  bool includes = false;  // since `end`
  std::string words;
  for (const DirectiveLine& line : directives_of(code)) {
    if (skip_space(code, at) != line.begin) break;  // a declaration
    at = line.end;
    if (line.name().starts_with("if")) ++depth;
    if (line.name() == "endif") --depth;
    if (line.name() == "include") includes = true;
    if (!(line.name() == "pragma" && line.rest().starts_with("tuner"))) words += line.text + '\n';
    if (depth != 0 || !includes) continue;
    end = std::min(source.find('\n', line.end), source.size() - 1) + 1;
    last = words.size();
    includes = false;
  }
  words.resize(last);
  if (code_of(std::string_view(source).substr(end), Literals::kept) != code.substr(end)) return 0;  // in a comment
  if (std::ranges::any_of(macros, is_for_the_toolkit) || std::ranges::any_of(macros, is_word_of(words))) return 0;
  for (std::size_t i = 1; end > 0 && i < texts.size(); ++i)
    if (std::ranges::any_of(macros, is_word_of(texts[i].text))) return 0;
  return end;
}

/// Whether one of \p texts has designators. Like g++, nvcc accepts `{.x = 1}` in C++17; NVRTC does not.
bool has_designators(const std::vector<IncludedFile>& texts) {
  const auto is_in = [](const IncludedFile& one) {
    const std::string code = code_of(one.text);
    for (std::size_t dot = code.find('.'); dot != npos; dot = code.find('.', dot + 1)) {
      const std::string_view before = before_space(code, dot), name = word_at(code, dot + 1);
      const std::size_t next = skip_space(code, dot + 1 + name.size());
      if (!name.empty() && (before.ends_with('{') || before.ends_with(',')) && code.substr(next, 1) == "=") return true;
    }
    return false;
  };
  return std::ranges::any_of(texts, is_in);
}

/// Whether one of \p texts names one of the operators that CUB 3 left out.
bool names_operators_of_cub(const std::vector<IncludedFile>& texts) {
  return std::ranges::any_of(texts, [](const IncludedFile& one) {
    return std::ranges::any_of(std::array{"cub::Sum", "cub::Max", "cub::Min"},
                               [&](const char* name) { return one.text.find(name) != npos; });
  });
}

/// Whether NVRTC certainly refuses \p source as it is: it has a main(), or a function that launches kernels.
bool is_program(const std::string& source) {
  const ScopedCode code(code_of(source));
  for (std::size_t at = find_word(code.text(), "main"); at != npos; at = find_word(code.text(), "main", at + 1)) {
    const std::string_view type = before_space(code.text(), at);
    if (word_before(type, type.size()) == "int" && code.is_always_there(at) && !directive_around(code.text(), at))
      return true;
  }
  return false;
}

}  // namespace tuner::cuda
