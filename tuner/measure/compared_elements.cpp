#include <tuner/measure/compared_elements.hpp>

#include <cstring>
#include <optional>
#include <string>

#include <tuner/backend/fill_value.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

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
