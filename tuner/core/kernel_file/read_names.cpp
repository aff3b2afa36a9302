#include <tuner/core/kernel_file/kernel_reader.hpp>

#include <algorithm>
#include <utility>

#include <tuner/core/expression/token.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

// Far more than anybody writes. So many are still processed in well under a second.
constexpr std::size_t kMostParameters = 128;
constexpr std::size_t kMostConstraints = 256;

void read_kernel(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once("kernel");
  kernel.spec.name = cursor.expect_identifier("the kernel's name").text;
}

void read_derived_type(KernelReader& kernel, TokenCursor& cursor, const std::string& name) {
  const Token of = cursor.expect_identifier("the type that it follows from");
  DerivedTypeSpec type{name, std::string(of.text), {}, cursor.place(of)};
  cursor.expect("=", "the name");
  if (cursor.at_end()) cursor.fail("expected TYPE:TYPE, not " + cursor.described());
  while (!cursor.at_end()) {
    const SourceLocation place = cursor.place();
    const std::string from(info(parse_element_type(cursor)).name);
    cursor.expect(":", in_quotes(from));
    if (!type.mapping.emplace(from, info(parse_element_type(cursor)).name).second)
      throw SpecError(place, in_quotes(from) + " is given twice");
  }
  kernel.spec.derived_types.push_back(std::move(type));
}

void read_type(KernelReader& kernel, TokenCursor& cursor) {
  const std::string name = kernel.declare(cursor, "type", true);
  if (cursor.accept("of")) return read_derived_type(kernel, cursor, name);
  cursor.expect("=", "the name");
  ChoiceSpec choice{name, true, {}};
  if (cursor.at_end()) cursor.fail(in_quotes(name) + " has no values");
  while (!cursor.at_end()) {
    const SourceLocation place = cursor.place();
    const std::string_view type = info(parse_element_type(cursor)).name;
    if (contains(choice.values, type)) throw SpecError(place, in_quotes(type) + " is given twice");
    choice.values.emplace_back(type);
  }
  kernel.spec.choices.push_back(std::move(choice));
}

void read_choice(KernelReader& kernel, TokenCursor& cursor) {
  ChoiceSpec choice{kernel.declare(cursor, "choice", true), false, {}};
  for (const Value& one : kernel.values(cursor, {choice.name})) choice.values.push_back(one.text());
  kernel.spec.choices.push_back(std::move(choice));
}

ElementType read_size_type(TokenCursor& cursor) {
  constexpr ElementType allowed[] = {ElementType::int32, ElementType::uint32, ElementType::int64, ElementType::uint64};
  const SourceLocation place = cursor.place();
  const ElementType type = parse_element_type(cursor);
  if (!contains(allowed, type))
    throw SpecError(place, "a size is an int, unsigned, int64 or uint64, not " + std::string(info(type).name));
  return type;
}

/// Reads sizes with the same type and default.
void read_equal_sizes(KernelReader& kernel, TokenCursor& cursor) {
  std::vector<std::string> names;
  do {
    const SourceLocation place = cursor.place();
    names.push_back(kernel.declare(cursor, "size", true));
    if (names.back() == "offset")
      throw SpecError(place, "a size cannot be called 'offset', which 'verify' uses for alignment");
  } while (cursor.at_identifier());
  const ElementType type = cursor.accept(":") ? read_size_type(cursor) : ElementType::int32;
  std::optional<std::int64_t> value;
  if (cursor.accept("=")) {
    const SourceLocation place = cursor.place();
    value = parse_size(cursor, "a size");
    if (*value < 0 || *value > integer_range(type)->high)
      throw SpecError(place, std::to_string(*value) + " does not fit " + std::string(info(type).name) +
                                 ", the type of " + in_quotes(names.back()));
    if (cursor.peek().is(":"))
      cursor.fail("the type of a size stands before its default: 'size " + names.back() +
                  " : TYPE = " + std::to_string(*value) + "'");
  }
  for (std::string& name : names) kernel.spec.sizes.push_back({std::move(name), type, value});
}

void read_sizes(KernelReader& kernel, TokenCursor& cursor) {
  do read_equal_sizes(kernel, cursor);
  while (cursor.accept(","));
}

