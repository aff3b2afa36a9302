#include <tuner/backend/host/compile/translation_unit.hpp>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <sstream>

#include <tuner/backend/host/compile/gpu_headers.hpp>
#include <tuner/backend/host/compile/own_text.hpp>
#include <tuner/backend/host/compile/toolkit_std.hpp>
#include <tuner/backend/program_headers.hpp>
#include <tuner/backend/request_includes.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner::host {
namespace {

bool is_of_shim(std::string_view name) {
  return std::any_of(shim_files().begin(), shim_files().end(), [&](const ShimFile& file) { return file.name == name; });
}

/// How a text includes the header \p name of ours, whatever files the author has.
std::string shim_place(const std::string& name) {
  return is_of_shim(name) ? '<' + std::string(kShim) + '/' + name + '>' : std::string();
}

AuthorFiles author_files(const CompileRequest& request, const Includes& includes) {
  return {includes, request.file_name, request.include_paths};
}

/// The headers of the C++ library that \p source and its files include. A parameter that takes the place of a `#define`
/// below them must not change them.
std::string standard_headers(const std::string& source, const Includes& includes) {
  std::set<std::string> names;
  const auto look = [&names](const std::string& text) {
    for (const DirectiveLine& line : directives_of(code_of(text, Literals::kept))) {
      const std::string_view rest = line.rest();
      const std::size_t end = rest.find('>');
      if (line.name() != "include" || !rest.starts_with('<') || end == std::string_view::npos) continue;
      const std::string_view name = rest.substr(1, end - 1);
      if (name.find_first_of("./") == std::string_view::npos) names.emplace(name);
    }
  };
  look(source);
  for (const IncludedFile& file : includes.files) look(file.text);
  std::string text;
  for (const std::string& name : names) text += "#if __has_include(<" + name + ">)\n#include <" + name + ">\n#endif\n";
  return text;
}

std::string unit_of(const CompileRequest& request, const Includes& includes, const std::string& source) {
  // All text of ours comes before the kernel's text, because the author's macros may have any name.
  std::string unit = "#include \"tuner_host.h\"\n#include \"tuner_host_entry.h\"\n";
  for (const std::string& folder : toolkit_std_folders(request, includes))
    unit += "#define __tuner_toolkit_std // " + folder + '\n';  // a part of the object's key
  const AuthorFiles files = author_files(request, includes);
  const auto is_somewhere = [&](std::string_view part) {
    return request.source.find(part) != std::string::npos ||
           std::ranges::any_of(includes.files,
                               [&](const IncludedFile& file) { return file.text.find(part) != std::string::npos; });
  };
  const bool has_cub = is_somewhere("cub/");  // it brings the first two
  for (const std::string header :
       {"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h", "cooperative_groups.h"})
    if (!files.has(header) && (is_somewhere(header) || (has_cub && header.starts_with("cuda_"))))
      unit += "#include " + shim_place(header) + '\n';
  const bool has_own_limits = is_somewhere("struct numeric_limits") || is_somewhere("class numeric_limits") ||
                              is_somewhere("struct std::numeric_limits") || is_somewhere("class std::numeric_limits");
  const bool has_small_floats = is_somewhere("cuda_fp16.h") || is_somewhere("cuda_bf16.h");
  if (has_small_floats && is_somewhere("numeric_limits") && !has_own_limits && !files.has("cuda_fp16.h"))
    unit += "#include " + shim_place("tuner_host_limits.h") + '\n';
  if (is_somewhere("__v")) unit += "#include " + shim_place("tuner_host_simd.h") + '\n';  // it takes long to compile
  if (is_somewhere("std")) unit += "#include " + shim_place("tuner_host_std.h") + '\n';
  if (!request.macros.empty()) unit += standard_headers(request.source, includes);
  for (const auto* defines : {&request.defines, &request.macros}) {
    for (const std::string& define : *defines) {
      const std::size_t equals = define.find('=');
      unit += "#define " + define.substr(0, equals) + ' ' +
              (equals == std::string::npos ? std::string("1") : define.substr(equals + 1)) + '\n';
    }
  }
  unit += "#include " + shim_place("assert.h") + '\n';  // again, because NDEBUG may be one of the macros
  unit += line_directive(1, request.file_name.empty() ? "kernel" : request.file_name);
  unit += own_text(files.with_toolkit_headers(source, request.file_name, shim_place), shared_macros(source, includes));
  unit += '\n';
  for (std::size_t i = 0; i < request.expressions.size(); ++i) {
    const std::string& expression = request.expressions[i];
    if (expression.starts_with('&')) {
      unit += line_directive(1, "variable " + expression.substr(1));
      unit += "TUNER_HOST_VARIABLE(" + std::to_string(i) + ", " + in_global_namespace(expression.substr(1)) + ")\n";
      continue;
    }
    unit += line_directive(1, "instantiation of " + expression);
    unit += "TUNER_HOST_ENTRY(" + std::to_string(i) + ", " + in_global_namespace(expression) + ")\n";
  }
  return unit;
}

/// The author's headers that have a place relative to the kernel file. \p texts: own_texts().
std::vector<IncludedFile> own_headers(const CompileRequest& request, const Includes& includes,
                                      const std::vector<IncludedFile>& texts) {
  const std::filesystem::path parent = std::filesystem::path(request.file_name).parent_path().lexically_normal();
  const std::filesystem::path folder = parent.empty() ? std::filesystem::path(".") : parent;
  std::vector<IncludedFile> headers;
  const AuthorFiles files = author_files(request, includes);
  const SharedMacros macros = shared_macros(request.source, includes);
  bool changed = !request.carried.empty();  // this host does not have these files
  for (std::size_t i = 0; i < includes.files.size(); ++i) {
    const IncludedFile& file = includes.files[i];
    const std::filesystem::path path = std::filesystem::path(file.path).lexically_normal();
    if (path.is_absolute() != folder.is_absolute()) continue;
    const std::filesystem::path name = path.lexically_relative(folder);
    constexpr std::ptrdiff_t most_folders_up = 8;
    if (name.empty() || std::ranges::count(name, "..") > most_folders_up) continue;
    const std::vector<std::string> names = files.names_of(file.path);
    const auto of_shim = std::ranges::find_if(names, is_of_shim);
    if (of_shim != names.end() && is_of_toolkit(file.text)) {  // a copy: ours takes its place
      changed = true;
      headers.push_back({name.string(), "#include " + shim_place(*of_shim) + '\n'});
      continue;
    }
    std::string text = own_text(files.with_toolkit_headers(texts[i + 1].text, file.path, shim_place), macros);
    changed = changed || of_shim != names.end() || text != file.text;
    headers.push_back({name.string(), line_directive(1, file.path) + std::move(text)});
  }
  if (!changed) headers.clear();
  return headers;
}

std::vector<std::string> program_headers(const CompileRequest& request, const Includes& includes) {
  std::vector<std::string> names = program_headers_in(request.source);
  for (const IncludedFile& file : includes.files)
    for (std::string& name : program_headers_in(file.text)) names.push_back(std::move(name));
  return names;
}

/// \p message is about a macro of a parameter, and its place is our definition of the macro. Returns it with the place
/// in the kernel that uses the macro, which is in \p log before the next error.
std::string where_it_is_used(const std::string& message, const std::string& log) {
  constexpr std::string_view note = "note: in expansion of macro ";
  const std::size_t begin = log.find(message), error = message.find("error:");
  if (begin == std::string::npos || error == std::string::npos) return message;
  const std::size_t at = log.find(note, begin);
  if (at == std::string::npos || at > log.find("error:", begin + message.size())) return message;
  const std::size_t line = log.rfind('\n', at) + 1, name = at + note.size();  // npos + 1: the first
  return log.substr(line, at - line) + message.substr(error) +
         " (a parameter is a macro there: " + log.substr(name, log.find('\n', name) - name) + ')';
}

/// The linker's first complaint in \p log; empty if there is none.
std::string missing_function(const std::string& log) {
  const std::size_t at = log.find("undefined reference to ");
  if (at == std::string::npos) return {};
  return log.substr(at, log.find('\n', at) - at) + ": its definition is in another file, which a 'source' line can add";
}

/// The compiler's first error, without the lines before it ("In file included from", "In instantiation of"). If a file
/// is missing, that is the cause of the other errors.
std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (misses_a_file(line)) return line + std::string(kNameItsFolder);
    if (first.empty() && line.find("error:") != std::string::npos) first = line;
  }
  return first.empty() ? first_line(log) : first;
}

