#pragma once
/// Encodes tensor maps with the driver. Private to this folder.

#include <tuner/backend/backend.hpp>

namespace tuner::cuda {

/// The CUtensorMap of \p shape over the memory at \p address. Its context must be current. Throws TensorMapError.
TensorMap encode_tensor_map(const TensorMapShape& shape, DevicePointer address);

/// Gives \p map, which shows \p shape, another address. Allocates nothing and takes no lock. Its context must be
/// current. Throws TensorMapError.
void move_tensor_map(TensorMap& map, const TensorMapShape& shape, DevicePointer address);

}  // namespace tuner::cuda
