#pragma once
/// A request to tune: the problems, how each is tuned, and the devices.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cache/query/browse.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tuning.hpp>

namespace tuner {

/// A problem, and how it is tuned.
struct TuneJob {
  std::shared_ptr<const KernelSpec> spec;
  ProblemSize size;
  TuningOptions tuning;                        ///< tune_batch() sets the devices, the start and the flag to stop
  std::vector<std::string> notes = {};         ///< for people: lines about how the problem was chosen
  std::optional<cache::MissRecord> miss = {};  ///< the call that found no result; forgotten after the tuning

  std::string name() const { return spec->name + ' ' + size.text(); }
};

struct TuneRequest {
  std::vector<TuneJob> jobs;  ///< each problem once
  DeviceChoice devices;
  std::filesystem::path database;  ///< empty: the default place

  bool is_one_kernel = true;      ///< All problems are of one kernel, and fail together if none can be tuned.
  bool one_at_a_time = false;     ///< never several problems at once, even with several devices
  bool without_ceilings = false;  ///< do not measure how fast the devices stream and compute
};

/// How a batch uses its devices.
enum class Spread {
  together,      ///< one problem after another of one kernel, each on all devices
  in_turn,       ///< one problem after another of a list
  side_by_side,  ///< several problems at once
};
Spread spread_of(const TuneRequest& request);

}  // namespace tuner