constexpr std::string_view kNamesOfWmma[] = {"wmma",        "fragment",         "matrix_a",          "matrix_b",
                                             "accumulator", "load_matrix_sync", "store_matrix_sync", "mma_sync"};

/// Whether the code of \p request, or of a file that it includes, has one of \p words.
bool has_any(const CompileRequest& request, std::initializer_list<const char*> words) {
  const auto is_in = [&](const std::string& text) {
    return std::ranges::any_of(words, [&](const char* word) { return occurs_in_code(text, word); });
  };
  if (is_in(request.source)) return true;
  const Includes includes = includes_of(request);
  return std::ranges::any_of(includes.files, [&](const IncludedFile& file) { return is_in(file.text); });
}

bool is_about_tensor_cores(const CompileRequest& request, const std::string& message) {
  return has_any(request, {"wmma"}) && std::ranges::any_of(kNamesOfWmma, [&](std::string_view name) {
           return message.find(name) != std::string::npos;
         });
}

/// A compiler reports a missing '}' after the end of the kernel's text, in a part of ours.
bool leaves_a_brace_open(const std::string& source) {
  const std::string code = code_of(source);
  return std::ranges::count(code, '{') > std::ranges::count(code, '}');
}

}  // namespace

std::string symbol(std::size_t function) { return "__tuner_entry_" + std::to_string(function); }

