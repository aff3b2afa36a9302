#pragma once
/// The measurements that bench/truth is made of: tunings in new folders, replays in new processes, `tune run`, and
/// served calls.

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <bench/processes.hpp>
#include <bench/truth/numbers.hpp>

#include <tuner/core/device/device.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/session/wisdom/wisdom.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace bench::truth {

/// A kernel and a complete problem.
struct Problem {
  std::string kernel;  ///< a name or a path
  tuner::KernelSpec spec;
  tuner::ProblemSize size;

  /// "reduce n=16384 T=float": the kernel, then sizes, then choices, which may be left out. 2^14 is a number.
  static Problem parse(const std::string& text);
  /// In the form of parse(), without choices that are the default.
  std::string text() const;
};

struct Limits {
  double seconds = 7;
  std::optional<std::size_t> trials;
};

/// The result of a tuning, and the times that its winner had.
struct Tuned {
  std::string configuration;
  double told_ns = 0;    ///< the stored result
  double search_ns = 0;  ///< the winner's trial during the search
  double final_ns = 0;   ///< among the finalists
  std::size_t trials = 0;
  double seconds = 0;
};

/// Times of configurations in one new process, measured in turns.
using Placement = std::map<std::string, std::vector<double>>;

class Lab {
 public:
  /// \p device: a name for tuner::choose_device().
  explicit Lab(const std::string& device);

  const tuner::Device& device() const { return device_; }
  /// A new folder, which lives as long as this object. The cache of tunings, and of programs that this one starts, is
  /// there from now on.
  std::filesystem::path use_new_folder();
  void use(const std::filesystem::path& folder);

  /// Tunes as `tune` does, and stores the result in the folder that is in use. Throws tuner::Error if nothing works.
  Tuned tune(const Problem& problem, std::uint64_t seed, const Limits& limits);
  /// The configuration that a call of \p problem is served from the folder that is in use, and \p shipped results; the
  /// default if nothing is known. Throws tuner::Error if there is no default.
  std::string served(const Problem& problem, bool shipped);

  /// Measures \p configurations in a new process. Their order is drawn from \p seed. A process in which one of them
  /// fails is tried again once; then it throws tuner::Error.
  Placement place(const Problem& problem, std::span<const std::string> configurations, std::uint64_t seed);

  /// The time of the configuration of a call, by `tune run` in a new process. Throws tuner::Error unless it is
  /// \p configuration.
  double run_ns(const Problem& problem, const std::string& configuration);
  /// The time of served calls in a new process, which this program runs with `--served`.
  double call_ns(const Problem& problem);

 private:
  tuner::IsolatedOptions isolation();

  std::string device_name_;
  tuner::Device device_;
  ScratchFolder root_{"truth"};
  std::size_t folders_ = 0;
  std::mutex mutex_;
  std::map<std::string, tuner::Image> images_;
  std::set<std::string> compiled_;  // problems that were replayed
};

}  // namespace bench::truth
