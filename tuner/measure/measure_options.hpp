#pragma once
/// How a configuration is verified and measured. Plain data: it travels to worker processes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tuner {

/// What one launch of an application was given, in place of what the kernel's file says (tuner/capture): for the
/// problem itself, not for `verify` problems. Names of files, which are read where they are needed.
struct CapturedData {
  std::map<std::string, std::string> inputs;  ///< by buffer, what it is filled with
  /// By buffer, what the launch left: expected where the kernel has no reference.
  std::map<std::string, std::string> outputs;
  std::map<std::string, std::string> scalars;  ///< as text that captured_number() reads
  std::string digest;                          ///< of all of it; empty: nothing was captured

  bool has_answers() const { return !outputs.empty(); }
};

struct MeasureOptions {
  std::uint64_t seed = 1;          ///< of the inputs
  bool cold = true;                ///< L2 flushed before every sample
  bool verify = true;              ///< false: only for experiments; such trials are never `verified`
  bool second_inputs = true;       ///< verify with other inputs too, where a seed makes them and there is room
  bool interleave_all = false;     ///< let threads switch at accesses in everything, not only in what may be best
  std::size_t guard_bytes = 4096;  ///< canaries on both sides of every buffer; a multiple of 256, or 0

  std::size_t warm_up = 1;  ///< unmeasured runs before the first sample
  std::size_t min_samples = 10;
  std::size_t max_samples = 200;  ///< a search on the host backend takes 20 at most
  double target_width = 0.01;     ///< of the 95% interval of the median, relative to it
  double max_seconds = 1.0;       ///< of measuring one configuration; min_samples are taken even when it is passed

  /// Finalists are measured again in so many rounds of so many samples each.
  std::size_t finalist_rounds = 15;
  std::size_t finalist_samples = 2;

  /// A configuration whose interval lies wholly above this factor of the best is abandoned; 0: never (for an objective
  /// other than time). The best is the fastest verified trial that the session or the evaluator has seen, so that
  /// configurations submitted long ago are compared with what is known now.
  double abandon_factor = 1.05;
  std::size_t abandon_samples = 5;  ///< never abandoned with fewer; on the host backend 3 where it is clear

  /// Hot runs shorter than this are repeated inside one sample (the clock's steps vanish).
  double batch_below_ns = 20e3;

  /// A run that takes longer than max(hang_floor_s, kHangFactor * best known time) hangs.
  double hang_floor_s = 2.0;  ///< five times this on the host backend, which shares its cores with everything else
  double first_run_s = 30;    ///< limit while no time is known at all (the reference's first run)

  /// What to collect besides the time, apart from its measurement: names of core/metric.hpp (no sets) or the chip's
  /// own.
  std::vector<std::string> metrics;
  bool metrics_for_all = false;  ///< of every configuration; else of finalists alone

  CapturedData captured;
  /// For a device on another host: what files of numbers hold, by their paths, which may be nowhere there.
  std::map<std::string, std::string> carried;
};

}  // namespace tuner
