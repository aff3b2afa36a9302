#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <tuner/core/expression/token.hpp>
#include <tuner/core/kernel_file/data_files.hpp>
#include <tuner/core/kernel_file/directive_lines.hpp>
#include <tuner/core/kernel_file/kernel_reader.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/input_file.hpp>

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

void read_instantiate(KernelReader& kernel, TokenCursor& cursor) {
  LaunchDraft& current = kernel.once_in_launch();
  if (current.role != LaunchDraft::Role::kernel)
    throw SpecError(kernel.directive_place,
                    std::string(current.role == LaunchDraft::Role::reference ? "'reference'" : "'prepare'") +
                        " names its function itself; start a launch with 'launch NAME'");
  kernel.read_name(cursor, "the kernel's C++ name, as in f<T, block>", current);
}

/// `X, Y, Z`; missing dimensions stay as they are.
void read_dimensions(KernelReader& kernel, TokenCursor& cursor, std::array<Expression, 3>& extents) {
  std::size_t dimension = 0;
  do {
    if (dimension == 3) cursor.fail(in_quotes(kernel.directive.text) + " has at most 3 dimensions");
    extents[dimension++] = kernel.expression(cursor);
  } while (cursor.accept(","));
}

template <std::array<Expression, 3> LaunchSpec::*extents>
void read_extents(KernelReader& kernel, TokenCursor& cursor) {
  read_dimensions(kernel, cursor, kernel.once_in_launch().launch.*extents);
}

void read_cluster(KernelReader& kernel, TokenCursor& cursor) {
  const Expression one = Expression::constant(1);
  read_dimensions(kernel, cursor, kernel.once_in_launch().launch.cluster.emplace(std::array{one, one, one}));
}

template <auto LaunchSpec::*value>
void read_one(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once_in_launch().launch.*value = kernel.expression(cursor);
}

/// The condition of a directive. Without one, the directive always holds.
Expression always_or(KernelReader& kernel, TokenCursor& cursor) {
  return cursor.at_end() ? Expression::constant(1) : kernel.expression(cursor);
}

void read_untimed(KernelReader& kernel, TokenCursor& cursor) {
  LaunchDraft& current = kernel.once_in_launch();
  if (current.role == LaunchDraft::Role::reference)
    throw SpecError(kernel.directive_place, "a reference is not part of any run's time");
  if (current.role == LaunchDraft::Role::prepare)
    throw SpecError(kernel.directive_place, "launches of 'prepare' are never timed: remove 'untimed'");
  current.launch.untimed = always_or(kernel, cursor);
}

template <std::optional<Expression> LaunchSpec::*condition>
void read_condition(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once_in_launch().launch.*condition = always_or(kernel, cursor);
}

/// Reads `NAME` or `EXPRESSION [: TYPE]`. Returns its name among the arguments.
std::string read_argument(KernelReader& kernel, TokenCursor& cursor, LaunchSpec& launch) {
  TokenCursor ahead = cursor;
  if (ahead.at_identifier()) {
    const Token token = ahead.take();
    if (token.text == "true" || token.text == "false") {
      const std::string name(token.text);
      if (ahead.accept(":")) kernel.type_name(ahead);
      cursor = ahead;
      if (launch.find_computed(name) == nullptr)
        launch.computed_arguments.push_back({name, Expression::constant(name == "true" ? 1 : 0), "uint8"});
      return name;
    }
    if ((ahead.at_end() || ahead.peek().is(",")) && !kernel.draft.is_computed(token.text)) {
      cursor.take();
      return std::string(token.text);
    }
  }
  if (cursor.at_end() || cursor.peek().is(",")) cursor.fail("expected an argument, not " + cursor.described());
  const std::size_t begin = cursor.peek().begin;
  ComputedArgument argument{{}, kernel.expression(cursor, ":"), "int"};
  std::size_t end = cursor.last_stop();
  const bool typed = cursor.accept(":");
  if (typed) end = cursor.peek().stop();
  argument.name = cursor.line().text.substr(begin, end - begin);
  if (typed) argument.type = kernel.type_name(cursor);
  if (launch.find_computed(argument.name) == nullptr) launch.computed_arguments.push_back(argument);
  return argument.name;
}

