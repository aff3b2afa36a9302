#include <tuner/core/search_space.hpp>

#include <algorithm>

#include <tuner/core/enumeration.hpp>
#include <tuner/core/expression_tree.hpp>
#include <tuner/core/named.hpp>

namespace tuner {
namespace {

/// Whether a conjunct of \p predicate is false, even if the evaluation of others fails. enumerate() does the same.
/// The first failure is kept in \p problem.
bool is_false(const Expression& predicate, const Bindings& bindings, std::optional<EvaluationError>& problem) {
  try {
    return !predicate.evaluate_boolean(bindings);
  } catch (const EvaluationError& error) {
    if (!problem) problem = error;
    const std::vector<Expression> parts = split_conjunction(predicate);
    return parts.size() > 1 && std::any_of(parts.begin(), parts.end(),
                                           [&](const Expression& part) { return is_false(part, bindings, problem); });
  }
}

}  // namespace

const TuningParameter* SearchSpace::find(std::string_view name) const { return find_named(parameters_, name); }

double SearchSpace::product() const {
  double result = 1;
  for (const TuningParameter& parameter : parameters_) result *= static_cast<double>(parameter.values.size());
  return result;
}

EnumeratedSpace SearchSpace::enumerate(const Bindings& fixed, const StopHook& stop) const {
  std::vector<Conjunct> conjuncts;
  for (const Constraint& constraint : constraints_) conjuncts.push_back({constraint.predicate, false});
  return enumerate_conjuncts(parameters_, conjuncts, fixed, stop);
}

std::optional<std::string> SearchSpace::violation(const Configuration& configuration, const Bindings& fixed) const {
  Bindings all = fixed;
  for (const TuningParameter& parameter : parameters_) {
    const Value* value = configuration.find(parameter.name);
    if (!value) return "parameter '" + parameter.name + "' has no value";
    if (!contains(parameter.values, *value))
      return parameter.name + "=" + value->text() + " is not one of: " + listed(texts_of(parameter.values));
    all.set(parameter.name, *value);
  }
  for (const auto& [name, value] : configuration.entries()) {
    if (!find(name)) return "unknown parameter '" + name + "'" + suggestion(name, names_of(parameters_));
  }
  std::optional<EvaluationError> problem;
  for (const Constraint& constraint : constraints_) {
    if (!is_false(constraint.predicate, all, problem)) continue;
    std::string reason = constraint.name + ": " + constraint.predicate.text();
    const char* separator = " with ";
    for (const std::string& name : constraint.predicate.names()) {
      if (!find(name)) continue;
      reason += separator + name + "=" + configuration.find(name)->text();
      separator = " ";
    }
    return reason;
  }
  if (problem) throw EvaluationError(*problem);
  return std::nullopt;
}

}  // namespace tuner
