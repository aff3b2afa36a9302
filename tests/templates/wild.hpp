#pragma once
/// Files written as the kernels of other people's repositories are, by paths from the source folder without `.cu`.

#include <string>

namespace tuner::testing {

inline constexpr const char* kWildKernels[] = {"tests/templates/wild/bits",
                                               "tests/templates/wild/block_sum",
                                               "tests/templates/wild/blur",
                                               "tests/templates/wild/byte_lanes",
                                               "tests/templates/wild/cub_parts",
                                               "tests/templates/wild/extremes",
                                               "tests/templates/wild/half_axpy",
                                               "tests/templates/wild/histogram",
                                               "tests/templates/wild/matmul",
                                               "tests/templates/wild/nbody",
                                               "tests/templates/wild/rounding",
                                               "tests/templates/wild/stars",
                                               "tests/templates/wild/tile_sum",
                                               "tests/templates/wild/vector_add",
                                               "tests/templates/wild/warp_sum",
                                               "tests/templates/wild/wave",
                                               "examples/row_sum_cub"};

/// For the names of tests.
inline std::string file_name(const char* path) {
  const std::string text = path;
  return text.substr(text.rfind('/') + 1);
}

}  // namespace tuner::testing
