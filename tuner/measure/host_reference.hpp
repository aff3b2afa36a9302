#pragma once
/// Expected outputs computed by a C++ function instead of a reference kernel, for kernels described in code.

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <tuner/core/element_type.hpp>
#include <tuner/core/problem_size.hpp>

namespace tuner {

/// A copy of one buffer in host memory.
struct HostBuffer {
  ElementType type = ElementType::float32;
  std::size_t count = 0;         ///< elements
  std::vector<std::byte> bytes;  ///< count * size of type

  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
};

/// Called once for the problem and once for each `verify` problem. \p buffers: all `in`, `inout`, `consumed` and `out`
/// buffers by name, filled as for a kernel. The function writes the expected outputs into `out` and `inout` buffers. A
/// buffer of structs has the type `uint8`; `as<Star>()` gives its elements.
using HostReference = std::function<void(const ProblemSize& size, std::map<std::string, HostBuffer>& buffers)>;

}  // namespace tuner
