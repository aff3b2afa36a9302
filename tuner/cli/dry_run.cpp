#include <tuner/cli/dry_run.hpp>

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tuner/cli/format.hpp>
#include <tuner/cli/table.hpp>

namespace tuner::cli {
namespace {

std::string values_text(const TuningParameter& parameter) {
  std::string text;
  for (const Value& value : parameter.values) text += (text.empty() ? "" : " ") + value.text();
  return text;
}

}  // namespace

std::string space_text(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  std::string text = fmt::format("{}  {}  on {}\n\n", spec.name, size.text(), device.name);
  Table parameters({{"parameter"}, {"count", Table::Align::right}, {"values"}});
  for (const TuningParameter& one : spec.space.parameters())
    parameters.add({one.name, std::to_string(one.values.size()), values_text(one)});
  text += parameters.text() + '\n';
  Table constraints({{"constraint"}, {"holds when"}});
  for (const Constraint& one : spec.space.constraints()) constraints.add({one.name, one.predicate.text()});
  constraints.add({"(device)", "block, grid and shared memory fit the device's limits"});
  text += constraints.text() + '\n';

  const auto start = std::chrono::steady_clock::now();
  const std::size_t valid = enumerate(spec, size, device.limits).size();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  text += fmt::format("{} combinations, {} valid (enumerated in {})\n", format_count(spec.space.product()),
                      format_count(static_cast<double>(valid)), format_ns(seconds * 1e9));
  return text;
}

Json json_space(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  Json parameters = Json::array(), constraints = Json::array();
  for (const TuningParameter& one : spec.space.parameters()) {
    Json values = Json::array();
    for (const Value& value : one.values) values.push_back(to_json(value));
    parameters.push_back({{"name", one.name}, {"values", values}});
  }
  for (const Constraint& one : spec.space.constraints())
    constraints.push_back({{"name", one.name}, {"predicate", one.predicate.text()}});
  return {{"problem", to_json(size)},        {"device", device.key.text()},
          {"parameters", parameters},        {"constraints", constraints},
          {"product", spec.space.product()}, {"valid", enumerate(spec, size, device.limits).size()}};
}

}  // namespace tuner::cli
