#pragma once
/// Memory of the host backend, between pages without access: an access far outside of a buffer is a fault and cannot
/// change other data. The caller watches the bytes between a buffer's end and the end of its page.

#include <cstddef>
#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::host {

/// The buffer begins at a page. If \p bytes is a multiple of 4096 it also ends at one. Throws Error when memory is
/// missing.
std::unique_ptr<DeviceMemory> allocate(std::size_t bytes);

}  // namespace tuner::host
