#pragma once
/// Tuning on first use: whether it is allowed, which process does it, and the tuning itself.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <cache/file/disk.hpp>

#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/runtime/decide/serving.hpp>

namespace tuner {
struct KernelSpec;
struct ProblemSize;
}  // namespace tuner

namespace tuner::runtime {

bool tunes_on_first_use(const Settings& settings, const Device& device);

/// A text for the size class and all that decides its results.
std::string problem_name(const KernelSpec& spec, const ProblemSize& lowest, const Device& device);
/// The claim to tune a size class. Null if no database is shared with other processes.
std::unique_ptr<cache::Claim> claim_on(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& lowest,
                                       const Device& device);
/// Waits until \p claim is free and takes it. Gives up when another process, which has \p tuning_time as well, must
/// have finished. Polls, because waiting for a file lock has no time limit.
bool take_after_others(cache::Claim& claim, std::chrono::duration<double> tuning_time);

/// Whether a tuning on first use in any process has ended without a result for the class of \p lowest, so recently that
/// the next one must wait. Throws cache::Unavailable if the database cannot be asked now.
bool tried_lately(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& lowest, const Device& device);

/// Tunes in worker processes, within the settings' tuning time from \p start on, and stores the result. Returns nullopt
/// when no configuration worked or workers cannot run.
std::optional<Configuration> tune_now(const Serving::Terms& terms, const Device& device, const KernelSpec& spec,
                                      const ProblemSize& size, Clock::time_point start);

}  // namespace tuner::runtime
