#include <tuner/backend/host/translation_unit.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tuner::host {
namespace {

std::string in_string_quotes(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c != '\n') result += c;
  }
  return result + '"';
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

/// Past `word` when it stands at \p at, else npos.
std::size_t skip_word(std::string_view text, std::size_t at, std::string_view word) {
  if (text.substr(at, word.size()) != word) return std::string_view::npos;
  if (at + word.size() < text.size() && is_word(text[at + word.size()])) return std::string_view::npos;
  return at + word.size();
}

/// Past `(…)` when one stands at \p at, else \p at.
std::size_t skip_parentheses(std::string_view text, std::size_t at) {
  at = skip_blanks(text, at);
  if (at >= text.size() || text[at] != '(') return at;
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return at;
}

struct Declaration {
  std::size_t end = 0;  // past the semicolon
  std::string text;
};

/// The declaration `extern __shared__ [alignment] T name[];` that starts at \p begin; an empty text when there is none.
Declaration dynamic_array(std::string_view source, std::size_t begin) {
  constexpr std::size_t npos = std::string_view::npos;
  std::size_t at = skip_word(source, begin, "extern");
  if (at == npos) return {};
  at = skip_word(source, skip_blanks(source, at), "__shared__");
  if (at == npos) return {};
  for (const std::string_view word : {"__align__", "alignas", "__attribute__"}) {
    const std::size_t after = skip_word(source, skip_blanks(source, at), word);
    if (after != npos) at = skip_parentheses(source, after);
  }
  const std::size_t end = source.find(';', at);
  if (end == npos) return {};
  std::string_view declarator = source.substr(at, end - at);
  const std::size_t bracket = declarator.rfind('[');
  if (bracket == npos) return {};
  const std::size_t inside = skip_blanks(declarator, bracket + 1);
  if (inside >= declarator.size() || declarator[inside] != ']') return {};
  std::size_t name_end = bracket;
  while (name_end > 0 && std::isspace(static_cast<unsigned char>(declarator[name_end - 1])) != 0) --name_end;
  std::size_t name_begin = name_end;
  while (name_begin > 0 && is_word(declarator[name_begin - 1])) --name_begin;
  const std::string name(declarator.substr(name_begin, name_end - name_begin));
  std::string type(declarator.substr(0, name_begin));
  if (name.empty() || type.find_first_not_of(" \t\n") == std::string::npos) return {};
  std::replace(type.begin(), type.end(), '\n', ' ');  // the caller keeps the lines
  const std::size_t after_alignment = type.find("__align__");
  if (after_alignment != std::string::npos)
    type.erase(after_alignment, skip_parentheses(type, after_alignment + 9) - after_alignment);
  // thread_local: initialised on each worker thread, whose dynamic shared memory never moves.
  return {end + 1, "static thread_local " + type + "* const " + name + " = ::__tuner_dynamic_shared<" + type + ">();"};
}

}  // namespace

std::string symbol(std::size_t function) { return "__tuner_entry_" + std::to_string(function); }

std::string with_dynamic_shared(const std::string& source) {
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = source.find("extern"); at != std::string::npos; at = source.find("extern", at)) {
    const bool starts_word = at == 0 || !is_word(source[at - 1]);
    const Declaration declaration = starts_word ? dynamic_array(source, at) : Declaration{};
    if (declaration.text.empty()) {
      at += 6;
      continue;
    }
    result.append(source, copied, at - copied);
    result += declaration.text;
    for (std::size_t i = at; i < declaration.end; ++i) {
      if (source[i] == '\n') result += '\n';  // keeps the numbers of the lines below
    }
    copied = at = declaration.end;
  }
  return result.append(source, copied);
}

std::string translation_unit(const CompileRequest& request, const Includes& includes) {
  // Everything of ours comes before the first word of the kernel's author, whose macros may have any name.
  std::string unit = "#include \"tuner_host.h\"\n#include \"tuner_host_entry.h\"\n";
  for (const std::string header : {"cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h"}) {
    const auto names_it = [&header](const std::string& text) { return text.find(header) != std::string::npos; };
    if (names_it(request.source) || std::any_of(includes.files.begin(), includes.files.end(),
                                                [&](const IncludedFile& file) { return names_it(file.text); })) {
      unit += "#include \"" + header + "\"\n";
    }
  }
  for (const auto* defines : {&request.defines, &request.macros}) {
    for (const std::string& define : *defines) {
      const std::size_t equals = define.find('=');
      unit += "#define " + define.substr(0, equals) + ' ' +
              (equals == std::string::npos ? std::string("1") : define.substr(equals + 1)) + '\n';
    }
  }
  unit += "#include \"assert.h\"\n";  // again, because NDEBUG may be one of the macros
  unit += "#line 1 " + in_string_quotes(request.file_name.empty() ? "kernel" : request.file_name) + '\n';
  unit += with_dynamic_shared(request.source);
  unit += '\n';
  for (std::size_t i = 0; i < request.expressions.size(); ++i) {
    unit += "#line 1 " + in_string_quotes("instantiation of " + request.expressions[i]) + '\n';
    unit += "TUNER_HOST_ENTRY(" + std::to_string(i) + ", " + request.expressions[i] + ")\n";
  }
  return unit;
}

}  // namespace tuner::host
