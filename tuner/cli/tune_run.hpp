#pragma once
/// Tunes the problems of one kernel, one after the other, or answers them from the cache: what one `tune` command
/// does, or its part on some of its devices.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/capture/capture.hpp>
#include <tuner/cli/json.hpp>
#include <tuner/cli/problems.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/cli/tune_request.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/observer.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {

/// A kernel and the problems of it that are asked for.
struct TuneJob {
  TuneRequest request;
  std::shared_ptr<const Capture> capture;  ///< null: none
  std::shared_ptr<const KernelSpec> spec;
  DeviceChoice devices;
  Problems problems;
};
/// Reads what \p request names. \p devices: in place of the request's. Throws UsageError and Error.
TuneJob read_job(TuneRequest request, std::optional<DeviceChoice> devices = std::nullopt);

/// What sessions on one device have in common, one after the other: opening it anew takes longer than many a problem.
struct Seat {
  Console* console = nullptr;  ///< takes the databases' warnings; null: run_job()'s own
  std::unique_ptr<Wisdom> wisdom;
  std::unique_ptr<Backend> backend;  ///< for work in this process; null: not opened yet
  std::optional<Device> measured;    ///< with its ceilings; nothing: they were not measured yet
};

/// What became of a problem, in a line of a table.
struct ProblemResult {
  std::string configuration;         ///< empty: none was found, or the kernel has no parameters
  double median_ns = 0;              ///< of it; 0: none was found
  std::optional<double> default_ns;  ///< of the kernel's own configuration, where it was measured too
  bool known = false;                ///< from the cache; nothing was measured
  std::vector<std::size_t> lost;     ///< the job's devices that were given up, by position

  bool is_found() const { return median_ns > 0; }
};

/// Where a tuning's results go in place of stdout and stderr; null: there.
struct TuneSink {
  Json* documents = nullptr;    ///< of --json: takes one more
  std::string* text = nullptr;  ///< takes tables and winners
  Console* console = nullptr;   ///< takes warnings and errors, as of who; nothing else is told
  std::string who = {};
  Observer* observer = nullptr;                   ///< is told of trials besides
  std::vector<ProblemResult>* results = nullptr;  ///< takes one for each problem
};

/// Tunes or answers the problems of \p job, one after the other, on all its devices. \p seat: of the first of
/// them; null: one of its own. What is given must outlive the call. Returns the exit code. Throws Error;
/// with TuneSink::results DeviceLostError when the devices cannot be used any more.
int run_job(TuneJob job, const std::atomic<bool>& stop, const TuneSink& sink = {}, Seat* seat = nullptr);

}  // namespace tuner::cli