std::vector<IncludedFile> own_texts(const CompileRequest& request, const Includes& includes) {
  const std::vector<std::string_view> macros = macro_names(request);
  std::vector<IncludedFile> texts{{request.file_name.empty() ? "kernel" : request.file_name, request.source}};
  for (const IncludedFile& file : includes.files) texts.push_back({file.path, without_definitions(file.text, macros)});
  return texts;
}

ProgramText program_of(const CompileRequest& request, const Includes& includes,
                       const std::vector<IncludedFile>& texts) {
  return {unit_of(request, includes, texts.front().text), own_headers(request, includes, texts),
          program_headers(request, includes), toolkit_std_folders(request, includes)};
}

std::vector<RefusedCode> refused_code(const std::string& log) {
  std::vector<RefusedCode> all;
  std::vector<CodePlace> instantiated;  // g++ names these before the error, clang++ after it
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find(": ");  // FILE:LINE:COLUMN: …
    const std::size_t column = at == npos ? npos : line.rfind(':', at - 1);
    const std::size_t number = column == npos || column == 0 ? npos : line.rfind(':', column - 1);
    if (number == npos) continue;
    const std::string_view whole = line;
    const auto line_number = number_of<int>(whole.substr(number + 1, column - number - 1));
    const auto column_number = number_of<int>(whole.substr(column + 1, at - column - 1));
    if (!line_number || !column_number) continue;
    CodePlace place{line.substr(0, number), *line_number, *column_number};
    const std::string_view rest = trimmed(whole.substr(at + 2));
    if (rest.starts_with("required from") || rest.starts_with("recursively required")) {
      instantiated.push_back(std::move(place));
    } else if (rest.starts_with("error:") || rest.starts_with("fatal error:")) {
      all.push_back({std::move(place), std::exchange(instantiated, {})});
    } else if ((rest.starts_with("note: in instantiation of") || rest.starts_with("note: in expansion of macro") ||
                rest.starts_with("note: expanded from macro")) &&
               !all.empty()) {
      all.back().instantiated_at.push_back(std::move(place));
    } else if (rest.starts_with("warning:")) {
      instantiated.clear();
    }
  }
  return all;
}

std::string failure_message(const CompileRequest& request, const std::string& log, const std::string& unit) {
  std::string message = first_error(log);
  if (const std::string missing = missing_function(log); !missing.empty()) message = request.file_name + ": " + missing;
  const bool is_after_the_text = message.starts_with("tuner_host_entry.h:") || message.starts_with("instantiation of ");
  if (is_after_the_text && leaves_a_brace_open(request.source))
    message = request.file_name + ": a '{' is not closed before the end of the text";
  const std::string file = '/' + message.substr(0, message.find(':'));
  if (file.ends_with('/' + unit)) message = where_it_is_used(message, log);
  if (is_about_tensor_cores(request, message)) return message + ": " + kTensorCores;
  return with_gpu_only_cause(request, includes_of(request), std::move(message));
}

}  // namespace tuner::host
