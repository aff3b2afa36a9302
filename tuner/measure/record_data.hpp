#pragma once
/// Buffers whose elements are structs of several types: their numbers, field by field, and back. Pure. Internal to the
/// measure room.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/compared_elements.hpp>
#include <tuner/measure/host_reference.hpp>

namespace tuner {

/// Numbers in one record, without its padding.
std::size_t numbers_in(const RecordType& type);

/// The field that byte \p at of a record belongs to; null for padding.
const RecordField* field_at(const RecordType& type, std::size_t at);

/// `{ float position[3]; int id; }`
std::string text(const RecordType& type);

/// Number \p index of \p buffer, of records the one at byte \p index: `c[7]`; of elements of several numbers `c[1].w`
/// or `c[1][6]`, of records `c[1].mass` or `c[1].position[2]`.
std::string element_name(const BufferSpec& buffer, std::int64_t index);

/// The numbers of \p field in \p records, one behind the other.
HostBuffer numbers_of(const RecordType& type, const RecordField& field, std::span<const std::byte> records);

/// Puts \p numbers, one behind the other, where \p field is in \p records.
void put_numbers(const RecordType& type, const RecordField& field, std::span<const std::byte> numbers,
                 std::span<std::byte> records);

/// As Backend::compare() of records, field by field: counts numbers, and the index is the byte in \p actual where the
/// first that differs begins. \p runs: of bytes of whole records; nothing for all. \p tolerances: one for each field.
Comparison compare_records(const RecordType& type, const std::optional<std::vector<NumberRun>>& runs,
                           std::span<const std::byte> actual, std::span<const std::byte> expected,
                           const std::vector<Tolerance>& tolerances);

}  // namespace tuner
