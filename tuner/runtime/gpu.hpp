#pragma once
/// The few questions that serving asks of the CUDA driver at each call. Without a driver (or without CUDA at build
/// time) the answers are "no GPU".

#include <cstdint>
#include <memory>

#include <tuner/backend/backend.hpp>
#include <tuner/problem.hpp>

namespace tuner::runtime {

/// True when there is a driver and a device.
bool gpu_available();
/// Handle of this thread's current context; 0: none.
std::uint64_t current_gpu_context();
/// Handle of the context that owns \p pointer; 0: not memory of a GPU.
std::uint64_t gpu_context_of(const void* pointer);

/// The primary context of the first GPU, kept for the life of the process (what the CUDA runtime would use).
std::uint64_t default_gpu_context();

enum class PointerPlace {
  host,    ///< ordinary memory: a GPU cannot read it
  device,  ///< a GPU's, managed, or page-locked and mapped
};
PointerPlace place_of(const void* pointer);

/// Whether \p stream of \p context records into a CUDA graph: nothing may be allocated, compiled or waited for then.
bool is_capturing(std::uint64_t context, Stream stream);

/// A backend on \p context, which must stay alive. Throws Error.
std::unique_ptr<Backend> open_gpu_context(std::uint64_t context);

}  // namespace tuner::runtime
