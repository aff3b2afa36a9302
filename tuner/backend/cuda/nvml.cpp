#include <tuner/backend/cuda/nvml.hpp>

#include <fmt/format.h>

#include <tuner/backend/cuda/toolkit.hpp>

namespace tuner::cuda {
namespace {

using NvmlDevice = void*;
enum NvmlResult : int { kNvmlSuccess = 0, kNvmlNotSupported = 3 };

struct Nvml {
  NvmlResult (*nvmlInit_v2)() = nullptr;
  const char* (*nvmlErrorString)(NvmlResult) = nullptr;
  NvmlResult (*nvmlDeviceGetHandleByPciBusId_v2)(const char*, NvmlDevice*) = nullptr;
  NvmlResult (*nvmlDeviceGetTotalEnergyConsumption)(NvmlDevice, unsigned long long*) = nullptr;
};

class NvmlSensor final : public EnergySensor {
 public:
  NvmlSensor(const Nvml& nvml, NvmlDevice device) : nvml_(nvml), device_(device) {}
  NvmlResult read(double& joules) {
    unsigned long long millijoules = 0;
    const NvmlResult result = nvml_.nvmlDeviceGetTotalEnergyConsumption(device_, &millijoules);
    joules = static_cast<double>(millijoules) * 1e-3;
    return result;
  }
  std::optional<double> joules() override {
    double joules = 0;
    return read(joules) == kNvmlSuccess ? std::optional(joules) : std::nullopt;
  }

 private:
  Nvml nvml_;
  NvmlDevice device_;
};

}  // namespace

std::variant<std::unique_ptr<EnergySensor>, Unavailable> open_energy_sensor(const std::string& pci,
                                                                            const char* library) {
  Library opened(library, RTLD_NOW);
  if (!opened)
    return Unavailable{"energy needs " + std::string(library) +
                       ", a part of the NVIDIA driver, which was not found: install it (in a container, request the "
                       "driver capability `utility`)"};
  Nvml nvml;
  opened.require("nvmlInit_v2", nvml.nvmlInit_v2);
  opened.require("nvmlErrorString", nvml.nvmlErrorString);
  opened.require("nvmlDeviceGetHandleByPciBusId_v2", nvml.nvmlDeviceGetHandleByPciBusId_v2);
  opened.require("nvmlDeviceGetTotalEnergyConsumption", nvml.nvmlDeviceGetTotalEnergyConsumption);
  if (!opened.missing().empty())
    return Unavailable{std::string(library) + " lacks " + opened.missing() + ": install a newer NVIDIA driver"};
  const auto failed = [&](NvmlResult result, const char* call) {
    const char* const text = nvml.nvmlErrorString(result);
    return Unavailable{fmt::format("{} failed: {} (NVML error {}): this card's energy cannot be measured here", call,
                                   text != nullptr ? text : "unknown", static_cast<int>(result))};
  };
  if (const NvmlResult result = nvml.nvmlInit_v2(); result != kNvmlSuccess) return failed(result, "nvmlInit_v2");
  NvmlDevice device = nullptr;
  if (const NvmlResult result = nvml.nvmlDeviceGetHandleByPciBusId_v2(pci.c_str(), &device); result != kNvmlSuccess)
    return failed(result, "nvmlDeviceGetHandleByPciBusId_v2");
  auto sensor = std::make_unique<NvmlSensor>(nvml, device);
  double joules = 0;
  const NvmlResult result = sensor->read(joules);
  if (result == kNvmlNotSupported)
    return Unavailable{"this card has no energy counter (cards since Volta have one): measure on another card"};
  if (result != kNvmlSuccess) return failed(result, "nvmlDeviceGetTotalEnergyConsumption");
  return sensor;
}

}  // namespace tuner::cuda
