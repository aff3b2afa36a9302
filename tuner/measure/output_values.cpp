#include <tuner/measure/output_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <tuner/backend/element_value.hpp>

namespace tuner {
namespace {

/// \p use(value) with element \p index in a type that holds it exactly.
template <typename Use>
auto with_element(const HostBuffer& buffer, std::size_t index, Use use) {
  return with_type(buffer.type, [&](auto zero) {
    const auto value = number(element_at<decltype(zero)>(buffer.bytes.data(), index));
    if constexpr (std::is_integral_v<decltype(zero)> && sizeof zero < sizeof(std::int64_t)) {
      return use(std::int64_t{value});
    } else {
      return use(value);
    }
  });
}

}  // namespace

double element(const HostBuffer& buffer, std::size_t index) {
  return with_element(buffer, index, [](auto value) { return static_cast<double>(value); });
}

std::string element_text(const HostBuffer& buffer, std::size_t index) {
  return with_element(buffer, index, [](auto value) { return fmt::format("{}", value); });
}

double largest_error(const HostBuffer& actual, const HostBuffer& expected) {
  double difference = 0, scale = 0;
  for (std::size_t i = 0; i < actual.count; ++i) {
    const double is = element(actual, i), wanted = element(expected, i);
    if (is == wanted || (std::isnan(is) && std::isnan(wanted))) {
      if (std::isfinite(wanted)) scale = std::max(scale, std::abs(wanted));
      continue;
    }
    if (!std::isfinite(is) || !std::isfinite(wanted)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(is - wanted));
    scale = std::max(scale, std::abs(wanted));
  }
  if (difference == 0) return 0;
  return scale > 0 ? difference / scale : std::numeric_limits<double>::infinity();
}

std::vector<OutputValues> output_values(const HostBuffers& actual, const HostBuffers& expected, std::size_t shown) {
  std::vector<OutputValues> all;
  for (const auto& [name, buffer] : actual) {
    OutputValues& values = all.emplace_back();
    values.buffer = name;
    values.count = buffer.count;
    for (std::size_t i = 0; i < std::min(shown, buffer.count); ++i) values.first.push_back(element_text(buffer, i));
    const auto wanted = expected.find(name);
    if (wanted == expected.end() || wanted->second.count != buffer.count || buffer.count == 0) continue;
    values.error = largest_error(buffer, wanted->second);
  }
  return all;
}

}  // namespace tuner
