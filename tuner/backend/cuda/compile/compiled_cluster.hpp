#pragma once
/// Properties of kernels in machine code, which is read without a driver.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tuner::cuda {

/// The cluster that is compiled into the kernel \p symbol of \p cubin (`__cluster_dims__`), as
/// Module::compiled_cluster() gives it. All 0: there is none, or \p cubin is not machine code.
std::array<std::int64_t, 3> compiled_cluster(std::span<const std::byte> cubin, std::string_view symbol);

}  // namespace tuner::cuda
