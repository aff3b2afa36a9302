#pragma once
/// Memory of the host backend: buffers and arrays for textures and surfaces.

#include <cstddef>
#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::host {

/// A buffer between pages without access: an access far outside of it is a fault and cannot change other data. The
/// caller watches the bytes between a buffer's end and the end of its page. The buffer begins at a page. If \p bytes is
/// a multiple of 4096 it also ends at one. Throws Error when memory is missing.
std::unique_ptr<DeviceMemory> allocate(std::size_t bytes);

/// Writes all buffers and arrays of this process back and drops them from the CPU's caches. False: this CPU has no
/// instruction for it (x86-64 has CLFLUSHOPT, Intel SDM volume 2), and nothing was done.
bool evict_buffers();

/// For the texture and surface functions of the shim. Throws Error for elements that textures on a GPU cannot have.
std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape);

}  // namespace tuner::host
