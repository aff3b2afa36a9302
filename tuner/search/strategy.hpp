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
  std::optional<Resources> resources = {};  ///< what the compiler told, if it did
  bool withdrawn = false;                   ///< taken back before it ran: it may be proposed again
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
};

/// What a strategy with a model can do besides.
class Foresight {
 public:
  virtual ~Foresight() = default;
  /// The compiler is done with a proposal; it waits for the device.
  virtual void compiled(EnumeratedSpace::Index index, const Resources& resources) = 0;
  /// Of the compiled proposals that wait for the device, which ones run, the most promising first; what is left out is
  /// no longer worth running. Nothing: no opinion, all run as proposed.
  virtual std::optional<std::vector<EnumeratedSpace::Index>> reconsider(
      std::span<const EnumeratedSpace::Index> waiting) = 0;
  /// The probability that some configuration not yet known is better than the best by at least the share \p factor
  /// (0.01: 1%); nothing when too little was seen.
  virtual std::optional<double> improvement_probability(double factor) = 0;
  /// Results of the same kernel at another size or on another device: a prior, never counted as known. Only their
  /// order and ratios matter. \p weight: trust relative to a measurement, 0..1.
  virtual void seed_prior(std::span<const Observation> observations, double weight) = 0;
};

/// That of \p strategy; null when it has none.
inline Foresight* foresight(Strategy& strategy) { return dynamic_cast<Foresight*>(&strategy); }

struct StrategyOptions {
  std::uint64_t seed = 0;
  std::optional<std::size_t> expected_trials;  ///< the budget, when it is known
  std::map<std::string, double> values;        ///< options by name; see StrategyInfo
  /// Proposed before anything else, in this order.
  std::vector<EnumeratedSpace::Index> first;
};

/// \p space must outlive the strategy. Throws std::invalid_argument for an unknown name (with a suggestion), and as
/// check_options().
std::unique_ptr<Strategy> make_strategy(std::string_view name, const EnumeratedSpace& space,
                                        const StrategyOptions& options);

/// Throws std::invalid_argument for an unknown strategy or option, with a suggestion, and for a value that the option
/// cannot have.
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
  bool learns = true;  ///< its proposals depend on results: those made early are worse
  /// For make_strategy(), which checks the options first.
  std::unique_ptr<Strategy> (*make)(const EnumeratedSpace& space, const StrategyOptions& options) = nullptr;
};
std::span<const StrategyInfo> strategies();

/// That of strategies() called \p name. Throws std::invalid_argument for an unknown one, with a suggestion.
const StrategyInfo& strategy_info(std::string_view name);

}  // namespace tuner::search
