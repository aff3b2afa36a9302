#include <tuner/measure/record_data.hpp>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace tuner {
namespace {

std::size_t bytes_of(const RecordField& field) {
  return static_cast<std::size_t>(field.count) * info(field.type).bytes;
}

}  // namespace

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
    result.largest_error = std::max(result.largest_error, one.largest_error);
    if (one.mismatches > 0) {
      const std::size_t at =
          one.first_index / count * type.bytes + field.offset + one.first_index % count * info(field.type).bytes;
      if (result.mismatches == 0 || at < result.first_index) {
        result.first_index = at;
        result.actual = one.actual;
        result.expected = one.expected;
      }
    }
    result.mismatches += one.mismatches;
  }
  return result;
}

}  // namespace tuner
