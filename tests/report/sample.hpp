#pragma once
/// Invented tunings to report, the same in every run.

#include <cstddef>
#include <string>

#include <tuner/report/page.hpp>

namespace tuner::report::test {

cache::SessionKey sample_key(const std::string& kernel = "sample");
/// A measured and verified trial, \p created_ms after the session began (sample_started_ms()).
cache::TrialRecord sample_trial(const std::string& configuration, double median_ns, std::int64_t created_ms = 0);
std::int64_t sample_started_ms();

/// A search over seven parameters with \p trials trials. Some fail, in every way. Eight are finalists. Only these have
/// all three metrics, and six of them are not beaten in both time and energy.
Tuning sample_tuning(std::size_t trials);

/// A tuning in which every text tries to become code or markup.
Tuning hostile_tuning();

PageOptions sample_options();

}  // namespace tuner::report::test
