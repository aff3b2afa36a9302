#include <tuner/backend/host/translation_unit.hpp>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <sstream>

#include <tuner/backend/program_headers.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/characters.hpp>
#include <tuner/core/definitions.hpp>
#include <tuner/core/host_functions.hpp>
#include <tuner/core/message_text.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner::host {
namespace {

/// The place after `(…)` if that begins at \p at, else \p at.
std::size_t skip_parentheses(std::string_view text, std::size_t at) {
  at = skip_space(text, at);
  return text.substr(at, 1) == "(" ? std::min(after_brackets(text, at), text.size()) : at;
}

/// A part of a text, and what takes its place.
struct Replaced {
  std::size_t end = 0;  ///< after its `;` or `)`
  std::string text;     ///< empty: it stays
};

/// The declaration `extern __shared__ [alignment] T name[];` that begins at \p begin. Its words may have any order that
/// C++ allows.
Replaced dynamic_array(std::string_view source, std::size_t begin) {
  const std::size_t end = source.find_first_of(";{=", begin);
  if (end == npos || source[end] != ';') return {};
  bool is_extern = false, is_shared = false;
  std::string rest;  // without these words and without the alignment
  for (std::size_t at = begin; at < end;) {
    const std::string_view word = word_at(source, at);
    std::size_t next = at + std::max<std::size_t>(word.size(), 1);
    if (word == "extern" || word == "__shared__") {
      (word == "extern" ? is_extern : is_shared) = true;
    } else if (word == "__align__" || word == "alignas" || word == "__attribute__") {
      next = skip_parentheses(source, next);
    } else {
      rest += source[at] == '\n' ? " " : source.substr(at, next - at);  // the caller keeps the lines
    }
    at = next;
  }
  const std::size_t bracket = rest.rfind('[');
  if (!is_extern || !is_shared || bracket == npos || rest.substr(skip_space(rest, bracket + 1), 1) != "]") return {};
  const std::string_view declarator = before_space(rest, bracket);
  const std::string name(word_before(declarator, declarator.size()));
  const std::string type(trimmed(declarator.substr(0, declarator.size() - name.size())));
  if (name.empty() || type.empty()) return {};
  // thread_local, because each worker thread initialises it with its own dynamic shared memory, which never moves.
  return {end + 1, "static thread_local " + type + " * const " + name + " = ::__tuner_dynamic_shared<" + type + ">();"};
}

/// The beginning of the body of the kernel whose `__launch_bounds__` begins at \p at and has its bracket at \p open.
/// Npos for a prototype, and where a directive may decide whether the bounds hold.
std::size_t body_after_bounds(std::string_view code, std::size_t at, std::size_t open) {
  const std::size_t arguments = code.find('(', after_brackets(code, open));
  if (arguments == npos) return npos;
  const std::size_t end = code.find_first_of(";{", after_brackets(code, arguments));
  if (end == npos || code[end] == ';') return npos;
  const std::size_t global = code.rfind("__global__", at);
  const bool is_in_head = global != npos && code.substr(global, at - global).find_first_of(";{}") == npos;
  const std::size_t head = is_in_head ? global : at;
  return code.substr(head, end - head).find('#') == npos ? end + 1 : npos;
}

/// The register NAME of `"mov.u32 %0, %%NAME;"`, if \p literal is nothing else; else empty.
std::string register_of(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != '"' || literal.find('"', 1) != literal.size() - 1) return {};
  std::string kept(literal.substr(1, literal.size() - 2));
  for (const std::string_view blank : {"\\n", "\\t"})
    for (std::size_t at = kept.find(blank); at != npos; at = kept.find(blank)) kept.replace(at, blank.size(), "  ");
  std::string_view ptx = kept;
  for (const std::string_view word : {"mov.u32 ", "%0", ",", "%%"}) {
    ptx = ptx.substr(skip_space(ptx, 0));
    if (!ptx.starts_with(word)) return {};
    ptx.remove_prefix(word.size());
  }
  const std::string_view name = word_at(ptx, 0);
  return trimmed(ptx.substr(name.size())) == ";" ? std::string(name) : std::string();
}

