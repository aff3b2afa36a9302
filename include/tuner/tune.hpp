#pragma once
/// Tunes one kernel from code, for one problem like `tune KERNEL`, or for many sizes like `tune KERNEL --together`.
/// C++17.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tuner/effort.hpp>
#include <tuner/kernel.hpp>
#include <tuner/problem.hpp>
#include <tuner/use.hpp>

namespace tuner {
inline namespace TUNER_ABI {

/// If a stored result answers the request, nothing is measured. It does not if the effort, or a limit here, goes beyond
/// what earlier searches spent and the space has more: then the search continues.
struct TuneOptions {
  /// How much is spent. Nothing: Settings::effort. With Effort::none and no result for exactly this problem, the answer
  /// is the configuration that is known for a similar one, or the default, without a time. Throws Error beside `force`
  /// and `metrics`.
  std::optional<Effort> effort;
  /// For experts, in place of an effort: when the search ends. Throws Error beside `effort`.
  std::optional<std::chrono::duration<double>> wall_time;
  std::optional<std::size_t> trials;  ///< the same; at least 1
  std::string strategy = "auto";
  std::uint64_t seed = 1;
  /// How the program uses the kernel. Each use has its own results. Throws Error for Use::stream and Use::graph on
  /// the host, which has neither.
  Use use = Use::single;
  bool force = false;  ///< measure even if the answer is known
  /// Run configurations in worker processes (program tuner-worker). A configuration that faults or hangs then costs one
  /// trial, not this process's device context. On a GPU, kernels that are verified on problems of tuner's own choice
  /// (docs/measuring.md) always run there: such a problem may fault where no call of the program would. Throws Error
  /// for a kernel without a kernel file that must run there.
  bool isolated = false;
  /// Also run the best configuration of a GPU on the host, with other orders of its threads. A configuration that is
  /// wrong there has a race and is rejected. If the host cannot run the kernel, compute-sanitizer watches it on the
  /// GPU. Needs a C++ compiler or compute-sanitizer on this machine and takes up to half a minute, which is a part of
  /// `wall_time`.
  /// Kernels without a kernel file are not checked.
  bool check_on_host = false;
  /// Hardware counters and energy of the best configuration, collected after timing; names and sets as `tune devices
  /// --metrics` lists them. Leaves out unavailable ones, with a warning that says why. Metrics are always measured
  /// anew.
  std::vector<std::string> metrics;
  /// Called after every trial, in the thread that called tune(), without a lock. Return false to stop early. It may
  /// call any function of this library; its launches are served without tuning.
  std::function<bool(std::size_t finished, double best_ns)> on_trial;
};

struct TuneResult {
  std::string configuration;  ///< canonical text: `block_x=32 block_y=8`
  double median_ns = 0;
  double low_ns = 0, high_ns = 0;  ///< 95% confidence interval of the median
  std::size_t trials = 0;
  std::size_t tried = 0;                        ///< configurations that this and earlier calls tried; 0: unknown
  std::size_t valid = 0;                        ///< configurations that there are for this problem; 0: unknown
  std::map<std::string, std::size_t> failures;  ///< by kind: compile, launch, timeout, wrong, invalid
  bool from_cache = false;
  Effort effort = Effort::normal;  ///< of the answer, as it is stored
  /// The metrics in TuneOptions::metrics, in the units that `tune devices --metrics` lists.
  std::map<std::string, double> metrics;
};

/// Tunes \p kernel on the device of this thread's launches for \p sizes (in elements) and \p choices. \p choices
/// include types, such as `{"T", "float"}`; the default is the first value. Stores the result, which later launches of
/// all objects of this kernel use. Allocates its own buffers of these sizes. Other threads do not wait; tunings that
/// run at once on one device disturb each other's times. Throws Error when no configuration works and, with
/// $TUNER_FROZEN, when no exact result is known.
TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices = {}, const TuneOptions& options = {});

/// By how much the choice of a rule is slower than the best, at sizes that the rule was not made from. Each size was
/// left out once. 0.01 is 1%.
struct RegretBetween {
  double median = 0;
  double low = 0, high = 0;  ///< 95% confidence interval of the median
  double worst = 0;
  std::size_t sizes = 0;  ///< how many were left out
};

/// At most four configurations, and which size gets which.
struct RuleResult {
  struct Branch {
    std::string condition;  ///< `n<65536`, or "else"
    std::string configuration;
  };
  struct Choice {
    Sizes sizes;
    std::string configuration;
    std::optional<double> median_ns;  ///< nothing: it was not measured for these sizes
    std::optional<double> regret;     ///< how much slower it is than the best that was measured for them; 0.01 is 1%
  };
  std::vector<Branch> branches;  ///< the first whose condition holds counts; none: stopped before there was a rule
  std::vector<Choice> choices;   ///< in the order of the sizes that were given

  std::optional<RegretBetween> between;  ///< nothing: no size could be left out
  std::size_t trials = 0;                ///< of this and earlier calls
  bool from_cache = false;
};

/// Tunes \p kernel for all of \p sizes together (docs/search.md), and stores the rule, which later launches for these
/// sizes and those between use. The limits of \p options are those of one size; a race of all makes at most 1.5 times
/// its trials. If on_trial() returns false, nothing is stored but the trials, and the next call continues. The rest is
/// as for tune(). Throws Error with $TUNER_FROZEN, for metrics, for Effort::none, for a kernel without sizes, and
/// when no few configurations work for all sizes.
RuleResult tune_together(const Kernel& kernel, const std::vector<Sizes>& sizes, const Choices& choices = {},
                         const TuneOptions& options = {});

}  // namespace TUNER_ABI
}  // namespace tuner
