#include <tuner/backend/cuda/observe/energy.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <tuner/backend/cuda/driver/toolkit.hpp>
#include <tuner/core/values/elapsed.hpp>

namespace tuner::cuda {
namespace {

// Not every toolkit has NVML's header, so its functions are declared here. They have not changed since Volta.
using NvmlDevice = void*;
enum NvmlResult : int { kNvmlSuccess = 0, kNvmlNotSupported = 3 };

struct Nvml {
  NvmlResult (*nvmlInit_v2)() = nullptr;
  const char* (*nvmlErrorString)(NvmlResult) = nullptr;
  NvmlResult (*nvmlDeviceGetHandleByPciBusId_v2)(const char*, NvmlDevice*) = nullptr;
  NvmlResult (*nvmlDeviceGetTotalEnergyConsumption)(NvmlDevice, unsigned long long*) = nullptr;
};

constexpr std::size_t kFewestParts = 4, kMostParts = 10;
/// Student's t, two-sided 95%, for 3 to 9 degrees of freedom.
constexpr std::array<double, 7> kStudent{3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};

double watts_between(const EnergyStep& from, const EnergyStep& to) {
  return (to.joules - from.joules) / (to.seconds - from.seconds);
}

/// The power that a card reports is a mean over up to a second, so it follows the load late.
constexpr double kWarmUpSeconds = 1.0;
constexpr double kBatchSeconds = 0.01;  // work between two reads of the clock
constexpr std::size_t kLargestBatch = 1000;

/// Keeps a stream busy: two batches are queued at any time.
class Treadmill {
 public:
  Treadmill(std::span<PreparedLaunch> launches, CUstream stream) : launches_(launches), stream_(stream) {}

  /// Runs for \p seconds. Sets \p runs, and \p took to the seconds they took on the device. Nothing remains queued.
  CUresult run(double seconds, std::size_t& runs, double& took) {
    const UniqueEvent first = make_event(), last = make_event();
    const UniqueEvent batch_end[2] = {make_event(CU_EVENT_DISABLE_TIMING), make_event(CU_EVENT_DISABLE_TIMING)};
    const Driver& cu = driver();
    const Clock::time_point begin = Clock::now();
    if (const CUresult result = cu.cuEventRecord(first.get(), stream_); result != CUDA_SUCCESS) return result;
    runs = 0;
    for (std::size_t i = 0; seconds_since(begin) < seconds; ++i) {
      if (i >= 2) {
        if (const CUresult result = reached(batch_end[i % 2].get()); result != CUDA_SUCCESS) return result;
      }
      for (std::size_t k = 0; k < batch_; ++k) {
        for (PreparedLaunch& launch : launches_) {
          if (const CUresult result = launch(stream_); result != CUDA_SUCCESS) return result;
        }
      }
      runs += batch_;
      if (const CUresult result = cu.cuEventRecord(batch_end[i % 2].get(), stream_); result != CUDA_SUCCESS)
        return result;
    }
    if (const CUresult result = cu.cuEventRecord(last.get(), stream_); result != CUDA_SUCCESS) return result;
    if (const CUresult result = wait_for(stream_, std::nullopt); result != CUDA_SUCCESS) return result;
    float milliseconds = 0;
    const CUresult result = cu.cuEventElapsedTime(&milliseconds, first.get(), last.get());
    took = static_cast<double>(milliseconds) * 1e-3;
    if (runs > 0) {
      const double each = took / static_cast<double>(runs);
      batch_ = static_cast<std::size_t>(
          std::clamp(kBatchSeconds / std::max(each, 1e-9), 1.0, static_cast<double>(kLargestBatch)));
    }
    return result;
  }

