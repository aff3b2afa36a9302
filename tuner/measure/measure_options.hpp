#pragma once
/// How a configuration is verified and measured. Plain data, which is also sent to worker processes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tuner/use.hpp>

namespace tuner {

struct KernelSpec;

/// The arguments of one launch of an application (tuner/recording). They replace the fills and scalars of the kernel's
/// file for the problem itself, but not for `verify` problems. Files are given by name, and read when needed.
struct RecordedLaunch {
  std::map<std::string, std::string> inputs;   ///< by buffer: a file with its contents before the launch
  std::map<std::string, std::string> outputs;  ///< after it: expected without a reference
  std::map<std::string, std::string> scalars;  ///< as text for recorded_number()
  std::string digest;                          ///< of all of this; empty: nothing was recorded

  bool has_answers() const { return !outputs.empty(); }
};

/// Whether the results of the recorded launch are the expected outputs, because \p spec has no reference program.
bool answers(const KernelSpec& spec, const RecordedLaunch& recorded);
/// Like weaker_reference() of \p spec, but "recorded launch" if answers().
std::string weaker_reference(const KernelSpec& spec, const RecordedLaunch& recorded);

/// How results are checked.
struct VerifyOptions {
  /// False: only for experiments; such trials are never `verified`.
  bool verify = true;
  /// Verify with a second set of inputs too, if the inputs are random and there is room.
  bool second_inputs = true;
  /// Verify on problems that tuner chooses, too (verify_problems()).
  bool own_problems = true;
  /// Switch threads at memory accesses for all configurations, not only for those that may be the best.
  bool interleave_all = false;
  std::size_t guard_bytes = 4096;  ///< size of the guards around each buffer: a multiple of 256, or 0
};

/// How many samples are taken.
struct SamplingOptions {
  std::size_t min_samples = 10;
  std::size_t max_samples = 200;  ///< on the host backend, a search takes at most 10
  double target_width = 0.01;     ///< wanted width of the median's 95% interval, relative to the median
  double max_seconds = 1.0;       ///< for one configuration; min_samples are always taken

  /// At each placement, finalists are measured again in this many rounds, with this many samples in each.
  std::size_t finalist_rounds = 5;
  std::size_t finalist_samples = 2;

  /// Shorter hot runs are repeated in one sample, so that the clock's resolution does not matter.
  double batch_below_ns = 20e3;
};

/// When a configuration is given up.
struct PatienceOptions {
  /// A configuration is abandoned if its whole interval is above this factor of the best median; 0: never (for an
  /// objective other than time). The best is the fastest verified trial (without `verify` the fastest one) so far of
  /// the session or the evaluator, even if the configuration was submitted long ago.
  double abandon_factor = 1.05;
  std::size_t abandon_samples = 5;  ///< the fewest samples before that; on the host backend 3 in clear cases

  /// A run hangs if it takes longer than max(hang_floor_s, kHangFactor * best known time).
  double hang_floor_s = 2.0;  ///< five times this on the host backend, whose cores also run other programs
  double first_run_s = 30;    ///< the limit while no time is known: for the reference's first run
};

struct MeasureOptions : VerifyOptions, SamplingOptions, PatienceOptions {
  std::uint64_t seed = 1;  ///< for the inputs
  Use use = Use::single;   ///< what runs around a sample: SampleRequest::use

  /// Metrics to collect in separate runs: names of core/device/metric.hpp (no sets) or of the chip.
  std::vector<std::string> metrics;
  bool metrics_for_all = false;  ///< for all configurations; false: only for finalists

  RecordedLaunch recorded;
  /// For a device on another host, which may not have the files: the contents of files of numbers, by path.
  std::map<std::string, std::string> carried;
};

}  // namespace tuner
