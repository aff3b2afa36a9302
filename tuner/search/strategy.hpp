#pragma once
/// A strategy proposes valid configurations of an enumerated space and learns their results.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/result/outcome.hpp>

namespace tuner {
class EnumeratedSpace;
}

namespace tuner::search {

using Index = std::uint64_t;  ///< EnumeratedSpace::Index

/// The result of one proposal.
struct Observation {
  Index index = 0;
  std::optional<double> objective;          ///< smaller is better; nullopt: it failed
  std::optional<Resources> resources = {};  ///< reported by the compiler, if it was
  bool withdrawn = false;                   ///< cancelled before it ran: it may be proposed again
};

/// Never proposes a configuration twice, unless it was withdrawn. Accepts observations in any order, also of
/// configurations that it did not propose (resumed sessions, other devices).
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// Up to \p n new configurations; fewer only when the space is nearly exhausted, none when it is. Never waits for
  /// observations of earlier proposals.
  virtual std::vector<Index> propose(std::size_t n) = 0;
  virtual void learn(std::span<const Observation> observations) = 0;
  /// Corrects StrategyOptions::expected_trials, for a budget whose trials are known only as it is spent.
  virtual void plan_for(std::size_t trials) = 0;

  // Foresight, of strategies with a model. The others do nothing and have no opinion.

  /// Reports that a proposal is compiled and waits for the device.
  virtual void compiled(Index /*index*/, const Resources& /*resources*/) {}
  /// Chooses which compiled proposals run, the most promising first; those left out are no longer worth running.
  /// nullopt: no opinion, all run in the order proposed.
  virtual std::optional<std::vector<Index>> reconsider(std::span<const Index> /*waiting*/) { return std::nullopt; }
  /// The probability that some unknown configuration beats the best by at least the share \p factor (0.01: 1%); nullopt
  /// when there are too few results.
  virtual std::optional<double> improvement_probability(double /*factor*/) { return std::nullopt; }
  /// Whether seed_prior() changes anything.
  virtual bool uses_prior() const { return false; }
  /// Results of the same kernel for another size or device: a prior, which never counts as known. Only their order and
  /// ratios matter. \p weight: trust before any result, 0..1; without trust, the prior is not used.
  virtual void seed_prior(std::span<const Observation> /*observations*/, double /*weight*/) {}
};

struct StrategyOptions {
  std::uint64_t seed = 0;
  std::optional<std::size_t> expected_trials;  ///< the budget, if it is known
  std::map<std::string, double> values;        ///< options by name; see StrategyInfo
  /// Proposed before anything else, in this order.
  std::vector<Index> first;
};

/// \p space must outlive the strategy. Throws std::invalid_argument for an unknown name, with a suggestion, and as
/// check_options().
std::unique_ptr<Strategy> make_strategy(std::string_view name, const EnumeratedSpace& space,
                                        const StrategyOptions& options);

/// Throws std::invalid_argument for an unknown strategy or option, with a suggestion, and for an impossible value.
void check_options(std::string_view strategy, const std::map<std::string, double>& values);

struct OptionInfo {
  enum class Type { whole, real, boolean };  ///< a boolean is 0 or 1
  std::string name;
  Type type = Type::real;
  double preset = 0;
  double minimum = 0;
  double maximum = 0;
};

struct StrategyInfo {
  std::string name;
  std::string summary;  ///< one line
  std::string source;   ///< paper
  std::vector<OptionInfo> options;
  bool learns = true;  ///< its proposals depend on results, so early ones are worse
  /// Use make_strategy(), which also checks the options.
  std::unique_ptr<Strategy> (*make)(const EnumeratedSpace& space, const StrategyOptions& options) = nullptr;
};
std::span<const StrategyInfo> strategies();

/// The entry called \p name. Throws std::invalid_argument for an unknown name, with a suggestion.
const StrategyInfo& strategy_info(std::string_view name);

}  // namespace tuner::search
