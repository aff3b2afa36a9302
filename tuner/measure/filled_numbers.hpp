#pragma once
/// The contents of inputs: random numbers, numbers computed from their index, or numbers from a file. Internal to the
/// measure room.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

struct FillSpec;
struct KernelSpec;

inline constexpr double kFillSeconds = 600;  ///< the longest filling: from slow disks, or by expressions on the CPU

/// The numbers of a buffer, or of one field of its records, without gaps.
struct FilledNumbers {
  ElementType type = ElementType::float32;
  std::size_t count = 0;
  Fill fill;
  std::vector<std::byte> content;  ///< if not empty: used instead of `fill`
  std::uint64_t seed = 0;

  /// Whether another seed gives other numbers.
  bool are_random() const { return count > 0 && content.empty() && fill.kind == Fill::Kind::uniform; }
  /// Writes them to \p to. \p other: with another seed, if they are random.
  void write(Backend& backend, DevicePointer to, bool other) const;
};

/// The problem to which the numbers belong, for expressions and messages.
struct FilledBy {
  const KernelSpec& spec;
  const Bindings& names;
  std::string problem;  ///< "nx=33 ny=7 offset=1"
  const MeasureOptions& options;
};

/// The numbers of \p fill, or of Fill::by_default(). \p name: the buffer, or `stars.mass`. Throws SpecError if one of
/// them cannot be computed.
FilledNumbers filled_numbers(const FilledBy& by, const std::string& name, const std::optional<FillSpec>& fill,
                             ElementType type, std::size_t count, std::uint64_t seed);

/// Element i is the value of \p element for this `i`. Throws SpecError if it has no value, does not fit \p type, or if
/// this takes longer than \p most_seconds.
std::vector<std::byte> computed_elements(ElementType type, std::size_t count, const Expression& element,
                                         const Bindings& names, double most_seconds = kFillSeconds);

/// Like read_data_file(), but takes the numbers from MeasureOptions::carried if they are there.
std::vector<std::byte> read_numbers(const MeasureOptions& options, const std::filesystem::path& file, ElementType type,
                                    std::size_t count);

/// \p count numbers of the file \p path, relative to the spec of \p by. \p what: "fill" or "answer". Throws SpecError
/// with \p place.
std::vector<std::byte> numbers_from_file(const FilledBy& by, const std::string& name, std::string_view what,
                                         const std::string& path, const SourceLocation& place, ElementType type,
                                         std::size_t count);

}  // namespace tuner
