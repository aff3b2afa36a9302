#include <tuner/measure/output_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include <tuner/backend/element_value.hpp>
#include <tuner/backend/fill_value.hpp>

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

std::vector<NumberRun> runs_where(const Expression& when, std::size_t count, int components, const Bindings& names) {
  static const std::string index = "i";
  const OpenExpression open(when, {&index, 1}, names);
  const auto step = static_cast<std::size_t>(components);
  std::vector<NumberRun> runs;
  for (std::size_t begin = 0; begin < count; begin += step) {
    const auto i = static_cast<std::int64_t>(begin / step);
    const std::optional<std::int64_t> holds = open.evaluate(&i);
    if (!holds) {
      Bindings here = names;
      here.set(index, i);
      static_cast<void>(when.evaluate_boolean(here));  // throws the reason
    }
    if (holds.value_or(0) == 0) continue;
    if (!runs.empty() && runs.back().end == begin)
      runs.back().end += step;
    else
      runs.push_back({begin, begin + step});
  }
  return runs;
}

std::size_t count_of(const std::vector<NumberRun>& runs) {
  std::size_t count = 0;
  for (const NumberRun& run : runs) count += run.end - run.begin;
  return count;
}

Comparison compare_on_host(const std::vector<NumberRun>& runs, const HostBuffer& actual, const HostBuffer& expected,
                           const Tolerance& tolerance) {
  const std::size_t size = info(actual.type).bytes;
  const bool is_floating = info(actual.type).is_floating;
  Comparison result;
  for (const NumberRun& run : runs) {
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const bool same = std::memcmp(actual.bytes.data() + i * size, expected.bytes.data() + i * size, size) == 0;
      if (same && !is_floating) continue;
      const double is = element(actual, i), wanted = element(expected, i);
      if (is_floating) result.largest_error = std::max(result.largest_error, fill_value::relative_error(is, wanted));
      if (is_floating && !fill_value::differs(is, wanted, tolerance.relative, tolerance.absolute)) continue;
      if (result.mismatches++ > 0) continue;
      result.first_index = i;
      result.actual = is;
      result.expected = wanted;
    }
  }
  return result;
}

}  // namespace tuner
