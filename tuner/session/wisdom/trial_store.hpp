#pragma once
/// A session's trials in the user's database.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cache/query/session.hpp>

#include <tuner/core/device/device.hpp>
#include <tuner/core/result/objective.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/problem_size.hpp>
#include <tuner/session/wisdom/spent.hpp>

namespace tuner {

struct KernelSpec;

struct StoreOptions {
  cache::SessionSource session = {};
  std::string conditions = "{}";  ///< how it is measured, as JSON; trials made under other conditions are not reused
  Objective objective = {};
  bool resume = true;  ///< false: measure everything again
  /// Every trial needs these metrics. Trials without one of them are measured again.
  std::vector<std::string> metrics = {};
  bool decides = true;  ///< false: no best configuration is stored, because only part of a space was tuned
};

class TrialStore {
 public:
  /// \p database must outlive the store.
  TrialStore(cache::Database& database, const KernelSpec& spec, const ProblemSize& size, const Device& device,
             StoreOptions options);

  /// Finished trials of an interrupted session with the same kernel, device, problem and conditions.
  std::vector<Trial> resume();
  /// Why \p configuration must not run again on this device: it crashed. nullopt when it may run.
  std::optional<std::string> quarantined(const Configuration& configuration);
  /// The stored best, if everything is measured again: it should be measured early.
  std::optional<Configuration> standing() const;
  /// The effort of the stored best, whose search is continued; `none` if everything is measured again.
  Effort resumed_effort() const { return resumed_effort_; }
  bool decides() const { return options_.decides; }
  /// For a standing() that is not valid any more: any other may take its place.
  void give_up_standing() { standing_.reset(); }
  /// Why \p configuration, which worked here, must not be named best: it crashed since, or for a problem like this.
  std::optional<std::string> objection(const Configuration& configuration);
  /// Stores \p trial, perhaps later with others. Never blocks a session for long. Problems become warnings.
  void append(const Trial& trial);
  /// Flushes. \p best, if not null, is verified and becomes the stored best. If the standing() one was not measured
  /// again, or, in a resumed session, is faster, it stays; then returns its configuration. \p spent: of a session that
  /// need not be resumed; nothing if it was interrupted.
  std::optional<std::string> finish(const Trial* best, std::optional<Spent> spent,
                                    const cache::BestOrigin& origin = {});

 private:
  bool lacks_metrics(const Trial& trial) const;
  using Reasons = std::map<std::string, std::string>;  // by the text of a configuration
  /// The configurations that must not run for this problem now. nullopt: the database could not be asked.
  std::optional<Reasons> in_quarantine();
  /// The same as it was when the database first answered.
  const std::optional<Reasons>& known_quarantine();

  cache::Database& database_;
  cache::SessionKey key_;
  StoreOptions options_;
  std::optional<Reasons> quarantine_;
  std::optional<cache::BestRecord> standing_;  // until it is measured again
  Effort resumed_effort_ = Effort::none;
  std::unique_ptr<cache::SessionWriter> writer_;
};

}  // namespace tuner
