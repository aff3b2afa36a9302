#include <tuner/core/kernel/sub_space.hpp>

#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

const TuningParameter& parameter_of(const KernelSpec& spec, const std::string& name) {
  if (const TuningParameter* const known = spec.space.find(name)) return *known;
  throw Error("kernel " + spec.name + " has no parameter '" + name + "'" +
              suggestion(name, names_of(spec.space.parameters())));
}

}  // namespace

KernelSpec sub_space(const KernelSpec& spec, const Configuration& fixed, const std::vector<std::string>& vary) {
  for (const auto& [name, value] : fixed.entries()) {
    const std::vector<Value>& values = parameter_of(spec, name).values;
    if (!contains(values, value))
      throw Error("parameter '" + name + "' is never " + value.text() + "; its values are " + listed(texts_of(values)));
    if (contains(vary, name)) throw Error("parameter '" + name + "' cannot be both fixed and varied");
  }
  for (const std::string& name : vary) (void)parameter_of(spec, name);

  std::vector<TuningParameter> parameters = spec.space.parameters();
  for (TuningParameter& parameter : parameters) {
    const Value* value = fixed.find(parameter.name);
    if (!value && !vary.empty() && !contains(vary, parameter.name)) {
      value = spec.default_configuration ? spec.default_configuration->find(parameter.name) : nullptr;
      if (!value)
        throw Error("parameter '" + parameter.name + "' is neither fixed nor varied, and kernel " + spec.name +
                    " has no default for it");
    }
    if (value) parameter.values = {*value};
  }
  KernelSpec part = spec;
  part.space = SearchSpace(std::move(parameters), spec.space.constraints());
  return part;
}

}  // namespace tuner
