#include <tuner/measure/numbers/output_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/element_value.hpp>
#include <tuner/backend/fill_value.hpp>
#include <tuner/core/expression/open_expression.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner {
namespace {

/// \p use(value) with a part of element \p index in a type that holds it exactly.
template <typename Use>
auto with_element(const HostBuffer& buffer, std::size_t index, int part, Use use) {
  return with_type(buffer.type, [&](auto zero) {
    const auto value = number(element_at<decltype(zero)>(buffer.bytes.data(), index), part);
    if constexpr (std::is_integral_v<decltype(zero)> && sizeof zero < sizeof(std::int64_t)) {
      return use(std::int64_t{value});
    } else {
      return use(value);
    }
  });
}

std::size_t bytes_of(const RecordField& field) {
  return static_cast<std::size_t>(field.count) * info(field.type).bytes;
}

}  // namespace

double element(const HostBuffer& buffer, std::size_t index, int part) {
  return with_element(buffer, index, part, [](auto value) { return static_cast<double>(value); });
}

std::string element_text(const HostBuffer& buffer, std::size_t index) {
  std::string text;
  for (int part = 0; part < info(buffer.type).parts; ++part)
    text +=
        (part > 0 ? "|" : "") + with_element(buffer, index, part, [](auto value) { return fmt::format("{}", value); });
  return text;
}

double largest_error(const HostBuffer& actual, const HostBuffer& expected) {
  double difference = 0, scale = 0;
  const auto parts = static_cast<std::size_t>(info(actual.type).parts);
  for (std::size_t i = 0; i < actual.count * parts; ++i) {
    const int part = static_cast<int>(i % parts);
    const double is = element(actual, i / parts, part), wanted = element(expected, i / parts, part);
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
      bool is_counted = false;  // both parts of an element may be wrong
      for (int part = 0; part < info(actual.type).parts; ++part) {
        const double is = element(actual, i, part), wanted = element(expected, i, part);
        if (is_floating) result.largest_error = std::max(result.largest_error, fill_value::relative_error(is, wanted));
        if (tolerance.is_place) count_direction(result, is, wanted);
        if (is_floating && !fill_value::differs(is, wanted, tolerance.relative, tolerance.absolute, tolerance.is_place))
          continue;
        if (std::exchange(is_counted, true) || result.mismatches++ > 0) continue;
        result.first_index = i;
        result.actual = is;
        result.expected = wanted;
      }
    }
  }
  return result;
}

void add(Comparison& all, const Comparison& more, std::size_t first) {
  if (more.mismatches > 0 && (all.mismatches == 0 || first < all.first_index)) {
    all.first_index = first;
    all.actual = more.actual;
    all.expected = more.expected;
  }
  all.mismatches += more.mismatches;
  all.largest_error = std::max(all.largest_error, more.largest_error);
  all.off += more.off;
  all.less += more.less;
  all.nearer += more.nearer;
}

std::size_t numbers_in(const RecordType& type) {
  std::size_t numbers = 0;
  for (const RecordField& field : type.fields) numbers += static_cast<std::size_t>(field.count);
  return numbers;
}

const RecordField* field_at(const RecordType& type, std::size_t at) {
  for (const RecordField& field : type.fields)
    if (at >= field.offset && at < field.offset + bytes_of(field)) return &field;
  return nullptr;
}

std::string text(const RecordType& type) {
  std::string all = "{";
  for (const RecordField& field : type.fields) {
    all += fmt::format(" {} {}", info(field.type).name, field.name);
    if (field.count > 1) all += fmt::format("[{}]", field.count);
    all += ';';
  }
  return all + " }";
}

std::string element_name(const BufferSpec& buffer, std::int64_t index) {
  if (buffer.components == 1) return fmt::format("{}[{}]", buffer.name, index);
  const std::int64_t component = ((index % buffer.components) + buffer.components) % buffer.components;
  const std::int64_t element = (index - component) / buffer.components;
  if (buffer.record) {
    const auto at = static_cast<std::size_t>(component);
    const RecordField* const field = field_at(*buffer.record, at);
    if (field == nullptr) return fmt::format("{}[{}]", buffer.name, element);
    if (field->count == 1) return fmt::format("{}[{}].{}", buffer.name, element, field->name);
    return fmt::format("{}[{}].{}[{}]", buffer.name, element, field->name,
                       (at - field->offset) / info(field->type).bytes);
  }
  if (!buffer.component_names.empty())
    return fmt::format("{}[{}].{}", buffer.name, element, buffer.component_names[static_cast<std::size_t>(component)]);
  if (buffer.components <= 4) return fmt::format("{}[{}].{}", buffer.name, element, "xyzw"[component]);
  return fmt::format("{}[{}][{}]", buffer.name, element, component);
}

HostBuffer numbers_of(const RecordType& type, const RecordField& field, std::span<const std::byte> records) {
  const std::size_t count = records.size() / type.bytes, size = bytes_of(field);
  HostBuffer numbers{field.type, count * static_cast<std::size_t>(field.count), std::vector<std::byte>(count * size)};
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(numbers.bytes.data() + i * size, records.data() + i * type.bytes + field.offset, size);
  return numbers;
}

void put_numbers(const RecordType& type, const RecordField& field, std::span<const std::byte> numbers,
                 std::span<std::byte> records) {
  const std::size_t count = records.size() / type.bytes, size = bytes_of(field);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(records.data() + i * type.bytes + field.offset, numbers.data() + i * size, size);
}

Comparison compare_records(const RecordType& type, const std::optional<std::vector<NumberRun>>& runs,
                           std::span<const std::byte> actual, std::span<const std::byte> expected,
                           const std::vector<Tolerance>& tolerances) {
  const std::vector<NumberRun> all{{0, actual.size()}};
  Comparison result;
  for (std::size_t f = 0; f < type.fields.size(); ++f) {
    const RecordField& field = type.fields[f];
    const auto count = static_cast<std::size_t>(field.count);
    std::vector<NumberRun> of_field;
    for (const NumberRun& run : runs.value_or(all))
      of_field.push_back({run.begin / type.bytes * count, run.end / type.bytes * count});
    const Comparison one =
        compare_on_host(of_field, numbers_of(type, field, actual), numbers_of(type, field, expected), tolerances[f]);
    add(result, one,
        one.first_index / count * type.bytes + field.offset + one.first_index % count * info(field.type).bytes);
  }
  return result;
}

}  // namespace tuner
