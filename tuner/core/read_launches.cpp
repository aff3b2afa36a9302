#include <tuner/core/kernel_reader.hpp>

#include <algorithm>

#include <tuner/core/literals.hpp>

namespace tuner {
namespace {

void read_instantiate(KernelReader& kernel, TokenCursor& cursor) {
  LaunchDraft& current = kernel.once_in_launch();
  if (current.role != LaunchDraft::Role::kernel)
    throw SpecError(kernel.directive_place,
                    std::string(current.role == LaunchDraft::Role::reference ? "'reference'" : "'prepare'") +
                        " names its function itself; start a launch with 'launch NAME'");
  kernel.read_name(cursor, "the kernel's C++ name, as in f<T, block>", current);
}

template <std::array<Expression, 3> LaunchSpec::*extents>
void read_extents(KernelReader& kernel, TokenCursor& cursor) {
  LaunchSpec& launch = kernel.once_in_launch().launch;
  std::size_t dimension = 0;
  do {
    if (dimension == 3) cursor.fail(in_quotes(kernel.directive.text) + " has at most 3 dimensions");
    (launch.*extents)[dimension++] = kernel.expression(cursor);
  } while (cursor.accept(","));
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

void read_cooperative(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once_in_launch().launch.cooperative = always_or(kernel, cursor);
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
                                             " exists already; give this one a name of its own and its kernel by "
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

std::span<const Directive> launch_directives() {
  static constexpr Directive directives[] = {
      {"instantiate", read_instantiate},
      {"grid", read_extents<&LaunchSpec::grid>},
      {"block", read_extents<&LaunchSpec::block>},
      {"shared", read_one<&LaunchSpec::shared_bytes>},
      {"arguments", read_arguments},
      {"when", read_one<&LaunchSpec::when>},
      {"cooperative", read_cooperative},
      {"untimed", read_untimed},
      {"launch", read_launch},
      {"reference", read_reference},
      {"prepare", read_prepare},
  };
  return directives;
}

}  // namespace tuner
