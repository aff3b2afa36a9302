#pragma once
/// Sessions without devices, and with a database in memory, for tests.

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/session/wisdom/trial_store.hpp>

#include <tests/support/testing.hpp>

#include <tests/support/session_fakes.hpp>

namespace tuner::testing {

class TuneSession : public ::testing::Test {
 protected:
  struct Warnings final : Observer {
    void on_warning(std::string_view message) override { texts.emplace_back(message); }
    std::vector<std::string> texts;
  };

  SessionResult run(FakeEvaluator& evaluator, Observer* observer = nullptr) {
    options_.strategy = "exhaustive";
    return run_auto(evaluator, observer);
  }
  /// In a new database, which has the trials earlier_ of an interrupted session.
  SessionResult run_auto(FakeEvaluator& evaluator, Observer* observer = nullptr) {
    database_.emplace(cache::Database::in_memory());
    {
      TrialStore before = store();
      for (const Trial& trial : earlier_) before.append(trial);
    }
    const cache::Context context = context_of(spec_, size_, device_, options_.objective);
    for (const Configuration& one : crashed_)
      database_->quarantine(context.device, context.kernel, context.problem, one.text(), "illegal address");
    TrialStore now = store();
    return run_session(spec_, size_, device_, evaluator, &now, options_, observer ? observer : &warnings_);
  }
  TrialStore store() {
    return {*database_, spec_, size_, device_, {.objective = options_.objective, .decides = !options_.unverified}};
  }
  /// The last of each configuration.
  std::vector<Trial> stored() { return store().resume(); }
  std::string_view stored_kind(const Configuration& configuration) {
    for (const Trial& trial : stored())
      if (trial.configuration == configuration) return kind(trial.outcome);
    return "none";
  }
  std::string stored_best() {
    const std::vector<cache::BestRecord> best = cache::best_rows(*database_);
    return best.empty() ? "none" : best.front().configuration;
  }
  bool is_done() {
    for (const cache::SessionRecord& session : cache::sessions(*database_))
      if (session.trials > 0 && session.finished_ms) return true;
    return false;
  }

  KernelSpec spec_ = small_kernel();
  const ProblemSize size_ = small_problem();
  Device device_ = some_device();
  const Configuration optimum_{{"block", 128}, {"unroll", 2}}, rival_{{"block", 128}, {"unroll", 1}};
  const Configuration first_{{"block", 256}, {"unroll", 1}};  ///< 18% slower than the optimum
  SessionOptions options_;
  std::vector<Trial> earlier_;
  std::set<Configuration> crashed_;
  std::optional<cache::Database> database_;
  Warnings warnings_;
};

}  // namespace tuner::testing
