#include <tuner/cli/print/metrics.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include <fmt/ranges.h>  // join, since fmt 11

#include <tuner/core/device/metric.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner::cli {
namespace {

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

}  // namespace

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
