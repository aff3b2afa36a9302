#pragma once
/// Tunings to report, made up the same way every time.

#include <cstddef>
#include <string>

#include <tuner/report/page.hpp>

namespace tuner::report::test {

cache::SessionKey sample_key(const std::string& kernel = "sample");
/// A measured and verified trial, \p created_ms after the session began (sample_started_ms()).
cache::TrialRecord sample_trial(const std::string& configuration, double median_ns, std::int64_t created_ms = 0);
std::int64_t sample_started_ms();

/// A search over six parameters with \p trials of them: some fail in every way, eight are finalists, three metrics of
/// which the finalists have all; six of those are not beaten in both time and energy.
Tuning sample_tuning(std::size_t trials);

/// A tuning in which every text is somebody's attempt to be more than text.
Tuning hostile_tuning();

PageOptions sample_options();

}  // namespace tuner::report::test
