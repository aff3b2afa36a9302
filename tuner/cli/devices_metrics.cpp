#include <tuner/cli/commands.hpp>

#include <fmt/format.h>

#include <tuner/backend/cuda/chip_metrics.hpp>
#include <tuner/backend/cuda/profiling_permission.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/options.hpp>
#include <tuner/cli/table.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/metric.hpp>
#include <tuner/session/backends.hpp>

namespace tuner::cli {
namespace {

template <typename T>
T taken(std::variant<T, Unavailable> result) {
  if (const auto* const why = std::get_if<Unavailable>(&result)) throw Error(why->reason);
  return std::get<T>(std::move(result));
}

std::string chips_to_name() {
  return fmt::format("Name a chip with --chip, one of {}.", fmt::join(taken(cuda::known_chips()), ", "));
}

/// The chip that is asked for. Sets \p here if it is in this machine.
std::unique_ptr<cuda::ChipMetrics> chosen_chip(const Given& given, bool& here) {
  const std::string chip = given.text("chip"), device = given.text("device");
  here = chip.empty();
  if (!here) {
    if (!device.empty()) throw UsageError("--chip and --device both name a chip: give one of them");
    return taken(cuda::chip_metrics(chip));
  }
  const DeviceChoice choice = choose_device(device.empty() ? "auto" : device);
  if (!traits(choice.device.key).is_gpu) {
    const std::string none = why_no_gpu();
    throw Error(fmt::format("there are hardware counters on a GPU only{}. {}",
                            none.empty() ? "" : ", and there is no GPU to ask: " + none, chips_to_name()));
  }
  return taken(cuda::chip_metrics(taken(cuda::chip_of_device(choice.device.index))));
}

/// A counter of \p chip for each term; empty when it lacks one.
std::vector<std::string> counters_of(const cuda::ChipMetrics& chip, const NamedMetric& metric) {
  std::vector<std::string> counters;
  for (const MetricTerm& term : metric.terms) {
    counters.push_back(chip.first_of(term.counters));
    if (counters.back().empty()) return {};
  }
  return counters;
}

std::string today(const NamedMetric& metric, const std::vector<std::string>& counters) {
  if (metric.source == MetricSource::sensor) return "(the card's energy sensor)";
  if (metric.source == MetricSource::outputs) return "(the outputs and the reference)";
  if (counters.empty()) return "(not on this chip)";
  std::string text;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    text += i > 0 ? " + " : "";
    if (metric.terms[i].factor != 1) text += fmt::format("{:.4g} * ", metric.terms[i].factor);
    text += counters[i];
  }
  return text;
}

/// The metrics of a set that the chip has.
std::vector<std::string> metrics_of(const cuda::ChipMetrics& chip, const MetricSet& set) {
  std::vector<std::string> metrics;
  for (const std::string_view name : set.metrics) {
    const NamedMetric* const named = find_metric(name);  // null: a name of the chip's own
    if (named != nullptr ? !counters_of(chip, *named).empty() : chip.has(std::string(name))) metrics.emplace_back(name);
  }
  return metrics;
}

Table named_table(const cuda::ChipMetrics& chip) {
  Table table({named("metric", "name"), "unit", "meaning", data("available"), named("today's name", "counters")});
  for (const NamedMetric& metric : named_metrics()) {
    const std::vector<std::string> counters = counters_of(chip, metric);
    Json terms = Json::array();
    for (std::size_t i = 0; i < counters.size(); ++i)
      terms.push_back({{"counter", counters[i]}, {"factor", metric.terms[i].factor}});
    table.add({metric.name, symbol(metric.unit), metric.meaning,
               metric.source != MetricSource::counters || !counters.empty(), Cell(terms, today(metric, counters))});
  }
  return table;
}

Table sets_table(const cuda::ChipMetrics& chip) {
  Table table({named("set", "name"), "passes", "metrics"});
  for (const MetricSet& set : metric_sets()) {
    const std::vector<std::string> metrics = metrics_of(chip, set);
    table.add(
        {set.name, chip.passes(taken(chip.plan(metrics))), Cell(metrics, fmt::format("{}", fmt::join(metrics, ", ")))});
  }
  return table;
}

/// The chip's own.
Table own_table(const cuda::ChipMetrics& chip) {
  Table table({named("metric", "name"), "kind", "unit", "meaning"});
  for (const cuda::ChipMetric& metric : chip.all()) table.add({metric.name, metric.kind, metric.unit, metric.meaning});
  return table;
}

}  // namespace

int list_metrics(const Given& given) {
  bool here = false;
  const auto chip = chosen_chip(given, here);
  const std::string forbidden = here ? cuda::why_not_permitted() : std::string();
  const Table metrics = named_table(*chip), sets = sets_table(*chip);
  Json document{{"chip", chip->chip()},
                {"library", chip->source()},
                {"metrics", metrics.json()},
                {"sets", sets.json()},
                {"why_not_permitted", forbidden}};
  std::string text =
      fmt::format("{}, as {} knows it\n\n{}\nSets\n{}", chip->chip(), chip->source(), metrics.text(), sets.text());
  if (given.flag("all")) {
    const Table own = own_table(*chip);
    document["own"] = own.json();
    text += "\nThe chip's own\n" + own.text() +
            "\nA name of the chip's own is followed by how the values of its units become one:\n";
    for (const char* const kind : {"counter", "ratio", "throughput"}) {
      document["roll_ups"][kind] = chip->roll_ups(kind);
      text += fmt::format("  {:10}  {}\n", kind, fmt::join(chip->roll_ups(kind), " "));
    }
  }
  if (!forbidden.empty()) text += fmt::format("\nThey cannot be counted now: {}.\n", forbidden);
  return answer(given, document, text);
}

}  // namespace tuner::cli
