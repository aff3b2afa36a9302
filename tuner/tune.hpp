#pragma once
/// Tuning from code: what `tune --kernel` does, for one kernel and one problem. C++17.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/kernel.hpp>
#include <tuner/problem.hpp>

namespace tuner {

struct TuneOptions {
  std::optional<std::chrono::duration<double>> wall_time;  ///< end of the search; none: the strategy's own end
  std::optional<std::size_t> trials;
  std::string strategy = "auto";
  std::uint64_t seed = 1;
  bool force = false;  ///< measure again although the answer is known
  /// Run configurations in worker processes (program tuner-worker), so that one that faults or hangs costs one trial
  /// and not this process's device context. Error where that cannot be: a kernel that no kernel file describes.
  bool isolated = false;
  /// Run the best configuration of a GPU on the host too, in other orders of its threads, and pass over one that is
  /// wrong there: a race. Takes a C++ compiler on this machine and up to half a minute, hence not asked for by default.
  /// What no kernel file describes is not looked at.
  bool check_on_host = false;
  /// Hardware counters and energy of the best configuration, collected after timing: names and sets as `tune metrics`
  /// lists them. What cannot be had is left out, with a warning that says why. A known answer has none: see force.
  std::vector<std::string> metrics;
  /// Called after every trial, by the thread that called tune(), with no lock held; return false to stop early. It may
  /// call whatever it likes of this library; what it launches is served, not tuned.
  std::function<bool(std::size_t finished, double best_ns)> on_trial;
};

struct TuneResult {
  std::string configuration;  ///< canonical text: `block_x=32 block_y=8`
  double median_ns = 0;
  double low_ns = 0, high_ns = 0;  ///< 95% confidence interval of the median
  std::size_t trials = 0;
  std::map<std::string, std::size_t> failures;  ///< by kind: compile, launch, timeout, wrong, invalid
  bool from_cache = false;
  std::map<std::string, double> metrics;  ///< of TuneOptions::metrics, in the units that `tune metrics` gives
};

/// Tunes \p kernel for \p sizes (in elements) and \p choices (types too: `{"T", "float"}`; the first value when left
/// out) on the device that this thread's launches run on, and stores the result, which later launches of every object
/// of this kernel use. Allocates its own buffers of these sizes meanwhile. Other threads are not kept waiting; tunings
/// that run at once on one device disturb each other's times. Throws Error when no configuration works and, under
/// $TUNER_FROZEN, when no result is known for exactly this.
TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices = {}, const TuneOptions& options = {});

}  // namespace tuner
