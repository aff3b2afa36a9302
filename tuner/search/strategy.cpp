#include <tuner/search/strategy.hpp>

#include <cmath>
#include <sstream>
#include <stdexcept>

#include <tuner/core/values/message_text.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {
namespace {

/// The entry of \p all called \p name. Throws std::invalid_argument: \p complaint, a suggestion, \p introduction, all
/// names.
template <typename Named>
const Named& entry_of_name(std::string_view name, std::span<const Named> all, const std::string& complaint,
                           const char* introduction) {
  std::vector<std::string> names;
  std::string list;
  for (const Named& one : all) {
    if (one.name == name) return one;
    names.push_back(one.name);
    list += (list.empty() ? introduction : ", ") + one.name;
  }
  throw std::invalid_argument(complaint + suggestion(name, names) + list);
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
  static const std::vector<StrategyInfo> all{auto_entry(),
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
  return all;
}

const StrategyInfo& strategy_info(std::string_view name) {
  return entry_of_name(name, strategies(), "there is no strategy '" + std::string(name) + '\'', "; there are ");
}

void check_options(std::string_view strategy, const std::map<std::string, double>& values) {
  const std::span<const OptionInfo> options = strategy_info(strategy).options;
  for (const auto& [name, value] : values) {
    const std::string complaint = "strategy '" + std::string(strategy) + "' has no option '" + name + '\'';
    check_value(entry_of_name(name, options, complaint, "; it has "), value);
  }
}

std::unique_ptr<Strategy> make_strategy(std::string_view name, const EnumeratedSpace& space,
                                        const StrategyOptions& options) {
  check_options(name, options.values);
  return strategy_info(name).make(space, options);
}

}  // namespace tuner::search
