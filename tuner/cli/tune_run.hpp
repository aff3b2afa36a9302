#pragma once
/// Tunes the problems of one kernel, one after the other, or answers them from the cache: one `tune` command, or its
/// part on some of its devices.

#include <atomic>
#include <memory>
#include <optional>

#include <cache/misses.hpp>

#include <tuner/backend/backend.hpp>
#include <tuner/recording/recording.hpp>
#include <tuner/cli/problems.hpp>
#include <tuner/cli/tune_events.hpp>
#include <tuner/cli/tune_request.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/wisdom.hpp>

namespace tuner::cli {

/// A kernel and the problems of it that are asked for.
struct TuneJob {
  TuneRequest request;
  std::shared_ptr<const Recording> recording;  ///< null: none
  std::shared_ptr<const KernelSpec> spec;
  DeviceChoice devices;
  Problems problems;
  std::optional<cache::MissRecord> miss = {};  ///< of --missed: what it is tuned for
};
/// Reads what \p request names. \p devices: in place of the request's. Throws UsageError and Error.
TuneJob read_job(TuneRequest request, std::optional<DeviceChoice> devices = std::nullopt);

/// Shared by the sessions on one device, as opening it again takes longer than tuning a small problem.
struct Seat {
  Console* console = nullptr;  ///< takes the databases' warnings; null: that of run_job()
  std::unique_ptr<Wisdom> wisdom;
  std::unique_ptr<Backend> backend;  ///< for work in this process; null: not open yet
  std::optional<Device> measured;    ///< with its ceilings; nothing: not measured yet
};

/// Tunes or answers the problems of \p job, one after the other, on all its devices. \p seat: of the first of them;
/// null: one for this job alone. All arguments must outlive the call. Returns the exit code. Throws Error; with a seat
/// DeviceLostError when the devices cannot be used any more.
int run_job(TuneJob job, const std::atomic<bool>& stop, TuneEvents& events, Seat* seat = nullptr);

}  // namespace tuner::cli
