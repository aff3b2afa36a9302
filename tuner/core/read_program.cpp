#include <tuner/core/kernel_reader.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

#include <tuner/core/characters.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/core/literals.hpp>

namespace tuner {
namespace {

/// Reads one option, up to the next blank, with expressions in braces.
CompileOptionSpec compile_option(KernelReader& kernel, TokenCursor& cursor) {
  const std::string_view text = cursor.line().text;
  const std::size_t begin = cursor.peek().begin;
  CompileOptionSpec option;
  option.location = cursor.place();
  std::string as_written;
  std::size_t at = begin;
  for (; at < text.size() && !is_blank(text[at]); ++at) {
    if (text[at] != '{') {
      as_written += text[at];
      continue;
    }
    if (!as_written.empty()) option.parts.emplace_back(std::exchange(as_written, {}));
    option.parts.emplace_back(kernel.in_braces(cursor.line(), at));
  }
  if (!as_written.empty()) option.parts.emplace_back(std::move(as_written));
  cursor.skip(at - begin);
  return option;
}

/// `-OPTION … [when CONDITION]`
void read_compile(KernelReader& kernel, TokenCursor& cursor) {
  const std::size_t first = kernel.spec.program.compile_options.size();
  while (cursor.peek().is("-")) kernel.spec.program.compile_options.push_back(compile_option(kernel, cursor));
  if (kernel.spec.program.compile_options.size() == first)
    cursor.fail("expected an option, as in --maxrregcount={registers}, not " + cursor.described());
  if (cursor.at_end()) return;
  if (!cursor.accept("when"))
    cursor.fail("expected an option or 'when', not " + cursor.described() +
                "; an option's value follows its '=', without blanks");
  const Expression when = kernel.expression(cursor);
  for (std::size_t i = first; i < kernel.spec.program.compile_options.size(); ++i)
    kernel.spec.program.compile_options[i].when = when;
}

/// `NAME NAME …` or `NAME = EXPRESSION`
void read_define(KernelReader& kernel, TokenCursor& cursor) {
  const std::size_t first = kernel.spec.program.macros.size();
  do {
    const Token token = cursor.expect_identifier("the name of a macro");
    const LogicalLine itself = LogicalLine::from(token.text, cursor.place(token));
    MacroSpec macro{std::string(token.text), {}, cursor.place(token)};
    kernel.once("define " + macro.name);
    const bool is_first = kernel.spec.program.macros.size() == first;
    TokenCursor name(itself);
    macro.value = is_first && cursor.accept("=") ? kernel.expression(cursor) : kernel.expression(name);
    kernel.spec.program.macros.push_back(std::move(macro));
  } while (cursor.at_identifier());
}

/// Reads `"PATH"`, relative to the folder of the kernel file.
std::filesystem::path read_path(const KernelReader& kernel, TokenCursor& cursor) {
  const std::string path = parse_quoted(cursor, "a path in quotes, as in \"../matmul.cu\"");
  return beside(kernel.spec, path).lexically_normal();
}

/// `"FILE"`
template <bool of_reference>
void read_source(KernelReader& kernel, TokenCursor& cursor) {
  const SourceLocation place = cursor.place();
  const std::filesystem::path path = read_path(kernel, cursor);
  kernel.once(std::string(kernel.directive.text) + ' ' + path.string());
  SourceFile file{path.string(), {}, cursor.line().place(cursor.line().text.size()).line, of_reference};
  const std::size_t position = kernel.spec.program.sources.size();
  if (position < kernel.known_sources.size()) {
    file.text = kernel.known_sources[position].text;
  } else {
    try {
      file.text = without_byte_order_mark(read_input_file(path, kMaxKernelFileBytes, "source"));
    } catch (const Error& error) {
      throw SpecError(place, error.what());
    }
  }
  if (!find_directives(file.text, file.path).empty())
    throw SpecError(place, file.path + " is a kernel file itself: it has '#pragma tuner' lines");
  kernel.spec.program.sources.push_back(std::move(file));
}

/// `"FOLDER"`
void read_include_path(KernelReader& kernel, TokenCursor& cursor) {
  const SourceLocation place = cursor.place();
  const std::filesystem::path path = read_path(kernel, cursor);
  kernel.once("include_path " + path.string());
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) throw SpecError(place, "there is no folder " + path.string());
  kernel.spec.program.include_paths.push_back(path.string());
}

}  // namespace

std::span<const Directive> program_directives() {
  static constexpr Directive directives[] = {
      {"source", read_source<false>},
      {"reference_source", read_source<true>},
      {"include_path", read_include_path},
      {"compile", read_compile},
      {"define", read_define},
  };
  return directives;
}

}  // namespace tuner
