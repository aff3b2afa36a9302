#pragma once
/// Device memory with an owner.

#include <cstddef>
#include <memory>

#include <cuda_runtime_api.h>

#include <bench/cub_calls.hpp>

namespace bench {

struct FreeDevice {
  void operator()(void* memory) const { cudaFree(memory); }
};
using DeviceMemory = std::unique_ptr<void, FreeDevice>;

/// \p bytes of the current device's memory, at least one. Throws std::runtime_error.
inline DeviceMemory allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "cudaMalloc");
  return DeviceMemory(memory);
}

}  // namespace bench
