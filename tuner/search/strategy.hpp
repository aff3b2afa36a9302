#pragma once
/// Ask and tell: a strategy proposes valid configurations of an enumerated space and learns what became of them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/enumerated_space.hpp>

namespace tuner::search {

/// What became of one proposal.
struct Observation {
  EnumeratedSpace::Index index = 0;
  std::optional<double> objective;         ///< smaller is better; nothing: it failed
  bool invalid = false;                    ///< failed before it ran (compile error, device limit)
  std::map<std::string, double> features;  ///< known from the compiler: "registers", "spill_bytes", "occupancy", …
};

/// Never proposes a configuration twice; accepts observations in any order and of configurations it did not
/// propose (resumed sessions, other devices).
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to \p n new configurations; fewer only when the space is nearly exhausted, none when it is. Must not wait
  /// for observations of earlier proposals.
  virtual std::vector<EnumeratedSpace::Index> propose(std::size_t n) = 0;
  virtual void learn(std::span<const Observation> observations) = 0;
  /// The model's probability that some configuration not yet known is better than the best by at least the share
  /// \p factor (0.01: 1%); nothing when the strategy has no model or has seen too little.
  virtual std::optional<double> improvement_probability(double factor) {
    static_cast<void>(factor);
    return std::nullopt;
  }
  /// Results of the same kernel at another size or on another device: a prior, never counted as known. Only their
  /// order and ratios matter. \p weight: trust relative to a measurement, 0..1. Strategies without a model ignore it.
  virtual void seed_prior(std::span<const Observation> observations, double weight) {
    static_cast<void>(observations);
    static_cast<void>(weight);
  }
};

struct StrategyOptions {
  std::uint64_t seed = 0;
  std::optional<std::size_t> expected_trials;  ///< the budget, when it is known
  std::map<std::string, double> values;        ///< options by name; see describe()
};

/// \p space must outlive the strategy. Throws std::invalid_argument for an unknown name or option, with a suggestion.
std::unique_ptr<Strategy> make_strategy(std::string_view name, const EnumeratedSpace& space,
                                        const StrategyOptions& options);

struct StrategyInfo {
  std::string name;
  std::string summary;                    ///< one line
  std::string source;                     ///< paper
  std::map<std::string, double> options;  ///< defaults
};
std::span<const StrategyInfo> strategies();

}  // namespace tuner::search
