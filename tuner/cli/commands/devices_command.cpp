#include <tuner/cli/commands/program.hpp>

#include <fmt/ranges.h>

#include <tuner/backend/traits.hpp>
#include <tuner/cli/input/kernel_options.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/observe/chip_metrics.hpp>
#include <tuner/backend/cuda/run/device_report.hpp>
#endif

namespace tuner::cli {
namespace {

#ifdef TUNER_HAS_CUDA
Facts gpu_facts(const Device& device) { return cuda::device_report(device.index); }

template <typename T>
T taken(std::variant<T, Unavailable> result) {
  if (const auto* const why = std::get_if<Unavailable>(&result)) throw Error(why->reason);
  return std::get<T>(std::move(result));
}

std::string chips_to_name() {
  return fmt::format("Name a chip with --chip, one of {}.", fmt::join(taken(cuda::known_chips()), ", "));
}

/// The chip that --chip or --device names, else that of a GPU of this machine.
std::unique_ptr<cuda::ChipMetrics> chosen_chip(const Given& given) {
  const std::string chip = given.text("chip"), device = given.text("device");
  if (!chip.empty()) {
    if (!device.empty()) throw UsageError("--chip and --device both name a chip: give one of them");
    return taken(cuda::chip_metrics(chip));
  }
  const DeviceChoice choice = choose_device(device.empty() ? "auto" : wanted_device(given));
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

Table own_table(const cuda::ChipMetrics& chip) {
  Table table({named("metric", "name"), "kind", "unit", "meaning"});
  for (const cuda::ChipMetric& metric : chip.all()) table.add({metric.name, metric.kind, metric.unit, metric.meaning});
  return table;
}

int list_metrics(const Given& given) {
  const auto chip = chosen_chip(given);
  const std::string forbidden = given.text("chip").empty() ? cuda::why_not_permitted() : std::string();
  Answer answer;
  answer.data("chip", chip->chip())
      .data("library", chip->source())
      .text("{}, as {} knows it\n\n", chip->chip(), chip->source())
      .rows("metrics", named_table(*chip))
      .text("\nSets\n")
      .rows("sets", sets_table(*chip))
      .data("why_not_permitted", forbidden);
  if (given.flag("all")) {
    answer.text("\nThe chip's own\n").rows("own", own_table(*chip));
    answer.text("\nA name of the chip's own is followed by how the values of its units become one:\n");
    Json roll_ups;
    for (const char* const kind : {"counter", "ratio", "throughput"}) {
      const auto names = chip->roll_ups(kind);
      answer.text("  {:10}  {}\n", kind, fmt::join(names, " "));
      roll_ups[kind] = names;
    }
    answer.data("roll_ups", roll_ups);
  }
  if (!forbidden.empty()) answer.text("\nThey cannot be counted now: {}.\n", forbidden);
  return answer.print(given);
}
#else
Facts gpu_facts(const Device& device) { return {{"name", device.name}}; }  // not reached: no GPU is listed

int list_metrics(const Given&) {
  throw Error("this program was built without the CUDA headers: hardware counters need them");
}
#endif

Facts host_facts(const Device& device) {
  return {{"CPU", device.key.cpu},
          {"cores", std::to_string(device.key.sm_count)},
          {"last-level cache", format_bytes(device.key.l2_bytes)},
          {"system", device.environment.driver},
          {"compiler", device.environment.compiler}};
}

void add_ceilings(const Device& device, Facts& facts) {
  if (device.ceilings.read > 0) facts.emplace_back("reads measured", format_rate(device.ceilings.read));
  if (device.ceilings.write > 0) facts.emplace_back("writes measured", format_rate(device.ceilings.write));
  if (device.ceilings.copy > 0)
    facts.emplace_back("copies measured", format_rate(device.ceilings.copy) + " (read plus written)");
  if (device.peaks.launch_ns > 0)
    facts.emplace_back("floor measured", format_ns(device.peaks.launch_ns) + " (a launch that does nothing)");
}

int run_devices(const Given& given) {
  if (given.flag("metrics")) {
    given.refuse({"measure"}, "with --metrics");
    return list_metrics(given);
  }
  given.refuse({"device", "chip", "all"}, "without --metrics");
  const std::string no_gpu = why_no_gpu();
  Answer answer;
  std::vector<Device> all = list_devices();
  for (Device& device : all) {
    if (given.flag("measure")) measure_ceilings(device);
    const bool is_gpu = traits(device.key).is_gpu;
    answer.text("{}  {}\n", is_gpu ? std::to_string(device.index) : device.key.backend, device.name);
    auto about = is_gpu ? gpu_facts(device) : host_facts(device);
    add_ceilings(device, about);
    about.emplace_back("key", device.key.text());
    answer.text(facts(about, "  ") + '\n');
  }
  if (!no_gpu.empty()) answer.text("No GPU: {}\n", no_gpu);
  return answer.data("devices", all).data("why_no_gpu", no_gpu).print(given);
}

}  // namespace

Command devices_command() {
  Options options(
      "Usage: tune devices [--measure] [--json]\n"
      "       tune devices --metrics [options]\n"
      "The devices that can run kernels here, with their limits, or the metrics that a\n"
      "GPU counts: the textbooks' names with today's, and with --all the chip's own,\n"
      "some thousands. A pass is one more run of the kernel. Metrics need CUPTI (the\n"
      "CUDA toolkit). --chip needs no GPU.",
      "  tune devices --metrics --chip GH100\n"
      "  tune devices --metrics --chip GA102 --all | grep dram\n"
      "  tune devices --metrics --chip GH100 --json\n");
  options.flag("measure", "also measure what each device streams, and a launch that does nothing");
  options.flag("metrics", "hardware counters and energy, with their sets");
  options.text("chip", "GH100", "a chip by its name");
  options.add("device all json");
  return {options, run_devices};
}

}  // namespace tuner::cli
