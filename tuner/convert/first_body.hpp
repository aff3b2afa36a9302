#pragma once
/// Facts about the launch in the text of a kernel. Private to this room. All \p body have its head.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/core/cpp/signature.hpp>

namespace tuner::convert {

/// The last word of \p code, which may have dots: `blockDim.x`.
std::string_view path_before(std::string_view code);

/// `NAME` and `2` if \p body has the index `blockIdx.x * NAME * 2 + threadIdx.x`, of \p axis. Its parts may stand in
/// any order.
std::vector<std::string> index_factors(std::string_view body, std::size_t axis);

/// `512` or `NAME` of `__launch_bounds__(512)`; empty if there is none.
std::string most_threads(std::string_view body);

/// `float` of `extern __shared__ float tile[]`; empty if there is none.
std::string dynamic_shared_type(std::string_view body);

/// The words in the indices of those \p arguments that are pointers, each once: `y`, `WIDTH` and `x` of
/// `a[y * WIDTH + x]`.
std::vector<std::string> words_in_indices(std::string_view body, const std::vector<NamedType>& arguments);

/// `(A) * (B)` of `[A][B]`.
std::string elements(std::string_view brackets);

}  // namespace tuner::convert
