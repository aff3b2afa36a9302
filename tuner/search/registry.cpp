#include <tuner/search/registry.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include <tuner/core/suggestion.hpp>

namespace tuner::search {

namespace {

const std::vector<StrategyEntry>& table() {
  static const std::vector<StrategyEntry> entries{auto_entry(),
                                                  exhaustive_entry(),
                                                  random_entry(),
                                                  simulated_annealing_entry(),
                                                  greedy_ils_entry(),
                                                  mls_entry(),
                                                  genetic_algorithm_entry(),
                                                  diff_evo_entry(),
                                                  pso_entry(),
                                                  basin_hopping_entry(),
                                                  bandit_entry(),
                                                  bayes_opt_entry()};
  return entries;
}

const StrategyEntry& entry_called(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const StrategyEntry& entry : table()) {
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
    list += (list.empty() ? "" : ", ") + entry.info.name;
  }
  throw std::invalid_argument("there is no strategy '" + std::string(name) + "'" + suggestion(name, names) +
                              "; there are " + list);
}

void check_value(const OptionInfo& option, double value) {
  const bool whole = option.type == OptionInfo::Type::real || value == std::floor(value);
  if (value >= option.minimum && value <= option.maximum && whole) return;
  std::ostringstream message;
  message << "option '" << option.name << "' is " << (option.type == OptionInfo::Type::real ? "a" : "a whole")
          << " number from " << option.minimum << " to " << option.maximum << ", not " << value;
  throw std::invalid_argument(message.str());
}

}  // namespace

std::span<const StrategyInfo> strategies() {
  static const std::vector<StrategyInfo> infos = [] {
    std::vector<StrategyInfo> out;
    for (const StrategyEntry& entry : table()) out.push_back(entry.info);
    return out;
  }();
  return infos;
}

void check_options(std::string_view strategy, const std::map<std::string, double>& values) {
  const std::vector<OptionInfo>& options = entry_called(strategy).info.options;
  for (const auto& [name, value] : values) {
    const auto at = std::find_if(options.begin(), options.end(),
                                 [&, name = name](const auto& option) { return option.name == name; });
    if (at != options.end()) {
      check_value(*at, value);
      continue;
    }
    std::vector<std::string> names;
    std::string list;
    for (const OptionInfo& option : options) {
      names.push_back(option.name);
      list += (list.empty() ? "; it has " : ", ") + option.name;
    }
    throw std::invalid_argument("strategy '" + std::string(strategy) + "' has no option '" + name + "'" +
                                suggestion(name, names) + list);
  }
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const EnumeratedSpace& space,
                                        const StrategyOptions& options) {
  check_options(name, options.values);
  return entry_called(name).make(space, options);
}

}  // namespace tuner::search
