#pragma once
/// Converts buffers of structs to the numbers of each field, and back. Pure. Internal to the measure room.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

/// The number of numbers in a record.
std::size_t numbers_in(const RecordType& type);

/// The field that contains byte \p at of a record; null: padding.
const RecordField* field_at(const RecordType& type, std::size_t at);

/// `{ float position[3]; int id; }`
std::string text(const RecordType& type);

/// The name of number \p index of \p buffer: `c[7]`, or `c[1].w` or `c[1][6]` if elements have several numbers. In a
/// buffer of records, \p index is a byte, and the name is `c[1].mass` or `c[1].position[2]`.
std::string element_name(const BufferSpec& buffer, std::int64_t index);

/// The numbers of \p field in all \p records, without gaps.
HostBuffer numbers_of(const RecordType& type, const RecordField& field, std::span<const std::byte> records);

/// The inverse of numbers_of(): copies \p numbers to \p field of all \p records.
void put_numbers(const RecordType& type, const RecordField& field, std::span<const std::byte> numbers,
                 std::span<std::byte> records);

/// Like Backend::compare(), field by field. Counts numbers; the index is the first byte of the first number in \p
/// actual that differs. \p runs: bytes of whole records; nullopt: all. \p tolerances: one for each field.
Comparison compare_records(const RecordType& type, const std::optional<std::vector<NumberRun>>& runs,
                           std::span<const std::byte> actual, std::span<const std::byte> expected,
                           const std::vector<Tolerance>& tolerances);

}  // namespace tuner
