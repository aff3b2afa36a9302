#include <tuner/core/kernel_reader.hpp>

#include <utility>

#include <tuner/core/literals.hpp>
#include <tuner/core/named.hpp>

namespace tuner {
namespace {

// Far more than anybody writes. So many are still processed in well under a second.
constexpr std::size_t kMostParameters = 128;
constexpr std::size_t kMostConstraints = 256;

void read_kernel(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once("kernel");
  const Token name = cursor.expect_identifier("the kernel's name");
  kernel.places["kernel"] = cursor.place(name);
  kernel.spec.name = name.text;
}

void read_derived_type(KernelReader& kernel, TokenCursor& cursor, const std::string& name) {
  DerivedTypeSpec type{name, std::string(cursor.expect_identifier("the type that it follows from").text), {}};
  kernel.places[name + " of"] = cursor.line().place(cursor.last_stop() - type.of.size());
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
    kernel.places[name + "=" + std::string(type)] = place;
    choice.values.emplace_back(type);
  }
  kernel.spec.choices.push_back(std::move(choice));
}

void read_choice(KernelReader& kernel, TokenCursor& cursor) {
  ChoiceSpec choice{kernel.declare(cursor, "choice", true), false, {}};
  for (const Value& one : kernel.values(cursor, {choice.name})) choice.values.push_back(one.text());
  kernel.spec.choices.push_back(std::move(choice));
}

/// Reads sizes with the same type and default.
void read_sizes(KernelReader& kernel, TokenCursor& cursor) {
  const std::size_t first = kernel.spec.sizes.size();
  do {
    kernel.spec.sizes.push_back({kernel.declare(cursor, "size", true), ElementType::int32, std::nullopt});
  } while (cursor.at_identifier());
  std::optional<ElementType> type;
  SourceLocation type_place, default_place;
  if (cursor.accept(":")) {
    type_place = cursor.place();
    type = parse_element_type(cursor);
  }
  std::optional<std::int64_t> value;
  if (cursor.accept("=")) {
    default_place = cursor.place();
    value = parse_size(cursor, "a size");
  }
  for (std::size_t i = first; i < kernel.spec.sizes.size(); ++i) {
    SizeSpec& size = kernel.spec.sizes[i];
    if (type) {
      size.type = *type;
      kernel.places["type of " + size.name] = type_place;
    }
    if (value) {
      size.default_value = value;
      kernel.places["default of " + size.name] = default_place;
    }
  }
}

void read_size(KernelReader& kernel, TokenCursor& cursor) {
  do read_sizes(kernel, cursor);
  while (cursor.accept(","));
}

void read_parameter(KernelReader& kernel, TokenCursor& cursor) {
  std::vector<std::string> names;
  do {
    names.push_back(kernel.declare(cursor, "parameter", true));
    if (kernel.draft.parameters.size() + names.size() > kMostParameters)
      throw SpecError(kernel.places.at(names.back()), "more than " + std::to_string(kMostParameters) + " parameters");
  } while (cursor.at_identifier());
  const std::vector<Value> values = kernel.values(cursor, names);
  for (std::string& name : names) kernel.draft.parameters.push_back({std::move(name), values});
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

void read_default(KernelReader& kernel, TokenCursor& cursor) {
  kernel.once("default");
  Configuration configuration;
  kernel.assignments(cursor, "default", [&](const std::string& name) { configuration.set(name, parse_value(cursor)); });
  kernel.spec.default_configuration = std::move(configuration);
}

}  // namespace

std::span<const Directive> name_directives() {
  static constexpr Directive directives[] = {
      {"kernel", read_kernel},       {"type", read_type}, {"choice", read_choice},         {"size", read_size},
      {"parameter", read_parameter}, {"let", read_let},   {"constraint", read_constraint}, {"default", read_default},
  };
  return directives;
}

}  // namespace tuner
