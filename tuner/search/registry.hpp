#pragma once
/// The table of strategies: one function a strategy, each in its own file, and how a strategy's options (a struct with
/// defaults and a visit() that names them and their ranges) meet the options by name. Internal to the room.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <tuner/search/basic_strategy.hpp>

namespace tuner::search {

struct StrategyEntry {
  StrategyInfo info;
  std::unique_ptr<Strategy> (*make)(const EnumeratedSpace& space, const StrategyOptions& options);
};

/// For strategies without options.
struct NoOptions {
  void visit(auto&&) {}
};

/// \p Made: a strategy with a type Options, made from a space, the common options and its own.
template <typename Made>
StrategyEntry entry_of(std::string name, std::string summary, std::string source) {
  StrategyEntry entry{{std::move(name), std::move(summary), std::move(source), {}}, nullptr};
  typename Made::Options{}.visit([&](const char* option, auto& value, double minimum, double maximum) {
    using Value = std::remove_reference_t<decltype(value)>;
    const auto type = std::is_same_v<Value, bool>       ? OptionInfo::Type::boolean
                      : std::is_floating_point_v<Value> ? OptionInfo::Type::real
                                                        : OptionInfo::Type::whole;
    entry.info.options.push_back({option, type, static_cast<double>(value), minimum, maximum});
  });
  entry.make = [](const EnumeratedSpace& space, const StrategyOptions& options) -> std::unique_ptr<Strategy> {
    typename Made::Options own;
    own.visit([&](const char* option, auto& value, double, double) {
      const auto given = options.values.find(option);
      // make_strategy() has checked that it fits.
      if (given != options.values.end()) value = static_cast<std::remove_reference_t<decltype(value)>>(given->second);
    });
    return std::make_unique<Made>(space, options, own);
  };
  return entry;
}

StrategyEntry auto_entry();
StrategyEntry exhaustive_entry();
StrategyEntry random_entry();
StrategyEntry simulated_annealing_entry();
StrategyEntry greedy_ils_entry();
StrategyEntry mls_entry();
StrategyEntry genetic_algorithm_entry();
StrategyEntry diff_evo_entry();
StrategyEntry pso_entry();
StrategyEntry basin_hopping_entry();
StrategyEntry bandit_entry();
StrategyEntry bayes_opt_entry();

}  // namespace tuner::search