 private:
  static CUresult reached(CUevent event) {
    for (;;) {
      const CUresult result = driver().cuEventQuery(event);
      if (result != CUDA_ERROR_NOT_READY) return result;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  std::span<PreparedLaunch> launches_;
  CUstream stream_;
  std::size_t batch_ = 1;
};

Unavailable failed_run(CUresult result) {
  return {"the kernel failed while its energy was measured: " + error_text(result)};
}

}  // namespace

std::variant<EnergySensor, Unavailable> open_energy_sensor(const std::string& pci, const char* file) {
  Library library(file, RTLD_NOW);
  if (!library)
    return Unavailable{"energy needs " + std::string(file) +
                       ", a part of the NVIDIA driver, which was not found: install it (in a container, request the "
                       "driver capability `utility`)"};
  Nvml table;
  TUNER_REQUIRE(nvmlInit_v2)
  TUNER_REQUIRE(nvmlErrorString)
  TUNER_REQUIRE(nvmlDeviceGetHandleByPciBusId_v2)
  TUNER_REQUIRE(nvmlDeviceGetTotalEnergyConsumption)
  if (!library.missing().empty())
    return Unavailable{std::string(file) + " lacks " + library.missing() + ": install a newer NVIDIA driver"};
  const auto failed = [&](NvmlResult result, const char* call) {
    const char* const text = table.nvmlErrorString(result);
    return Unavailable{fmt::format("{} failed: {} (NVML error {}): this card's energy cannot be measured here", call,
                                   text != nullptr ? text : "unknown", static_cast<int>(result))};
  };
  if (const NvmlResult result = table.nvmlInit_v2(); result != kNvmlSuccess) return failed(result, "nvmlInit_v2");
  NvmlDevice device = nullptr;
  if (const NvmlResult result = table.nvmlDeviceGetHandleByPciBusId_v2(pci.c_str(), &device); result != kNvmlSuccess)
    return failed(result, "nvmlDeviceGetHandleByPciBusId_v2");
  unsigned long long millijoules = 0;
  const NvmlResult result = table.nvmlDeviceGetTotalEnergyConsumption(device, &millijoules);
  if (result == kNvmlNotSupported)
    return Unavailable{"this card has no energy counter (cards since Volta have one): measure on another card"};
  if (result != kNvmlSuccess) return failed(result, "nvmlDeviceGetTotalEnergyConsumption");
  return [read = table.nvmlDeviceGetTotalEnergyConsumption, device]() -> std::optional<double> {
    unsigned long long now = 0;
    if (read(device, &now) != kNvmlSuccess) return std::nullopt;
    return static_cast<double>(now) * 1e-3;
  };
}

std::variant<MeanPower, Unavailable> mean_power(std::span<const EnergyStep> steps) {
  const std::size_t intervals = steps.empty() ? 0 : steps.size() - 1;
  if (intervals < kFewestParts) {
    return Unavailable{fmt::format(
        "the card's energy counter moved only {} times while the kernel ran: measure for longer", steps.size())};
  }
  MeanPower power;
  power.seconds = steps.back().seconds - steps.front().seconds;
  power.watts = watts_between(steps.front(), steps.back());
  // With enough steps, the parts are longer than the time over which the sensor averages, so they are independent.
  const std::size_t parts = std::min(intervals, kMostParts);
  double squares = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const double watts = watts_between(steps[part * intervals / parts], steps[(part + 1) * intervals / parts]);
    squares += (watts - power.watts) * (watts - power.watts);
  }
  const double n = static_cast<double>(parts);
  const double half = kStudent[parts - kFewestParts] * std::sqrt(squares / (n - 1) / n);
  power.low = power.watts - half;
  power.high = power.watts + half;
  return power;
}

EnergyWatch::EnergyWatch(const EnergySensor& sensor)
    : reader_([this, &sensor](const std::stop_token& end) {
        const Clock::time_point begin = Clock::now();
        std::optional<double> last = sensor();
        while (!end.stop_requested()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          const std::optional<double> joules = sensor();
          if (!joules || joules == last) continue;
          if (last) steps_.push_back({seconds_since(begin), *joules});
          last = joules;
        }
      }) {}

std::vector<EnergyStep> EnergyWatch::stop() {
  reader_.request_stop();
  reader_.join();
  return std::move(steps_);
}

EnergyResult measure_energy(const EnergySensor& sensor, std::span<PreparedLaunch> launches, CUstream stream,
                            double seconds) {
  if (!(seconds >= kShortestEnergyWindow))
    return Unavailable{fmt::format("{:g} s are too short for a card's energy sensor: measure for at least {:g} s",
                                   seconds, kShortestEnergyWindow)};
  Treadmill treadmill(launches, stream);
  std::size_t runs = 0;
  double took = 0;
  // The first few runs determine the size of a batch.
  for (const double warm_up : {0.02, kWarmUpSeconds}) {
    if (const CUresult result = treadmill.run(warm_up, runs, took); result != CUDA_SUCCESS) return failed_run(result);
  }
  EnergyWatch watch(sensor);
  const CUresult result = treadmill.run(seconds, runs, took);
  const std::vector<EnergyStep> steps = watch.stop();
  if (result != CUDA_SUCCESS) return failed_run(result);
  const auto seen = mean_power(steps);
  if (const auto* const why = std::get_if<Unavailable>(&seen)) return *why;
  const MeanPower& power = std::get<MeanPower>(seen);
  Energy energy;
  energy.run_s = took / static_cast<double>(runs);
  energy.joules = power.watts * energy.run_s;
  energy.low_joules = power.low * energy.run_s;
  energy.high_joules = power.high * energy.run_s;
  energy.watts = power.watts;
  energy.window_s = power.seconds;
  energy.runs = runs;
  return energy;
}

}  // namespace tuner::cuda
