#pragma once
/// Where a session keeps its trials: a seam, so that sessions run without a database in tests. DatabaseStore
/// (database_store.hpp) is the real one.

#include <optional>
#include <vector>

#include <tuner/core/outcome.hpp>

namespace tuner {

class TrialStore {
 public:
  virtual ~TrialStore() = default;
  /// Finished trials of an interrupted session with the same kernel, device, problem and conditions.
  virtual std::vector<Trial> resume() = 0;
  /// Why \p configuration must not be run again on this device (it crashed); nothing when it may.
  virtual std::optional<std::string> quarantined(const Configuration& configuration) = 0;
  /// Keeps \p trial; may batch, and never blocks a session for long. Problems become warnings, not exceptions.
  virtual void append(const Trial& trial) = 0;
  /// Flushes. \p best, when given, is verified and becomes the stored best. \p done: the session was not
  /// interrupted and need not be resumed.
  virtual void finish(const Trial* best, bool done) = 0;
};

}  // namespace tuner
