#pragma once
/// compute-sanitizer, which watches the accesses and barriers of one launch on a GPU. It checks configurations that the
/// host backend cannot run.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/worker/watched_runs.hpp>

namespace tuner {

/// The program: on $PATH, else in a toolkit of CUDA. Empty if it is not installed.
std::filesystem::path find_sanitizer();

/// The answer of one of its tools about a program.
struct SanitizerReport {
  std::string finding;  ///< the first error or hazard, in one line; empty: none
  std::string trouble;  ///< why the tool says nothing about the program; empty: it watched it to its end
};
SanitizerReport read_sanitizer_report(std::string_view printed);

class Sanitizer {
 public:
  using MayGoOn = WatchedRuns::MayGoOn;
  /// \p program: find_sanitizer(). \p spec must outlive it. \p seed: of the inputs.
  Sanitizer(std::filesystem::path program, const KernelSpec& spec, Device device, std::uint64_t seed);

  /// Launches \p configuration once under each of memcheck, racecheck and synccheck, on \p size. A hazard or a barrier
  /// counts only if the kernel's default configuration has none: these two tools do not know all ways to synchronise.
  /// The same holds for memcheck if \p is_doubtful: then \p size was made up, and the kernel may not support it.
  /// Returns nothing once \p may_go_on has returned false. Throws Error.
  std::optional<FinalistCheck::Answer> ask(const Configuration& configuration, const ProblemSize& size,
                                           bool is_doubtful, const MayGoOn& may_go_on) const;

 private:
  struct Seen;
  std::optional<Seen> watch(const WatchedRuns& runs, std::string_view tool, const Configuration& configuration,
                            const Image& image, const MayGoOn& may_go_on) const;
  std::optional<bool> finds_in_default(const WatchedRuns& runs, std::string_view tool,
                                       const Configuration& configuration, const ProblemSize& size,
                                       const MayGoOn& may_go_on) const;

  std::filesystem::path program_;
  const KernelSpec& spec_;
  Device device_;
  std::uint64_t seed_;
};

}  // namespace tuner
