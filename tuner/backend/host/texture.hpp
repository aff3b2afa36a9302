#pragma once
/// Arrays of the host backend, for the texture and surface functions of the shim. Private to this folder.

#include <memory>

#include <tuner/backend/backend.hpp>

namespace tuner::host {

/// Throws Error for elements that textures on a GPU cannot have.
std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape);

}  // namespace tuner::host