/// `asm volatile("…" : … )`, whose word `asm` ends at \p at. A lane's number and masks are computed. Other PTX ends the
/// run, because a kernel may have it in branches that it does not take.
Replaced inline_ptx(std::string_view source, std::string_view code, std::size_t at) {
  struct Register {
    std::string_view name, value;
  };
  constexpr Register registers[] = {{"laneid", "::tuner_host::lane()"},
                                    {"lanemask_lt", "(1u << ::tuner_host::lane()) - 1u"},
                                    {"lanemask_le", "(2u << ::tuner_host::lane()) - 1u"},
                                    {"lanemask_eq", "1u << ::tuner_host::lane()"},
                                    {"lanemask_ge", "~((1u << ::tuner_host::lane()) - 1u)"},
                                    {"lanemask_gt", "~((2u << ::tuner_host::lane()) - 1u)"}};
  for (std::string_view word = "volatile"; word == "volatile" || word == "__volatile__";) {
    at = skip_space(code, at);
    word = word_at(code, at);
    at += word.size();
  }
  if (code.substr(at, 1) != "(") return {};
  const std::size_t end = after_brackets(code, at);
  if (end == npos) return {};
  const Replaced other{end, "::__tuner_inline_ptx()"};
  const std::size_t colon = skip_space(code, at + 1);  // literals are blanks there
  const std::size_t open = code.find('(', at + 1);
  if (code.substr(colon, 1) != ":" || open == npos || open >= end) return other;
  const std::size_t close = after_brackets(code, open);
  const std::string_view constraint = trimmed(source.substr(colon + 1, open - colon - 1));
  if (constraint != "\"=r\"" || code.substr(skip_space(code, close), 1) == ",") return other;
  const std::string name = register_of(trimmed(source.substr(at + 1, colon - at - 1)));
  for (const Register& one : registers)
    if (name == one.name) return {end, std::string(source.substr(open, close - open)) + " = " + std::string(one.value)};
  return other;
}

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
  const AuthorFiles files = author_files(request, includes);
  const auto is_somewhere = [&](std::string_view part) {
    return request.source.find(part) != std::string::npos ||
           std::ranges::any_of(includes.files,
                               [&](const IncludedFile& file) { return file.text.find(part) != std::string::npos; });
  };
  const bool has_cub = is_somewhere("cub/");  // it brings the first two
  for (const std::string header : {"cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h"})
    if (!files.has(header) && (is_somewhere(header) || (has_cub && header.starts_with("cuda_"))))
      unit += "#include " + shim_place(header) + '\n';
  if (is_somewhere("__v")) unit += "#include " + shim_place("tuner_host_simd.h") + '\n';  // it takes long to compile
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
  unit += own_text(files.with_toolkit_headers(source, request.file_name, shim_place));
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

/// The author's headers that have a place relative to the kernel file, with \p texts in place of those of \p includes.
std::vector<IncludedFile> own_headers(const CompileRequest& request, const Includes& includes,
                                      const std::vector<std::string>& texts) {
  const std::filesystem::path parent = std::filesystem::path(request.file_name).parent_path().lexically_normal();
  const std::filesystem::path folder = parent.empty() ? std::filesystem::path(".") : parent;
  std::vector<IncludedFile> headers;
  const AuthorFiles files = author_files(request, includes);
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
    std::string text = own_text(files.with_toolkit_headers(texts[i], file.path, shim_place));
    changed = changed || of_shim != names.end() || text != file.text;
    headers.push_back({name.string(), line_directive(1, file.path) + std::move(text)});
  }
  if (!changed) headers.clear();
  return headers;
}

/// The texts of \p includes without the definitions of macros that \p request makes.
std::vector<std::string> without_macros(const CompileRequest& request, const Includes& includes) {
  const std::vector<std::string_view> macros = macro_names(request);
  std::vector<std::string> texts;
  for (const IncludedFile& file : includes.files) texts.push_back(without_definitions(file.text, macros));
  return texts;
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

std::string own_text(const std::string& source) {
  const std::string code = code_of(source);  // words in comments and literals are not the kernel's
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
  std::size_t directive = 0;             // the end of the current one
  std::size_t body = std::string::npos;  // of a kernel with bounds
  std::string bounds;
  for (std::size_t at = 0; at < code.size();) {
    if (at == body) replace(at, at, " ::__tuner_require_bounds" + bounds + ';');
    if (const auto line = directive_at(code, at)) directive = line->end;
    const std::string_view word = word_at(code, at);
    std::size_t end = at + std::max<std::size_t>(word.size(), 1);
    if (word == "extern" || word == "__shared__" || word == "volatile") {
      if (const Replaced array = dynamic_array(code, at); !array.text.empty()) replace(at, end = array.end, array.text);
    } else if (word == "static" && word_at(code, skip_space(code, end)) == "__shared__") {
      replace(at, end, "");
    } else if (word == "__launch_bounds__" && at >= directive) {
      if (const std::size_t open = skip_space(code, end); code.substr(open, 1) == "(") {
        bounds = code.substr(open, after_brackets(code, open) - open);
        body = body_after_bounds(code, at, open);
      }
    } else if (word == "asm" || word == "__asm__" || word == "__asm") {
      if (const Replaced ptx = inline_ptx(source, code, end); !ptx.text.empty()) replace(at, end = ptx.end, ptx.text);
    } else if (word == "__noinline__") {
      replace(at, end, "__tuner_noinline__");
    }
    at = end;
  }
  return result.append(source, copied);
}

ProgramText whole_program(const CompileRequest& request, const Includes& includes) {
  return {unit_of(request, includes, request.source),
          own_headers(request, includes, without_macros(request, includes)), program_headers(request, includes)};
}

ProgramText program_without_host_functions(const CompileRequest& request, const Includes& includes) {
  const std::vector<std::string> headers = without_macros(request, includes);
  std::vector<std::string_view> all(headers.begin(), headers.end());
  all.push_back(request.source);
  std::vector<std::string> texts = without_host_functions(all, request.expressions, true);
  const std::string source = std::move(texts.back());
  return {unit_of(request, includes, source), own_headers(request, includes, texts), program_headers(request, includes)};
}

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
