#pragma once
/// Modules and memory of the CUDA backend. Private to this folder.

#include <span>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/backend_state.hpp>
#include <tuner/backend/cuda/kernel_function.hpp>

namespace tuner::cuda {

class CudaModule final : public Module {
 public:
  /// In the state's context, which must be current. Functions opt in to as much shared memory as they may have, so that
  /// a launch changes no state and needs no lock. Throws CudaError when the image does not load.
  CudaModule(SharedState state, const Image& image);
  ~CudaModule() override;

  Resources resources(std::size_t function, const LaunchShape& shape) const override;

  std::vector<std::string> parameter_types(std::size_t function) const override;

  Variable variable(std::size_t function) const override { return entries_.at(function).variable; }

  struct Entry {
    KernelFunction kernel;
    Variable variable;  ///< instead of a kernel
    std::string symbol;
    int spill_bytes = 0;           ///< reported by the compiler
    mutable bool has_run = false;  ///< its first launch has ended
  };
  const Entry& entry(std::size_t function) const { return entries_.at(function); }

 private:
  SharedState state_;
  UniqueModule module_;
  std::vector<Entry> entries_;
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

}  // namespace tuner::cuda
