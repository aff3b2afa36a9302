#include <tuner/cli/dry_run.hpp>

#include <optional>

#include <fmt/format.h>

#include <tuner/cli/table.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/core/format.hpp>

namespace tuner::cli {
namespace {

Table parameters_table(const SearchSpace& space) {
  Table table({named("parameter", "name"), people("count"), "values"});
  for (const TuningParameter& one : space.parameters()) {
    Cell values{Json::array(), ""};
    for (const Value& value : one.values) {
      values.value.push_back(to_json(value));
      values.text += (values.text.empty() ? "" : " ") + value.text();
    }
    table.add({one.name, one.values.size(), std::move(values)});
  }
  return table;
}

Table constraints_table(const SearchSpace& space) {
  Table table({named("constraint", "name"), named("holds when", "predicate")});
  for (const Constraint& one : space.constraints()) table.add({one.name, one.predicate.text()});
  return table;
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
  text += parameters_table(spec.space).text() + '\n';
  Table constraints = constraints_table(spec.space);
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
  Json space{{"problem", to_json(size)},
             {"device", device.key.text()},
             {"parameters", parameters_table(spec.space).json()},
             {"constraints", constraints_table(spec.space).json()},
             {"product", spec.space.product()}};
  const Counted counted = count_valid(spec, size, device, stop);
  space["valid"] = counted.valid ? Json(*counted.valid) : Json();
  if (!counted.valid) space["stopped"] = counted.stopped;
  return space;
}

}  // namespace tuner::cli