void read_arguments(KernelReader& kernel, TokenCursor& cursor) {
  LaunchSpec& launch = kernel.once_in_launch().launch;
  do {
    launch.argument_locations.push_back(cursor.place());
    launch.arguments.push_back(read_argument(kernel, cursor, launch));
  } while (cursor.accept(","));
}

void read_launch(KernelReader& kernel, TokenCursor& cursor) {
  const Token token = cursor.expect_identifier("the launch's name");
  const auto same = [&](const LaunchDraft& other) {
    return other.role == LaunchDraft::Role::kernel && other.launch.name == token.text;
  };
  if (std::ranges::any_of(kernel.draft.launches, same))
    throw SpecError(cursor.place(token), "a launch " + in_quotes(token.text) +
                                             " exists already; give this one another name and its kernel by "
                                             "'instantiate'");
  kernel.start_launch(std::string(token.text), LaunchDraft::Role::kernel);
}

/// Reads `default`, which cannot be the name of a function.
bool accept_default(TokenCursor& cursor) {
  TokenCursor ahead = cursor;
  if (!ahead.accept("default") || !ahead.at_end()) return false;
  cursor = ahead;
  return true;
}

/// Reads `file c = "answer.npy"`. Returns false if `file` is the name of a function.
bool read_answer_file(KernelReader& kernel, TokenCursor& cursor) {
  TokenCursor ahead = cursor;
  if (!ahead.accept("file") || !ahead.at_identifier()) return false;
  const Token buffer = ahead.take();
  if (!ahead.accept("=")) return false;
  const SourceLocation location = ahead.place();
  const std::string path = parse_quoted(ahead, "a file's name in quotes, as in \"answer.npy\"");
  const std::string name(buffer.text);
  kernel.once("reference file " + name);
  kernel.draft.answers.push_back({name, {path, location}, cursor.place(buffer)});
  cursor = ahead;
  return true;
}

void read_reference(KernelReader& kernel, TokenCursor& cursor) {
  if (read_answer_file(kernel, cursor)) return;
  if (accept_default(cursor)) {
    kernel.once("reference default");
    kernel.spec.verification.default_is_reference = true;
    return;
  }
  LaunchDraft& reference = kernel.start_launch({}, LaunchDraft::Role::reference);
  kernel.read_name(cursor, "the reference's C++ name, as in f<T>", reference);
  reference.launch.name = reference.launch.instantiate;
}

void read_prepare(KernelReader& kernel, TokenCursor& cursor) {
  LaunchDraft& prepare = kernel.start_launch({}, LaunchDraft::Role::prepare);
  kernel.read_name(cursor, "the C++ name of a kernel, as in zero<T>", prepare);
  prepare.launch.name = prepare.launch.instantiate;
  if (prepare.launch.name.ends_with(')'))
    throw SpecError(prepare.instantiate_place, "its arguments belong in a separate line: '#pragma tuner arguments'");
}

}  // namespace

std::span<const Directive> program_directives() {
  static constexpr Directive directives[] = {
      {"instantiate", read_instantiate},
      {"grid", read_extents<&LaunchSpec::grid>},
      {"block", read_extents<&LaunchSpec::block>},
      {"shared", read_one<&LaunchSpec::shared_bytes>},
      {"arguments", read_arguments},
      {"when", read_one<&LaunchSpec::when>},
      {"cooperative", read_condition<&LaunchSpec::cooperative>},
      {"dependent", read_condition<&LaunchSpec::dependent>},
      {"cluster", read_cluster},
      {"carveout", read_one<&LaunchSpec::carveout>},
      {"untimed", read_untimed},
      {"launch", read_launch},
      {"reference", read_reference},
      {"prepare", read_prepare},
      {"source", read_source<false>},
      {"reference_source", read_source<true>},
      {"include_path", read_include_path},
      {"compile", read_compile},
      {"define", read_define},
  };
  return directives;
}

}  // namespace tuner
