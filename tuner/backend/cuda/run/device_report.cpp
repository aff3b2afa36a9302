#include <tuner/backend/cuda/run/device_report.hpp>

#include <fmt/format.h>

#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/driver/discovery.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>

namespace tuner::cuda {
namespace {

/// "48 KiB", "60 MiB", "139.8 GiB (150110011392 bytes)".
std::string size_text(std::int64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  if (bytes >= 1 << 30) return fmt::format("{:.1f} GiB ({} bytes)", amount / (1 << 30), bytes);
  if (bytes >= 1 << 20) return fmt::format("{:.4g} MiB", amount / (1 << 20));
  return fmt::format("{:.4g} KiB", amount / 1024);
}

template <typename Extents>
std::string extents_text(const Extents& extents) {
  return fmt::format("{} x {} x {}", extents[0], extents[1], extents[2]);
}

std::string yes_no(int value) { return value != 0 ? "yes" : "no"; }

}  // namespace

std::vector<std::pair<std::string, std::string>> device_report(int ordinal) {
  const Device device = query_device(ordinal);
  const CUdevice handle = device_handle(ordinal);
  const DeviceLimits& limits = device.limits;
  const auto get = [handle](CUdevice_attribute attribute) { return device_attribute(handle, attribute); };
  std::size_t memory = 0;
  check(driver().cuDeviceTotalMem(&memory, handle), "cuDeviceTotalMem");
  const int cores = cores_per_sm(limits.compute_capability);
  const double memory_khz = get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  // Double data rate; kHz and bits to bytes a second.
  const double bandwidth = 2 * memory_khz * 1e3 * device.key.memory_bus_bits / 8;

  std::vector<std::pair<std::string, std::string>> rows;
  const auto add = [&rows](const char* name, std::string value) { rows.emplace_back(name, std::move(value)); };
  add("device", std::to_string(ordinal));
  add("name", device.name);
  add("compute capability", fmt::format("{}.{}", limits.compute_capability / 10, limits.compute_capability % 10));
  add("multiprocessors", std::to_string(limits.sm_count));
  if (cores > 0) add("FP32 cores", fmt::format("{} ({} per SM)", cores * limits.sm_count, cores));
  const double clock = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e3;
  add("SM clock", fmt::format("{:.0f} MHz", clock / 1e6));
  const Throughput begins = throughput_per_sm(limits.compute_capability);
  const auto add_peak = [&](const char* name, int multiply_adds, const char* of) {
    const double flops = 2.0 * multiply_adds * limits.sm_count * clock;
    if (flops > 0) add(name, fmt::format("{:.4g} TFLOP/s{}", flops / 1e12, of));
  };
  add_peak("FP32 peak", cores, "");
  add_peak("FP64 peak", begins.fp64, "");
  add_peak("tensor peak", begins.tensor, " in half precision, dense");
  add("global memory", size_text(static_cast<std::int64_t>(memory)));
  add("memory clock", fmt::format("{:.0f} MHz", memory_khz / 1e3));
  add("memory bus", std::to_string(device.key.memory_bus_bits) + " bits");
  if (bandwidth > 0) {
    add("theoretical bandwidth", fmt::format("{:.1f} GB/s", bandwidth / 1e9));
    add("bytes a memory clock", fmt::format("{:.4g}", bandwidth / memory_khz / 1e3));
    if (clock > 0) add("bytes an SM clock", fmt::format("{:.4g}", bandwidth / clock));
  }
  add("L2 cache", size_text(device.key.l2_bytes));
  add("constant memory", size_text(get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY)));
  add("shared memory per block",
      size_text(limits.shared_bytes_per_block) + ", opt-in " + size_text(limits.max_shared_bytes));
  add("shared memory per SM", size_text(limits.shared_bytes_per_sm));
  add("registers per block", std::to_string(limits.registers_per_block));
  add("registers per SM", std::to_string(limits.registers_per_sm));
  add("warp size", std::to_string(limits.warp_size));
  add("threads per block", std::to_string(limits.max_threads_per_block));
  add("threads per SM",
      fmt::format("{} ({} warps)", limits.max_threads_per_sm, limits.max_threads_per_sm / limits.warp_size));
  add("blocks per SM", std::to_string(limits.max_blocks_per_sm));
  add("block dimensions", extents_text(limits.max_block));
  add("grid dimensions", extents_text(limits.max_grid));
  add("memory pitch", std::to_string(get(CU_DEVICE_ATTRIBUTE_MAX_PITCH)) + " bytes");
  add("copy engines", std::to_string(get(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT)));
  add("concurrent kernels", yes_no(get(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS)));
  add("run time limit on kernels", yes_no(get(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)));
  add("integrated", yes_no(get(CU_DEVICE_ATTRIBUTE_INTEGRATED)));
  add("ECC", get(CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0 ? "on" : "off");
  add("unified addressing", yes_no(get(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)));
  add("managed memory", yes_no(get(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY)));
  add("cooperative launch", yes_no(get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)));
  const std::string pci = pci_address(handle);
  add("PCI", pci.substr(0, pci.rfind('.')));
  add("driver", device.environment.driver);
  add("run-time compiler",
      device.environment.compiler.empty() ? "none (libnvrtc not found)" : device.environment.compiler);
  add("device key", device.key.text());
  return rows;
}

}  // namespace tuner::cuda
