#include <tuner/core/kernel/names.hpp>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/words.hpp>
#include <tuner/core/device/device.hpp>
#include <tuner/core/expression/expression_parser.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {

const std::vector<std::string>& device_limit_names() {
  // Never destroyed: destructors of static objects may launch kernels.
  static const auto& names = *new const std::vector<std::string>([] {
    Bindings bindings;
    bind_device_limits(bindings, {});
    return bindings.names();
  }());
  return names;
}

std::string name_problem(std::string_view name) {
  if (!is_identifier(name)) return in_quotes(name) + " is not a name";
  if (is_reserved_word(name)) return in_quotes(name) + " is a word of the expression language";
  if (is_function_name(name)) return in_quotes(name) + " is a function of the expression language";
  if (element_type(name)) return in_quotes(name) + " is an element type";
  constexpr std::string_view of_device_code = "blockDim blockIdx gridDim threadIdx warpSize";
  if (is_word_of_cpp(name) || has_word(of_device_code, name)) return in_quotes(name) + " is a word of CUDA C++";
  if (contains(device_limit_names(), name)) return in_quotes(name) + " is a limit of the device";
  return {};
}

std::string possible_name(const std::string& name) { return name_problem(name).empty() ? name : name + '_'; }

KnownNames known_names(const KernelSpec& spec) {
  KnownNames known;
  const std::vector<std::string> types = names_of(element_types());
  for (const std::string& name : device_limit_names()) known[name] = {};
  for (const SizeSpec& size : spec.sizes) known[size.name] = {};
  for (const DerivedTypeSpec& type : spec.derived_types) known[type.name] = {true, types};
  for (const ChoiceSpec& choice : spec.choices) {
    const bool is_word = choice.is_type || Value::parse(choice.values.front()).is_string();
    known[choice.name] = {is_word, choice.is_type ? types : choice.values};
  }
  for (const TuningParameter& parameter : spec.space.parameters())
    known[parameter.name] = {parameter.values.front().is_string(), texts_of(parameter.values)};
  return known;
}

}  // namespace tuner
