#pragma once
/// The table of strategies, with one function for each. A strategy's options are a struct with a function all(), which
/// connects them with options given by name. Internal to the room.

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tuner/search/basic_strategy.hpp>

namespace tuner::search {

/// An option of a strategy.
template <typename T>
struct Option {
  const char* name;
  T value;  ///< the preset, until another value is given
  double minimum;
  double maximum;

  operator T() const { return value; }
};

/// For strategies without options.
struct NoOptions {
  auto all() { return std::tuple(); }
};

template <typename T>
void list(std::vector<OptionInfo>& into, const Option<T>& option) {
  const auto type = std::is_same_v<T, bool>       ? OptionInfo::Type::boolean
                    : std::is_floating_point_v<T> ? OptionInfo::Type::real
                                                  : OptionInfo::Type::whole;
  into.push_back({option.name, type, static_cast<double>(option.value), option.minimum, option.maximum});
}

/// make_strategy() has checked \p values.
template <typename T>
void set(Option<T>& option, const std::map<std::string, double>& values) {
  if (const auto given = values.find(option.name); given != values.end()) option.value = static_cast<T>(given->second);
}

/// \p Made: a strategy with a type Options. It is constructed from a space, the common options and its own options.
template <typename Made>
StrategyInfo entry_of(std::string name, std::string summary, std::string source, bool learns = true) {
  StrategyInfo entry{std::move(name), std::move(summary), std::move(source), {}, learns, nullptr};
  typename Made::Options presets;
  std::apply([&](const auto&... option) { (list(entry.options, option), ...); }, presets.all());
  entry.make = [](const EnumeratedSpace& space, const StrategyOptions& options) -> std::unique_ptr<Strategy> {
    typename Made::Options own;
    std::apply([&](auto&... option) { (set(option, options.values), ...); }, own.all());
    return std::make_unique<Made>(space, options, own);
  };
  return entry;
}

StrategyInfo auto_entry();
StrategyInfo exhaustive_entry();
StrategyInfo random_entry();
StrategyInfo simulated_annealing_entry();
StrategyInfo greedy_ils_entry();
StrategyInfo mls_entry();
StrategyInfo genetic_algorithm_entry();
StrategyInfo diff_evo_entry();
StrategyInfo pso_entry();
StrategyInfo basin_hopping_entry();
StrategyInfo bandit_entry();
StrategyInfo bayes_opt_entry();

}  // namespace tuner::search
