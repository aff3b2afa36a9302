#pragma once
/// Kernels, modules, memory, arrays and stopwatches of the CUDA backend. Private to this folder.

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner::cuda {

/// A kernel of a loaded module, with its resources and the limits of its launches.
struct KernelFunction {
  CUfunction handle = nullptr;
  Resources resources;            ///< registers, local memory (stack_bytes), static shared, constant; no spills
  int max_threads_per_block = 0;  ///< from its registers and launch bounds

  std::array<std::int64_t, 3> cluster{};  ///< compiled into it; all 0: none
};

/// The kernel with the lowered name \p symbol. The module's context must be current. Throws CudaError.
KernelFunction get_function(CUmodule module, const std::string& symbol);
/// The same for a variable.
Variable get_variable(CUmodule module, const std::string& symbol);

/// Module::lasting_variables() of \p module, which was loaded from \p code.
std::vector<Variable> lasting_variables(CUmodule module, std::span<const std::byte> code);

/// The sizes of \p kernel's first \p count parameters in bytes, or of all if it has fewer; nothing if this driver does
/// not tell. Asking for more than there are would be an error that sanitizers report.
std::optional<std::vector<unsigned>> parameter_sizes(CUfunction kernel, std::size_t count);

/// Why \p shape cannot be launched; nullopt: it can. Reasons are limits of the device, launch bounds, shared memory and
/// registers. Others are a cooperative grid that is not resident at once, another cluster than the compiled one, and an
/// old driver.
std::optional<std::string> why_not_launchable(const KernelFunction& kernel, const LaunchShape& shape,
                                              const DeviceLimits& limits);

/// launch_kernel() for a shape that has attributes, by cuLaunchKernelEx. Throws Error if this driver lacks it.
CUresult launch_with_attributes(CUfunction kernel, const LaunchShape& shape, void** arguments, CUstream stream);

/// Enqueues \p kernel on \p stream. A cooperative shape uses cuLaunchCooperativeKernel, which every supported driver
/// has and which can be captured. \p arguments: as for cuLaunchKernel. Does not check \p shape.
inline CUresult launch_kernel(CUfunction kernel, const LaunchShape& shape, void** arguments, CUstream stream) {
  const auto grid = [&](std::size_t d) { return static_cast<unsigned>(shape.grid[d]); };
  const auto block = [&](std::size_t d) { return static_cast<unsigned>(shape.block[d]); };
  const auto shared = static_cast<unsigned>(shape.shared_bytes);
  if (shape.has_attributes()) [[unlikely]]
    return launch_with_attributes(kernel, shape, arguments, stream);
  if (shape.cooperative) {
    return driver().cuLaunchCooperativeKernel(kernel, grid(0), grid(1), grid(2), block(0), block(1), block(2), shared,
                                              stream, arguments);
  }
  return driver().cuLaunchKernel(kernel, grid(0), grid(1), grid(2), block(0), block(1), block(2), shared, stream,
                                 arguments, nullptr);
}

/// Allows \p dynamic_bytes of dynamic shared memory, which a function needs once before its first launch with more than
/// the default limit. Does nothing if the default limit is enough. Throws CudaError.
void allow_shared_memory(const KernelFunction& kernel, std::int64_t dynamic_bytes, const DeviceLimits& limits);

class CudaModule final : public Module {
 public:
  /// In the state's context, which must be current. Functions opt in to as much shared memory as they may have, so that
  /// a launch changes no state and needs no lock. Throws CudaError when the image does not load.
  CudaModule(SharedState state, const Image& image);
  ~CudaModule() override;

  Resources resources(std::size_t function, const LaunchShape& shape) const override;
  std::array<std::int64_t, 3> compiled_cluster(std::size_t function) const override {
    return entries_.at(function).kernel.cluster;
  }
  /// Keeps the driver's answers, which do not depend on the grid and which it computes anew at each call.
  std::optional<std::int64_t> resident_clusters(std::size_t function, const LaunchShape& shape) const override;

  std::vector<std::string> parameter_types(std::size_t function) const override;

  Variable variable(std::size_t function) const override { return entries_.at(function).variable; }
  std::vector<Variable> lasting_variables() const override { return lasting_variables_; }

  struct Entry {
    KernelFunction kernel;
    Variable variable;  ///< instead of a kernel
    std::string expression, symbol;
    mutable bool has_run = false;  ///< its first launch has ended
  };
  const Entry& entry(std::size_t function) const { return entries_.at(function); }

 private:
  SharedState state_;
  UniqueModule module_;
  std::vector<Entry> entries_;
  std::vector<Variable> lasting_variables_;

  struct ResidentClusters {
    std::size_t function = 0;
    LaunchShape shape;
    std::int64_t clusters = 0;
  };
  mutable std::mutex asked_mutex_;  // protects asked_
  mutable std::vector<ResidentClusters> asked_;
};

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(SharedState state, CUdeviceptr address, std::size_t bytes)
      : state_(std::move(state)), address_(address), bytes_(bytes) {}
  ~CudaMemory() override;
  DevicePointer address() const override { return address_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  SharedState state_;
  CUdeviceptr address_;
  std::size_t bytes_;
};

/// An array, or linear memory, that texture and surface objects read and write ("Texture Object Management", CUDA
/// Driver API).
class CudaArray final : public DeviceArray {
 public:
  /// In the state's context, which must be current. Throws Error if there is no room or the driver refuses the array.
  CudaArray(SharedState state, const ArrayShape& shape);
  ~CudaArray() override;

  std::uint64_t texture(const TextureReading& reading) override;
  std::uint64_t surface() override;
  void load(DevicePointer from) override { copy(from, true); }
  void store(DevicePointer to) override { copy(to, false); }

 private:
  void copy(DevicePointer memory, bool into_array);
  CUDA_RESOURCE_DESC resource() const;
  CUarray_format format() const;
  /// Throws Error unless \p result is a success; \p what: for the message.
  void watch(CUresult result, const std::string& what) const;

  SharedState state_;
  ArrayShape shape_;
  CUarray array_ = nullptr;
  CUdeviceptr memory_ = 0;  ///< instead of the array, for tex1Dfetch
  std::vector<CUtexObject> textures_;
  std::vector<CUsurfObject> surfaces_;
};

/// A stopwatch of two events.
class EventStopwatch final : public Stopwatch {
 public:
  /// In the state's context, which must be current. Throws CudaError.
  explicit EventStopwatch(SharedState state) : state_(std::move(state)), first_(make_event()), last_(make_event()) {}
  ~EventStopwatch() override {
    if (!state_->is_gone()) return;
    (void)first_.release();
    (void)last_.release();
  }

  void start(void* stream) noexcept override { runs_ = record(first_, stream); }
  void stop(void* stream) noexcept override { runs_ = runs_ && record(last_, stream); }
  std::optional<double> elapsed_ns() noexcept override {
    float milliseconds = 0;
    if (!runs_ || driver().cuEventQuery(last_.get()) != CUDA_SUCCESS ||
        driver().cuEventElapsedTime(&milliseconds, first_.get(), last_.get()) != CUDA_SUCCESS)
      return std::nullopt;
    return 1e6 * static_cast<double>(milliseconds);
  }

 private:
  static bool record(const UniqueEvent& event, void* stream) noexcept {
    return driver().cuEventRecord(event.get(), static_cast<CUstream>(stream)) == CUDA_SUCCESS;
  }

  const SharedState state_;
  UniqueEvent first_, last_;
  bool runs_ = false;  // all events up to now were recorded
};

}  // namespace tuner::cuda
