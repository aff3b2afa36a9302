#pragma once
/// Counters of a loaded CUPTI. Private to this folder; see cupti.hpp.

#include <memory>
#include <variant>

#include <tuner/backend/cuda/counters.hpp>
#include <tuner/backend/cuda/cupti.hpp>

namespace tuner::cuda {

/// Like open_counters(). \p cupti must outlive the result.
std::variant<std::unique_ptr<Counters>, Unavailable> open_counters(const Cupti& cupti, CUcontext context, int ordinal);

}  // namespace tuner::cuda
