#pragma once
/// ChipMetrics of a loaded CUPTI. Private to this folder; see cupti.hpp.

#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/backend/cuda/chip_metrics.hpp>
#include <tuner/backend/cuda/cupti.hpp>

namespace tuner::cuda {

std::variant<std::vector<std::string>, Unavailable> known_chips(const Cupti& cupti);
/// \p cupti must outlive it. \p availability: the counters of the chip that can be used on a device; empty: all.
std::variant<std::unique_ptr<ChipMetrics>, Unavailable> chip_metrics(const Cupti& cupti, std::string_view chip,
                                                                     std::vector<std::uint8_t> availability = {});
std::variant<std::string, Unavailable> chip_of_device(const Cupti& cupti, int ordinal);

}  // namespace tuner::cuda
