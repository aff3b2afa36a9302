#include <tuner/backend/host/translation_unit.hpp>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <tuner/core/host_functions.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner::host {
namespace {

/// The place after `(…)` if that begins at \p at, else \p at.
std::size_t skip_parentheses(std::string_view text, std::size_t at) {
  at = skip_space(text, at);
  return text.substr(at, 1) == "(" ? std::min(after_brackets(text, at), text.size()) : at;
}

struct Declaration {
  std::size_t end = 0;  // past the semicolon
  std::string text;
};

/// The declaration `extern __shared__ [alignment] T name[];` that begins at \p begin. Its words may have any order that
/// C++ allows. The text is empty when there is none.
Declaration dynamic_array(std::string_view source, std::size_t begin) {
  constexpr std::size_t npos = std::string_view::npos;
  std::size_t at = begin;
  bool is_extern = false, is_shared = false;
  std::string qualifiers;
  for (bool found = true; found;) {
    found = false;
    const auto take = [&](std::string_view word) {
      const std::size_t next = skip_space(source, at);
      if (word_at(source, next) != word) return false;
      at = next + word.size();
      return found = true;
    };
    if (take("extern")) is_extern = true;
    if (take("__shared__")) is_shared = true;
    if (take("volatile")) qualifiers = "volatile ";
    for (const std::string_view word : {"__align__", "alignas", "__attribute__"})
      if (take(word)) at = skip_parentheses(source, at);
  }
  if (!is_extern || !is_shared) return {};
  const std::size_t end = source.find(';', at);
  if (end == npos) return {};
  std::string_view declarator = source.substr(at, end - at);
  const std::size_t bracket = declarator.rfind('[');
  if (bracket == npos) return {};
  if (declarator.substr(skip_space(declarator, bracket + 1), 1) != "]") return {};
  declarator = before_space(declarator, bracket);
  const std::string name(word_before(declarator, declarator.size()));
  std::string type(declarator.substr(0, declarator.size() - name.size()));
  if (name.empty() || type.find_first_not_of(" \t\n") == std::string::npos) return {};
  std::replace(type.begin(), type.end(), '\n', ' ');  // the caller keeps the lines
  const std::size_t after_alignment = type.find("__align__");
  if (after_alignment != std::string::npos)
    type.erase(after_alignment, skip_parentheses(type, after_alignment + 9) - after_alignment);
  type = qualifiers + type;
  // thread_local, because each worker thread initialises it with its own dynamic shared memory, which never moves.
  return {end + 1, "static thread_local " + type + "* const " + name + " = ::__tuner_dynamic_shared<" + type + ">();"};
}

}  // namespace

std::string symbol(std::size_t function) { return "__tuner_entry_" + std::to_string(function); }

std::string own_text(const std::string& source) {
  std::string result;
  std::size_t copied = 0;
  const auto replace = [&](std::size_t begin, std::size_t end, std::string_view text) {
    result.append(source, copied, begin - copied);
    result += text;
    for (std::size_t i = begin; i < end; ++i) {
      if (source[i] == '\n') result += '\n';  // keeps the numbers of the lines below
    }
    copied = end;
  };
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view word = word_at(source, at);
    std::size_t end = at + std::max<std::size_t>(word.size(), 1);
    if (word == "extern" || word == "__shared__" || word == "volatile") {
      const Declaration declaration = dynamic_array(source, at);
      if (!declaration.text.empty()) replace(at, end = declaration.end, declaration.text);
    } else if (word == "static" && word_at(source, skip_space(source, end)) == "__shared__") {
      replace(at, end, "");
    } else if (word == "__noinline__") {
      replace(at, end, "__tuner_noinline__");
    }
    at = end;
  }
  return result.append(source, copied);
}

namespace {

std::string unit_of(const CompileRequest& request, const Includes& includes, const std::string& source) {
  // All text of ours comes before the kernel's text, because the author's macros may have any name.
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
  unit += line_directive(1, request.file_name.empty() ? "kernel" : request.file_name);
  unit += own_text(source);
  unit += '\n';
  for (std::size_t i = 0; i < request.expressions.size(); ++i) {
    const std::string& expression = request.expressions[i];
    if (expression.starts_with('&')) {
      unit += line_directive(1, "variable " + expression.substr(1));
      unit += "TUNER_HOST_VARIABLE(" + std::to_string(i) + ", " + expression.substr(1) + ")\n";
      continue;
    }
    unit += line_directive(1, "instantiation of " + expression);
    unit += "TUNER_HOST_ENTRY(" + std::to_string(i) + ", " + expression + ")\n";
  }
  return unit;
}

/// The author's headers that have a place relative to the kernel file, each changed by \p change.
template <typename Change>
std::vector<IncludedFile> own_headers(const CompileRequest& request, const Includes& includes, Change change) {
  const std::filesystem::path parent = std::filesystem::path(request.file_name).parent_path().lexically_normal();
  const std::filesystem::path folder = parent.empty() ? std::filesystem::path(".") : parent;
  std::vector<IncludedFile> headers;
  bool changed = !request.carried.empty();  // this host does not have these files
  for (const IncludedFile& file : includes.files) {
    const std::filesystem::path path = std::filesystem::path(file.path).lexically_normal();
    if (path.is_absolute() != folder.is_absolute()) continue;
    const std::filesystem::path name = path.lexically_relative(folder);
    constexpr std::ptrdiff_t most_folders_up = 8;
    if (name.empty() || std::count(name.begin(), name.end(), "..") > most_folders_up) continue;
    std::string text = change(file.text);
    changed = changed || text != file.text;
    headers.push_back({name.string(), line_directive(1, file.path) + std::move(text)});
  }
  if (!changed) headers.clear();
  return headers;
}

}  // namespace

ProgramText whole_program(const CompileRequest& request, const Includes& includes) {
  return {unit_of(request, includes, request.source), own_headers(request, includes, own_text)};
}

ProgramText program_without_host_functions(const CompileRequest& request, const Includes& includes) {
  std::vector<std::string_view> texts;
  for (const IncludedFile& file : includes.files) texts.push_back(file.text);
  return {unit_of(request, includes, without_host_functions(request.source, texts)),
          own_headers(request, includes, [&](const std::string& text) {
            std::vector<std::string_view> all = texts;
            all.push_back(request.source);
            return own_text(without_host_functions(text, all));
          })};
}

}  // namespace tuner::host
