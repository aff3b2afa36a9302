#include <tuner/cli/dry_run.hpp>

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/cli/table.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

std::string values_text(const TuningParameter& parameter) {
  std::string text;
  for (const Value& value : parameter.values) text += (text.empty() ? "" : " ") + value.text();
  return text;
}

struct Counted {
  std::optional<std::size_t> valid;  // nothing: the count was stopped
  std::string stopped;               // how far it came
};

Counted count_valid(const KernelSpec& spec, const ProblemSize& size, const Device& device, const StopHook& stop) {
  try {
    return {enumerate(spec, size, device.limits, stop).size(), {}};
  } catch (const EnumerationStopped& stopped) {
    return {std::nullopt, stopped.what()};
  }
}

}  // namespace

std::string space_text(const KernelSpec& spec, const ProblemSize& size, const Device& device, const StopHook& stop) {
  std::string text = fmt::format("{}  {}  on {}\n\n", spec.name, size.text(), device.name);
  Table parameters({{"parameter"}, {"count", Table::Align::right}, {"values"}});
  for (const TuningParameter& one : spec.space.parameters())
    parameters.add({one.name, std::to_string(one.values.size()), values_text(one)});
  text += parameters.text() + '\n';
  Table constraints({{"constraint"}, {"holds when"}});
  for (const Constraint& one : spec.space.constraints()) constraints.add({one.name, one.predicate.text()});
  constraints.add({"(device)", "block, grid and shared memory fit the device's limits"});
  text += constraints.text() + '\n';

  const auto start = Clock::now();
  const Counted counted = count_valid(spec, size, device, stop);
  const std::string valid = counted.valid ? format_count(static_cast<double>(*counted.valid)) + " valid (enumerated in "
                                          : "not all looked at: " + counted.stopped + " (stopped after ";
  text += fmt::format("{} combinations, {}{})\n", format_count(spec.space.product()), valid,
                      format_ns(seconds_since(start) * 1e9));
  return text;
}

Json json_space(const KernelSpec& spec, const ProblemSize& size, const Device& device, const StopHook& stop) {
  Json parameters = Json::array(), constraints = Json::array();
  for (const TuningParameter& one : spec.space.parameters()) {
    Json values = Json::array();
    for (const Value& value : one.values) values.push_back(to_json(value));
    parameters.push_back({{"name", one.name}, {"values", values}});
  }
  for (const Constraint& one : spec.space.constraints())
    constraints.push_back({{"name", one.name}, {"predicate", one.predicate.text()}});
  Json space{{"problem", to_json(size)},
             {"device", device.key.text()},
             {"parameters", parameters},
             {"constraints", constraints},
             {"product", spec.space.product()}};
  const Counted counted = count_valid(spec, size, device, stop);
  space["valid"] = counted.valid ? Json(*counted.valid) : Json();
  if (!counted.valid) space["stopped"] = counted.stopped;
  return space;
}

}  // namespace tuner::cli
