#include <tuner/convert/first_template.hpp>

#include <algorithm>

#include <tuner/core/cpp/declared_types.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/names.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::convert {
namespace {

using Kind = TemplateParameter::Kind;

bool is_type(const NamedType& one) { return one.type == "typename" || one.type == "class"; }

/// The parameters up to one that is better left out.
std::vector<NamedType> parameters_to_name(const Signature& kernel) {
  std::vector<NamedType> named;
  for (const NamedType& one : kernel.template_parameters) {
    // One that may be left out is worth trying if its usual value is a literal.
    const bool is_literal =
        number_of<int>(one.default_value).has_value() || one.default_value == "true" || one.default_value == "false";
    if (one.is_pack() || (one.has_default && (is_type(one) || !is_literal))) break;
    named.push_back(one);
  }
  return named;
}

Kind kind_of(const ScopedCode& all, const Signature& kernel, const NamedType& one) {
  const std::string plain = plain_type(one.type);
  if (is_type(one)) return Kind::type;
  if (plain == "bool") return Kind::flag;
  if (enumerators_of(all, kernel, plain)) return Kind::other;
  auto numbers = numbers_of(plain);
  if (!numbers) numbers = numbers_of(all, used_by(all, kernel, plain));
  const bool is_integer = numbers && numbers->components == 1 && integer_range(numbers->type);
  return is_integer && !one.is_pointer() && !one.is_pack() ? Kind::integer : Kind::other;
}

/// `256` of `256u`.
std::string without_suffix(std::string text) {
  if (is_digit(text.front()))
    while (std::string_view("uUlL").find(text.back()) != npos) text.pop_back();
  return text;
}

}  // namespace

std::vector<TemplateParameter> template_parameters_of(const ScopedCode& all, const Signature& kernel,
                                                      const std::optional<WrittenLaunch>& launch) {
  std::vector<TemplateParameter> list;
  const auto add = [&](const NamedType& one, const std::string& written, const std::string& argument) {
    list.push_back({kind_of(all, kernel, one), plain_type(one.type), possible_name(one.name), written, argument});
    if (list.back().kind == Kind::integer && !argument.empty())
      list.back().value = integer_in(all, without_suffix(argument));
  };
  if (!launch || launch->template_arguments.empty()) {
    for (const NamedType& one : parameters_to_name(kernel)) add(one, "", one.default_value);
    return list;
  }
  for (std::size_t i = 0; i < launch->template_arguments.size(); ++i) {
    const std::string& written = launch->template_arguments[i];
    const NamedType one = i < kernel.template_parameters.size() ? kernel.template_parameters[i] : NamedType{};
    const std::string argument = launch->resolved(written);
    // A macro around the launch defines it, such as AT_DISPATCH_FLOATING_TYPES.
    const bool is_unknown = is_type(one) && word_at(argument, 0) == argument && !is_built_in(argument) &&
                            !numbers_of(argument) && all_definitions(all, argument).empty();
    add(one, is_unknown ? "" : written, is_unknown ? "" : argument);
  }
  return list;
}

UsedName used_by(const ScopedCode& all, const Signature& kernel, std::string type) {
  const std::vector<Signature> heads = find_signatures(all, kernel.name);
  const std::size_t at = heads.empty() ? 0 : heads.back().begin;
  return without_aliases(all, {std::move(type), all.namespaces_at(at), at});
}

std::string qualified(const ScopedCode& all, const Signature& kernel, const TemplateParameter& of) {
  if (const auto of_enum = enumerators_of(all, kernel, of.type))
    if (const std::string name(last_part(of.argument)); contains(of_enum->names, name)) return of_enum->path + name;
  const std::string_view first = word_at(of.argument, 0);
  if (first.empty() || is_built_in(of.argument)) return of.argument;
  const std::vector<std::size_t> found = all_definitions(all, first);
  return (found.size() == 1 ? all.namespaces_at(found.front()) : "") + of.argument;
}

std::optional<Enumerators> enumerators_of(const ScopedCode& all, const Signature& kernel, const std::string& type) {
  const UsedName used = used_by(all, kernel, type);
  const std::string_view text = all.text();
  for (const std::size_t at : type_definitions(all, used)) {
    const std::string_view body = in_braces(text, at);
    if (body.empty()) continue;
    const std::string_view head = statement_before(text, static_cast<std::size_t>(body.data() - text.data()));
    if (!has_word(head, "enum")) continue;
    Enumerators found{all.namespaces_at(at) + std::string(last_part(used.name)) + "::", {}};
    for (const std::string_view one : at_commas(body.substr(1, body.size() - 2)))
      if (const std::string_view name = word_at(one, 0); !name.empty()) found.names.emplace_back(name);
    if (!found.names.empty()) return found;
  }
  return std::nullopt;
}

}  // namespace tuner::convert