void read_parameter(KernelReader& kernel, TokenCursor& cursor) {
  std::vector<std::string> names;
  do {
    names.push_back(kernel.declare(cursor, "parameter", true));
    if (kernel.draft.parameters.size() + names.size() > kMostParameters)
      throw SpecError(kernel.draft.names.at(names.back()).place,
                      "more than " + std::to_string(kMostParameters) + " parameters");
  } while (cursor.at_identifier());
  const std::vector<Value> values = kernel.values(cursor, names);
  for (std::string& name : names) kernel.draft.parameters.push_back({std::move(name), values});
}

/// Reads a value of \p values, as it is written.
std::string read_value_of(TokenCursor& cursor, const ValuesDraft& values) {
  const SourceLocation place = cursor.place();
  const Value value = parse_value(cursor);
  if (!contains(values.values, value)) {
    throw SpecError(place, in_quotes(value.text()) + " is not a value of " + in_quotes(values.names.front()) +
                               suggestion(value.text(), texts_of(values.values)));
  }
  return value.text();
}

void read_parents(KernelReader& kernel, TokenCursor& cursor) {
  const Token token = cursor.expect_identifier("the name of a parameter or choice");
  const std::string name(token.text);
  kernel.once("parents " + name);
  const auto values =
      std::ranges::find_if(kernel.draft.values, [&](const ValuesDraft& one) { return contains(one.names, name); });
  if (values == kernel.draft.values.end())
    throw SpecError(cursor.place(token), in_quotes(name) + " is not a parameter or choice that was declared above");
  cursor.expect("=", "the name");
  if (cursor.at_end()) cursor.fail("expected VALUE:PARENT, not " + cursor.described());
  LadderSpec ladder{name, {}};
  while (!cursor.at_end()) {
    const SourceLocation place = cursor.place();
    const std::string value = read_value_of(cursor, *values);
    cursor.expect(":", in_quotes(value));
    const std::string parent = read_value_of(cursor, *values);
    if (parent == value) throw SpecError(place, in_quotes(value) + " cannot be its own parent");
    if (!ladder.parent.emplace(value, parent).second) throw SpecError(place, in_quotes(value) + " is given twice");
  }
  kernel.spec.ladders.push_back(std::move(ladder));
}

void read_let(KernelReader& kernel, TokenCursor& cursor) {
  const std::string name = kernel.declare(cursor, "let", true);
  cursor.expect("=", "the name");
  kernel.draft.lets.emplace(name, kernel.expression(cursor));
}

void read_constraint(KernelReader& kernel, TokenCursor& cursor) {
  const Token token = cursor.expect_identifier("the name of a constraint, as in 'constraint NAME: EXPRESSION'");
  const std::string name(token.text);
  if (find_named(kernel.draft.constraints, name) != nullptr)
    throw SpecError(cursor.place(token), "a constraint " + in_quotes(name) + " exists already");
  if (kernel.draft.constraints.size() == kMostConstraints)
    throw SpecError(cursor.place(token), "more than " + std::to_string(kMostConstraints) + " constraints");
  cursor.expect(":", "the constraint's name");
  kernel.draft.constraints.push_back({name, kernel.expression(cursor)});
}

AssignedDraft read_configuration(KernelReader& kernel, TokenCursor& cursor, Configuration& values) {
  const auto read = [&](const std::string& name) { values.set(name, parse_value(cursor)); };
  return {kernel.directive_place, kernel.assignments(cursor, read)};
}

void read_default(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once("default");
  kernel.draft.default_names = read_configuration(kernel, cursor, kernel.spec.default_configuration.emplace());
}

void read_seed(KernelReader& kernel, TokenCursor& cursor) {
  kernel.draft.seeds.push_back(read_configuration(kernel, cursor, kernel.spec.seeds.emplace_back()));
}

}  // namespace

std::span<const Directive> name_directives() {
  static constexpr Directive directives[] = {
      {"kernel", read_kernel},
      {"type", read_type},
      {"choice", read_choice},
      {"size", read_sizes},
      {"parameter", read_parameter},
      {"parents", read_parents},
      {"let", read_let},
      {"constraint", read_constraint},
      {"default", read_default},
      {"seed", read_seed},
  };
  return directives;
}

}  // namespace tuner
