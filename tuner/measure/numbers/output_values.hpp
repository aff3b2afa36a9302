#pragma once
/// Copies of buffers in host memory. Finds the numbers to compare (`compare c when i < n`), and compares them here if
/// they are too scattered for the device. Shows the outputs of a kernel to a reader. Pure.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/core/values/element_type.hpp>

namespace tuner {

struct BufferSpec;
struct RecordField;
struct RecordType;

/// A copy of one buffer in host memory.
struct HostBuffer {
  ElementType type = ElementType::float32;
  std::size_t count = 0;         ///< elements
  std::vector<std::byte> bytes;  ///< count * size of type
};

/// Copies of output buffers, by name.
using HostBuffers = std::map<std::string, HostBuffer>;

/// Element \p index of \p buffer; 64-bit integers are rounded.
/// \p part: which of its numbers, if it holds several (ElementTypeInfo::parts).
double element(const HostBuffer& buffer, std::size_t index, int part = 0);
/// The same as text, with as many digits as distinguish it from other values of its type: `-7`, `0.1`, `nan`.
std::string element_text(const HostBuffer& buffer, std::size_t index);

/// The largest |actual - expected| of all elements, relative to the largest |expected|, so that elements near zero do
/// not dominate; infinity if a NaN meets a number. Precondition: equal counts.
double largest_error(const HostBuffer& actual, const HostBuffer& expected);

/// The first elements of an output.
struct OutputValues {
  std::string buffer;
  std::size_t count = 0;           ///< of all elements
  std::vector<std::string> first;  ///< element_text() of the first few
  std::optional<double> error;     ///< largest_error(), if the expected values are known
};

/// One entry for each of \p actual, with at most \p shown elements. \p expected: empty, or the same buffers.
std::vector<OutputValues> output_values(const HostBuffers& actual, const HostBuffers& expected, std::size_t shown = 4);

/// The numbers of a buffer from `begin` to `end`, without `end`.
struct NumberRun {
  std::size_t begin = 0, end = 0;
};

/// The runs among \p count numbers whose element `i` satisfies \p when, in order. An element has \p components numbers.
/// Throws EvaluationError if \p when has no value for an element.
std::vector<NumberRun> runs_where(const Expression& when, std::size_t count, int components, const Bindings& names);

/// The number of numbers in \p runs.
std::size_t count_of(const std::vector<NumberRun>& runs);

/// Like Backend::compare(), for \p runs of two buffers of the same type and size.
Comparison compare_on_host(const std::vector<NumberRun>& runs, const HostBuffer& actual, const HostBuffer& expected,
                           const Tolerance& tolerance);

/// Adds \p more, the comparison of another part, to \p all. \p first: the index there of its first difference.
void add(Comparison& all, const Comparison& more, std::size_t first);

// ---- structs: converts them to the numbers of each field, and back --------------------------------------------------

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
