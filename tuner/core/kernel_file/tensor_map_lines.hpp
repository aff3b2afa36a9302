#pragma once
/// Reads and checks `tensormap` lines. Private to this room.

#include <tuner/core/kernel_file/kernel_reader.hpp>
#include <tuner/core/kernel_file/validate_kernel.hpp>

namespace tuner {

void read_tensor_map(KernelReader& kernel, TokenCursor& cursor);
/// Checks what is known of tensor maps without their numbers. The numbers follow tensor_map_rules().
void validate_tensor_maps(const Checks& checks);

}  // namespace tuner
