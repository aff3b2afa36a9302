#pragma once
/// Arrays of the host backend: what the shim's texture and surface functions read and write. Private to this folder.

#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::host {

/// Throws Error for elements that a GPU has no textures of.
std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape);

}  // namespace tuner::host
