#include <tuner/core/kernel_file/kernel_reader.hpp>

#include <set>
#include <utility>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

// Far more than anybody writes. So many are still processed in well under a second.
constexpr std::size_t kMostValues = 65535;  // of all parameters and choices together
constexpr std::size_t kMostOperations = 1'000'000;

}  // namespace

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
  Expression result = parse_expression(cursor, draft.lets, numbers);
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

Places KernelReader::assignments(TokenCursor& cursor, const std::function<void(const std::string&)>& read,
                                 bool members) {
  if (cursor.at_end()) cursor.fail("expected NAME=VALUE, not " + cursor.described());
  Places places;
  while (!cursor.at_end()) {
    const Token token = cursor.expect_identifier("NAME=VALUE");
    std::string name(token.text);
    while (members && cursor.accept(".")) name.append(".").append(cursor.expect_identifier("a member").text);
    if (members && cursor.accept("[")) {
      name += "[" + std::to_string(parse_integer(cursor, "an index")) + "]";
      cursor.expect("]", "the index");
    }
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
