#pragma once
/// A session's trials in the user's database.

#include <memory>
#include <string>
#include <vector>

#include <cache/session.hpp>

#include <tuner/core/device.hpp>
#include <tuner/session/tune_session.hpp>

namespace tuner {

struct StoreOptions {
  cache::SessionSource session;
  std::string conditions = "{}";  ///< how it is measured, as JSON; trials made under other conditions are not reused
  Objective objective;
  bool resume = true;  ///< false: measure everything again
  /// Every trial needs these metrics. Trials without one of them are measured again.
  std::vector<std::string> metrics;
  bool decides = true;  ///< false: no best configuration is stored, because only part of a space was tuned
};

class DatabaseStore final : public TrialStore {
 public:
  /// \p database must outlive the store.
  DatabaseStore(cache::Database& database, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                StoreOptions options);

  std::vector<Trial> resume() override;
  std::optional<std::string> quarantined(const Configuration& configuration) override;
  void append(const Trial& trial) override;
  void finish(const Trial* best, bool done) override;

 private:
  bool lacks_metrics(const Trial& trial) const;

  cache::Database& database_;
  cache::SessionKey key_;
  StoreOptions options_;
  std::map<std::string, std::string> quarantine_;  // configuration text -> reason
  std::unique_ptr<cache::SessionWriter> writer_;
};

}  // namespace tuner
