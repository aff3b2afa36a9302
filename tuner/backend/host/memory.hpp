#pragma once
/// Memory of the host backend, between pages that nobody may touch: an access far outside a buffer is a fault instead
/// of a write to somebody else's data. What lies between a buffer's end and its page's end is the caller's to watch.

#include <cstddef>
#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::host {

/// Begins at a page and ends at one where \p bytes is a multiple of 4096. Throws Error when there is no room.
std::unique_ptr<DeviceMemory> allocate(std::size_t bytes);

}  // namespace tuner::host
