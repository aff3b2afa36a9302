#pragma once
/// Launches one configuration once in a worker process that another program watches, such as compute-sanitizer. Nothing
/// is verified or timed, and no reference runs, so the program sees the configuration's own launches.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/problem_size.hpp>

namespace tuner {

struct KernelSpec;

class WatchedRuns {
 public:
  /// Asked several times a second. Once it returns false, the processes are killed.
  using MayGoOn = std::function<bool()>;

  /// \p spec must outlive it, and IsolatedEvaluator::can_isolate() must accept it. \p size is complete. \p seed: of the
  /// inputs. Throws WorkerError if the worker program is missing.
  WatchedRuns(const KernelSpec& spec, ProblemSize size, Device device, std::uint64_t seed);

  struct Seen {
    Outcome outcome;      ///< a Measurement without samples after a launch without failure
    std::string printed;  ///< by the watcher, the worker and the kernel
  };
  /// Compiles \p configuration in a worker process. Returns nothing if it was killed. Throws WorkerError.
  std::optional<CompileResult> compile(const Configuration& configuration, const MayGoOn& may_go_on) const;
  /// Runs \p watcher, a program and its arguments, which the worker's command follows. Returns nothing if it was
  /// killed. Throws WorkerError.
  std::optional<Seen> launch(const Configuration& configuration, const Image& image,
                             std::span<const std::string> watcher, const MayGoOn& may_go_on) const;

 private:
  const KernelSpec& spec_;
  ProblemSize size_;
  Device device_;
  std::uint64_t seed_;
  std::filesystem::path program_;
};

}  // namespace tuner
