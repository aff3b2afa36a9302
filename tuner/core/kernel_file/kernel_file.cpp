#include <tuner/core/kernel_file/kernel_file.hpp>

#include <set>
#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel_file/directive_lines.hpp>
#include <tuner/core/kernel_file/kernel_draft.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

std::vector<Directive> all_directives() {
  std::vector<Directive> all;
  for (const auto& some : {name_directives(), data_directives(), program_directives()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

void read_directive(KernelReader& kernel, TokenCursor& cursor) {
  static const std::vector<Directive> all = all_directives();
  if (!cursor.at_identifier()) cursor.fail("expected a directive after '#pragma tuner', not " + cursor.described());
  kernel.directive = cursor.take();
  kernel.directive_place = cursor.place(kernel.directive);
  const std::string_view name = kernel.directive.text;
  const Directive* const known = find_named(all, name);
  if (known == nullptr)
    throw SpecError(kernel.directive_place, "unknown directive " + in_quotes(name) + suggestion(name, names_of(all)));
  if (kernel.spec.name.empty() && name != "kernel")
    throw SpecError(kernel.directive_place, "'kernel NAME' must be the first directive");
  known->read(kernel, cursor);
  if (!cursor.at_end()) cursor.fail("unexpected " + cursor.described() + " after " + in_quotes(name));
}

/// In other languages `//` divides. After an expression it therefore starts a comment only if the comment does not
/// begin like an operand.
void require_comment(const KernelReader& kernel, const LogicalLine& line) {
  const LogicalLine comment = LogicalLine::from(line.comment, {});
  const TokenCursor cursor(comment);
  const bool operand = cursor.at_number() || cursor.peek().is("(") || cursor.peek().is("-") ||
                       (cursor.at_identifier() &&
                        (kernel.draft.names.contains(cursor.peek().text) || is_function_name(cursor.peek().text)));
  if (!operand) return;
  throw SpecError({kernel.spec.program.file, line.comment_at.line, line.comment_at.column},
                  "'//' starts a comment, but " + cursor.described() +
                      " reads like the rest of the expression: integer division is '/'; a comment after an "
                      "expression cannot begin with a number, a bracket or a name of this file");
}

/// \p constants: names of the text that expressions may use.
KernelDraft read_directives(std::string_view text, std::string file_name, std::vector<SourceFile> sources,
                            const Substitutions& constants = {}) {
  KernelReader kernel;
  kernel.draft.lets = constants;
  kernel.known_sources = std::move(sources);
  kernel.spec.program.file = std::move(file_name);
  kernel.spec.program.text = without_byte_order_mark(text);
  const std::vector<LogicalLine> lines = find_directives(kernel.spec.program.text, kernel.spec.program.file);
  std::vector<const LogicalLine*> commented;  // with an expression before the comment
  for (const LogicalLine& line : lines) {
    TokenCursor cursor(line);
    cursor.expect("pragma", "'#'");
    cursor.expect("tuner", "'pragma'");
    const std::size_t expressions = kernel.draft.expressions.size();
    read_directive(kernel, cursor);
    if (line.comment_at.line != 0 && kernel.draft.expressions.size() > expressions) commented.push_back(&line);
  }
  for (const LogicalLine* line : commented) require_comment(kernel, *line);
  if (kernel.spec.name.empty())
    throw SpecError({kernel.spec.program.file, 1, 1},
                    "no kernel: a kernel file starts with '#pragma tuner kernel NAME'; `tune init` writes a first one");
  return std::move(kernel.draft);
}

// Far more than anybody writes. So many are still processed in well under a second.
constexpr std::size_t kMostValues = 65535;  // of all parameters and choices together
constexpr std::size_t kMostOperations = 1'000'000;

}  // namespace

KernelSpec parse_kernel_file(std::string_view text, std::string file_name, std::vector<SourceFile> sources) {
  KernelDraft draft = read_directives(text, file_name, std::move(sources));
  find_texts(draft, Validation::required);
  if (const Substitutions constants = constants_of(draft); !constants.empty()) {
    KernelDraft with_constants = read_directives(text, std::move(file_name), draft.spec.program.sources, constants);
    take_texts(with_constants, std::move(draft));
    draft = std::move(with_constants);
  }
  return finish(std::move(draft));
}

KernelSpec parse_built_in_kernel_file(std::string_view text, std::string file_name) {
  KernelDraft draft = read_directives(text, std::move(file_name), {});
  find_texts(draft, Validation::already_done);
  return finish(std::move(draft), Validation::already_done);
}

KernelSpec read_kernel_file(const std::filesystem::path& path) {
  return parse_kernel_file(read_input_file(path, kMaxKernelFileBytes, "kernel file"), path.string());
}

void KernelReader::once(const std::string& key) {
  const auto [at, is_new] = draft.given.emplace(key, directive_place);
  if (!is_new)
    throw SpecError(directive_place,
                    "a second " + in_quotes(key) + "; the first is in line " + std::to_string(at->second.line));
}

std::string KernelReader::declare(TokenCursor& cursor, std::string_view what, bool in_expressions) {
  const Token token = cursor.expect_identifier("the name of a " + std::string(what));
  const SourceLocation place = cursor.place(token);
  const std::string name(token.text);
  // Of these words only `in` can be a name in C++, and many kernels have such a buffer.
  if (in_expressions || (is_reserved_word(name) && name != "in")) {
    const std::string problem = name_problem(name);
    if (!problem.empty()) throw SpecError(place, problem + " and cannot name a " + std::string(what));
  }
  const auto [at, is_new] = draft.names.emplace(name, DeclaredName{std::string(what), place});
  if (!is_new) {
    throw SpecError(place, in_quotes(name) + " is already the name of a " + at->second.what + " (line " +
                               std::to_string(at->second.place.line) + ")");
  }
  return name;
}

Expression KernelReader::expression(TokenCursor& cursor, std::string_view closing, Numbers numbers) {
  Expression result = ExpressionAccess::parse(cursor, draft.lets, numbers);
  const Token& next = cursor.peek();
  const bool ends = next.is(closing) || (cursor.at_identifier() && has_word(closing, next.text));
  if (!cursor.at_end() && !next.is(",") && !ends) {
    cursor.fail("expected an operator or the end of the expression, not " + cursor.described());
  }
  operations_ += ExpressionAccess::root(result)->count;
  if (operations_ > kMostOperations)
    throw SpecError(result.location(), "the expressions of this file are too large: more than " +
                                           std::to_string(kMostOperations) + " operations, 'let's counted as text");
  draft.expressions.push_back(result);
  return result;
}

Expression KernelReader::in_braces(const LogicalLine& line, std::size_t& at) {
  TokenCursor inside(line, at + 1);
  const Expression value = expression(inside, "}");
  if (!inside.peek().is("}")) inside.fail("expected '}' after the value, not " + inside.described());
  at = inside.peek().begin;
  return value;
}

const std::vector<Value>& KernelReader::values(TokenCursor& cursor, std::vector<std::string> names) {
  cursor.expect("=", "the name");
  if (cursor.at_end()) cursor.fail(in_quotes(names.back()) + " has no values");
  ValuesDraft& all = draft.values.emplace_back(ValuesDraft{std::move(names), {}, {}});
  std::set<Value> seen;
  while (!cursor.at_end()) {
    const SourceLocation place = cursor.place();
    for (Value& next : parse_values(cursor)) {
      if ((values_ += all.names.size()) > kMostValues)
        throw SpecError(place, "more than " + std::to_string(kMostValues) + " values in one kernel");
      if (!seen.insert(next).second) throw SpecError(place, in_quotes(next.text()) + " is given twice");
      all.values.push_back(std::move(next));
      all.places.push_back(place);
    }
  }
  return all.values;
}

std::string KernelReader::type_name(TokenCursor& cursor) {
  const Token token = cursor.expect_identifier("the name of a type");
  if (const auto type = element_type(token.text)) return std::string(info(*type).name);
  if (token.text == "bool") return std::string(info(ElementType::uint8).name);  // a byte that is 0 or 1
  return draft.types.emplace_back(token.text, cursor.place(token)).first;
}

Places KernelReader::assignments(TokenCursor& cursor, const std::function<void(const std::string&)>& read) {
  if (cursor.at_end()) cursor.fail("expected NAME=VALUE, not " + cursor.described());
  Places places;
  while (!cursor.at_end()) {
    const Token token = cursor.expect_identifier("NAME=VALUE");
    const std::string name(token.text);
    if (!places.emplace(name, cursor.place(token)).second)
      throw SpecError(cursor.place(token), in_quotes(name) + " is given twice");
    cursor.expect("=", in_quotes(name));
    read(name);
  }
  return places;
}

LaunchDraft& KernelReader::start_launch(const std::string& name, LaunchDraft::Role role) {
  LaunchDraft& started = draft.launches.emplace_back();
  started.launch.name = name;
  started.launch.location = directive_place;
  started.role = role;
  return started;
}

LaunchDraft& KernelReader::once_in_launch() {
  if (draft.launches.empty()) start_launch(spec.name, LaunchDraft::Role::kernel);
  LaunchDraft& current = draft.launches.back();
  const auto [at, is_new] = current.given.emplace(directive.text, directive_place);
  if (!is_new) {
    constexpr const char* what[] = {"launch ", "the reference ", "the preparation "};  // as LaunchDraft::Role
    throw SpecError(directive_place, "a second " + in_quotes(directive.text) + " for " +
                                         what[static_cast<std::size_t>(current.role)] + in_quotes(current.launch.name) +
                                         "; the first is in line " + std::to_string(at->second.line));
  }
  return current;
}

void KernelReader::read_name(TokenCursor& cursor, std::string_view what, LaunchDraft& of) {
  if (cursor.at_end()) cursor.fail("expected " + std::string(what) + ", not the end of the line");
  of.instantiate_place = cursor.place();
  const std::string_view line = cursor.line().text;
  const std::size_t begin = cursor.peek().begin, end = begin + cursor.rest().size();
  std::string& text = of.launch.instantiate;  // gets single blanks: continued lines are indented
  std::vector<ComputedText>& computed = of.launch.computed_texts;
  for (std::size_t at = begin; at < end; ++at) {
    if (line[at] == '{') {
      const Expression value = in_braces(cursor.line(), at);
      computed.push_back({'{' + value.text() + '}', value, text.size()});
      text += computed.back().text;
      continue;
    }
    const bool blank = is_blank(line[at]);
    if (!blank || text.back() != ' ') text += blank ? ' ' : line[at];
  }
  for (const std::string_view word : words_of(text))
    if (const auto let = draft.lets.find(word); let != draft.lets.end())
      computed.push_back({std::string(word), let->second});
  cursor.skip_rest();
}

}  // namespace tuner
