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
#include <tuner/core/outcome.hpp>

namespace tuner::search {

/// What became of one proposal.
struct Observation {
  EnumeratedSpace::Index index = 0;
  std::optional<double> objective;          ///< smaller is better; nothing: it failed
  bool invalid = false;                     ///< failed before it ran (compile error, device limit)
  std::optional<Resources> resources = {};  ///< what the compiler told, if it did
};

/// Never proposes a configuration twice (unless it was withdrawn); accepts observations in any order and of
/// configurations it did not propose (resumed sessions, other devices).
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to \p n new configurations; fewer only when the space is nearly exhausted, none when it is. Must not wait
  /// for observations of earlier proposals.
  virtual std::vector<EnumeratedSpace::Index> propose(std::size_t n) = 0;
  virtual void learn(std::span<const Observation> observations) = 0;

  /// The compiler is done with a proposal; it waits for the device. Strategies that learn nothing from it ignore it.
  virtual void compiled(EnumeratedSpace::Index index, const Resources& resources) {
    static_cast<void>(index);
    static_cast<void>(resources);
  }
  /// Of the compiled proposals that wait for the device, which ones run, the most promising first; what is left out is
  /// no longer worth running. Nothing: no opinion, all run as proposed.
  virtual std::optional<std::vector<EnumeratedSpace::Index>> reconsider(
      std::span<const EnumeratedSpace::Index> waiting) {
    static_cast<void>(waiting);
    return std::nullopt;
  }
  /// A proposal was taken back before it ran: it may be proposed again.
  virtual void withdrawn(EnumeratedSpace::Index index) = 0;

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
