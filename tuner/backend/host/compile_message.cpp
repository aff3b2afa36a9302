#include <tuner/backend/host/compile_message.hpp>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string_view>

#include <tuner/backend/traits.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner::host {
namespace {

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

std::string failure_message(const CompileRequest& request, const std::string& log, const std::string& unit) {
  std::string message = first_error(log);
  if (const std::string missing = missing_function(log); !missing.empty()) message = request.file_name + ": " + missing;
  const bool is_after_the_text = message.starts_with("tuner_host_entry.h:") || message.starts_with("instantiation of ");
  if (is_after_the_text && leaves_a_brace_open(request.source))
    message = request.file_name + ": a '{' is not closed before the end of the text";
  const std::string file = '/' + message.substr(0, message.find(':'));
  if (file.ends_with('/' + unit)) message = where_it_is_used(message, log);
  if (is_about_tensor_cores(request, message)) message += std::string(": ") + kTensorCores;
  return message;
}

}  // namespace tuner::host
