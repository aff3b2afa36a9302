#pragma once
/// Files written as the kernels of other people's repositories are.

#include <string>

#include <tuner/core/kernel_file/kernel_file.hpp>

namespace tuner::testing {

inline constexpr const char* kWildKernels[] = {
    "bits",  "block_sum", "blur",  "byte_lanes", "cub_parts",  "extremes", "half_axpy", "histogram",  "matmul",
    "nbody", "rounding",  "stars", "tile_sum",   "vector_add", "warp_sum", "wave",      "row_sum_cub"};

/// The kernel file \p name of them.
inline KernelSpec wild_kernel(const std::string& name) {
  const bool is_example = name == "row_sum_cub";
  return read_kernel_file(TUNER_SOURCE_DIR "/" + std::string(is_example ? "examples/" : "tests/templates/wild/") +
                          name + ".cu");
}

}  // namespace tuner::testing
