#include <tuner/cli/metric_options.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/ranges.h>  // join, since fmt 11

#include <tuner/core/characters.hpp>
#include <tuner/core/format.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/core/named.hpp>

namespace tuner::cli {
namespace {

bool is_chips_own(std::string_view name) {
  const std::size_t unit = name.find("__");
  return unit != std::string_view::npos && unit > 0 && name.find('.', unit) != std::string_view::npos;
}

/// `43.2 mJ`: three digits of what may be as small as a single run's energy.
std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> prefixes{"", "m", "u", "n", "p"};
  std::size_t at = 0;
  while (at + 1 < prefixes.size() && std::fabs(value) < 1 && value != 0) value *= 1000, ++at;
  return fmt::format("{:.3g} {}{}", value, prefixes[at], unit);
}

std::string format_objective(const std::string& name, double value) {
  return Objective{name}.is_time() ? format_ns(value) : format_metric(Objective{name}.metric(), value);
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
    names.insert(names.begin(), {"time", "time_hot"});
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

std::string format_metric(std::string_view metric, double value) {
  const NamedMetric* const named = find_metric(metric);
  if (!std::isfinite(value)) return "-";
  if (named == nullptr) return fmt::format("{:.5g}", value);
  switch (named->unit) {
    case MetricUnit::percent:
      return format_percent(value / 100);
    case MetricUnit::bytes_per_second:
      return format_rate(value);
    case MetricUnit::nanoseconds:
      return format_ns(value);
    case MetricUnit::count:
      return format_count(value);
    case MetricUnit::bytes:
      return format_bytes(static_cast<std::int64_t>(value));
    case MetricUnit::ratio:
      return fmt::format("{:.4g}", value);
    case MetricUnit::joules:
    case MetricUnit::joule_seconds:
      return with_prefix(value, symbol(named->unit));
    case MetricUnit::watts:
      return fmt::format("{:.0f} W", value);
  }
  return fmt::format("{:.5g}", value);
}

Cell metric_cell(std::string_view metric, double value) { return {Json(value), format_metric(metric, value)}; }

Cell objective_cell(const std::string& objective) { return {objective, objective == "time" ? "" : objective}; }

std::vector<std::string> metric_list(const std::vector<std::string>& names,
                                     const std::map<std::string, double>& metrics) {
  Table table({"metric", "value", "meaning"});
  for (const std::string& name : names) {
    const auto at = metrics.find(name);
    if (at == metrics.end()) continue;
    const NamedMetric* const known = find_metric(name);
    table.add({name, metric_cell(name, at->second), known ? known->meaning : ""});
  }
  std::vector<std::string> lines = table.lines("");
  lines.erase(lines.begin());  // the head
  return lines;
}

std::vector<const Trial*> pareto_front(const std::vector<Trial>& trials, const std::vector<std::string>& objectives) {
  struct Entry {
    const Trial* trial;
    std::vector<double> values;
  };
  std::vector<Entry> entries;
  for (const Trial& trial : trials) {
    if (trial.measurement() == nullptr || !trial.verified) continue;
    Entry entry{&trial, {}};
    for (const std::string& name : objectives)
      if (const auto value = Objective{name}(*trial.measurement())) entry.values.push_back(*value);
    if (entry.values.size() == objectives.size()) entries.push_back(std::move(entry));
  }
  // In this order only an earlier entry can be at least as good in everything.
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.values < b.values; });
  std::vector<const Entry*> kept;
  for (const Entry& entry : entries)
    if (std::none_of(kept.begin(), kept.end(), [&](const Entry* other) {
          return std::equal(entry.values.begin(), entry.values.end(), other->values.begin(), std::greater_equal());
        }))
      kept.push_back(&entry);
  std::vector<const Trial*> front;
  for (const Entry* const entry : kept) front.push_back(entry->trial);
  return front;
}

std::string pareto_table(const std::vector<Trial>& trials, const std::vector<std::string>& objectives) {
  const std::vector<const Trial*> front = pareto_front(trials, objectives);
  if (front.empty()) return fmt::format("no trial knows all of {}\n", fmt::join(objectives, ", "));
  std::vector<Table::Column> columns;
  for (const std::string& name : objectives) columns.emplace_back(Objective{name}.metric());
  columns.emplace_back("configuration");
  Table table(std::move(columns));
  for (const Trial* const trial : front) {
    std::vector<Cell> cells;
    for (const std::string& name : objectives)
      cells.push_back(Cell::right(format_objective(name, *Objective{name}.value(*trial->measurement()))));
    cells.emplace_back(trial->configuration.text());
    table.add(std::move(cells));
  }
  return fmt::format("front     of {}: {} that no other beats in all\n{}", fmt::join(objectives, " and "),
                     plural(front.size(), "configuration"), table.text());
}

}  // namespace tuner::cli
