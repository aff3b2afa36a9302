#include <tuner/cli/input/metric_options.hpp>

#include <tuner/core/device/metric.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::cli {
namespace {

bool is_chips_own(std::string_view name) {
  const std::size_t unit = name.find("__");
  return unit != std::string_view::npos && unit > 0 && name.find('.', unit) != std::string_view::npos;
}

/// An objective's name out of what was typed: with `max:` where the largest wins, as it is stored.
std::string read_one_objective(const std::string& text) {
  const bool asks_largest = text.starts_with("max:"), asks_smallest = text.starts_with("min:");
  const std::string name = asks_largest || asks_smallest ? text.substr(4) : text;
  if (Objective{name}.is_time()) {
    if (asks_largest) throw UsageError("objective '{}': of times the smallest wins", text);
    return name;
  }
  const NamedMetric* const known = find_metric(name);
  if (known == nullptr && !is_chips_own(name)) {
    std::vector<std::string> names = names_of(named_metrics());
    std::vector<std::string> times;
    for (const NamedUse& use : kUses) times.emplace_back(use.objective);
    names.insert(names.begin(), times.begin(), times.end());
    throw UsageError(unknown_name("objective", name, names));
  }
  const bool largest = asks_largest || (!asks_smallest && known != nullptr && known->larger_is_better);
  return largest ? "max:" + name : name;
}

}  // namespace

std::vector<std::string> read_metrics(const std::vector<std::string>& texts, std::string_view option) {
  std::vector<std::string> names = split(texts, ',');
  for (const std::string& name : names) {
    if (find_metric(name) != nullptr || find_metric_set(name) != nullptr || is_chips_own(name)) continue;
    throw UsageError("{}: {}", option, unknown_name("metric", name, names_of(metric_sets(), named_metrics())));
  }
  return names;
}

std::vector<std::string> read_objectives(std::string_view text) {
  std::vector<std::string> names = split({std::string(text)}, ',');
  if (names.empty()) names.emplace_back();
  for (std::string& name : names) name = read_one_objective(name);
  return names;
}

double parse_metric(std::string_view text, std::string_view option, const Objective& objective) {
  const NamedMetric* const named = find_metric(objective.metric());
  if (objective.is_time() || (named != nullptr && named->unit == MetricUnit::nanoseconds))
    return 1e9 * parse_duration(text, option).count();
  std::string_view number = trimmed(text);
  const std::string_view unit = named == nullptr ? "" : symbol(named->unit);
  if (number.ends_with(unit)) number = trimmed(number.substr(0, number.size() - unit.size()));
  constexpr std::pair<char, double> factors[] = {{'k', 1e3},  {'M', 1e6},  {'G', 1e9},
                                                 {'T', 1e12}, {'m', 1e-3}, {'u', 1e-6}};
  double factor = 1;
  for (const auto& [prefix, by] : factors)
    if (number.ends_with(prefix)) {
      factor = by;
      number.remove_suffix(1);
      break;
    }
  try {
    return factor * parse_number(number, option, -1e300, 1e300);
  } catch (const UsageError&) {
    throw UsageError("{}: '{}' is not a value of {}: a number{}", option, printable(text), objective.metric(),
                     unit.empty() ? "" : fmt::format(" with the unit {}", unit));
  }
}

}  // namespace tuner::cli
