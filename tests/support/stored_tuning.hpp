#pragma once
/// Tunings in databases: of a kernel "axpy" for tests of what reads them, or of any.

#include <string>
#include <vector>

#include <cache/query/database.hpp>
#include <cache/query/session.hpp>

namespace tuner::test {

inline cache::SessionKey key_of(std::int64_t n, int sm_count = 132, const std::string& choices = "T=float") {
  cache::SessionKey key;
  key.kernel = {"axpy", std::string(64, 'a'), "time"};
  key.device = {"cuda cc=9.0 sm=" + std::to_string(sm_count),
                "GPU of " + std::to_string(sm_count),
                "cuda",
                90,
                sm_count,
                50 << 20,
                5120,
                232448,
                65536};
  key.environment = {"13.0", "nvrtc 13.0", "0.1.0", "Linux"};
  key.problem = {choices, {{"n", n}}};
  return key;
}

inline cache::TrialRecord trial_of(const std::string& configuration, double median_ns) {
  cache::TrialRecord trial;
  trial.configuration = configuration;
  trial.median_ns = trial.low_ns = trial.high_ns = median_ns;
  trial.samples_ns = {median_ns, median_ns};
  trial.verified = true;
  trial.times_s = {{"compile", 0.25}, {"measure", 0.5}, {"verify", 0.125}, {"wait", 100}};
  trial.created_ms = 1'790'000'000'000;
  return trial;
}

/// A tuning of these trials, the first of which is its best.
inline void record(cache::Database& database, const cache::SessionKey& key,
                   const std::vector<cache::TrialRecord>& trials, const cache::BestOrigin& origin = {}) {
  cache::SessionWriter writer(database, key);
  for (const cache::TrialRecord& trial : trials) writer.add(trial);
  writer.flush();
  writer.set_best(trials.front().configuration, origin);
  writer.finish();
}

}  // namespace tuner::test

namespace tuner::testing {

/// Stores that \p configuration is best for \p about, with samples of \p ns.
inline void store_best(cache::Database& database, const cache::Context& about, const std::string& configuration,
                       double ns = 1000, const std::string& rule = {}) {
  cache::TrialRecord trial = test::trial_of(configuration, ns);
  trial.created_ms = 0;  // now
  test::record(database, {about, ""}, {trial}, {.rule = rule});
}

}  // namespace tuner::testing
