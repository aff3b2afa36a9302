#pragma once
/// What inputs are filled with: numbers at random, computed of their index, or read from a file. Internal to the
/// measure room.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/measure_options.hpp>

namespace tuner {

/// Numbers that lie one behind the other: a buffer's, or those of one field of its records.
struct FilledNumbers {
  ElementType type = ElementType::float32;
  std::size_t count = 0;
  Fill fill;
  std::vector<std::byte> content;  ///< in its place
  std::uint64_t seed = 0;

  /// Whether another seed gives other numbers.
  bool are_random() const { return count > 0 && content.empty() && fill.kind == Fill::Kind::uniform; }
  /// Writes them to \p to; \p other: those of another seed, where they are random.
  void write(Backend& backend, DevicePointer to, bool other) const;
};

/// Whose numbers they are, for messages and for what they are worked out of.
struct FilledBy {
  const KernelSpec& spec;
  const Bindings& names;
  std::string problem;  ///< "nx=33 ny=7 offset=1"
  const MeasureOptions& options;
};

/// Those that \p fill says. \p name: of the buffer, or `stars.mass`. Throws SpecError where it gives no number.
FilledNumbers filled_numbers(const FilledBy& by, const std::string& name, const FieldFill& fill, ElementType type,
                             std::size_t count, std::uint64_t seed);

/// read_data_file(), or what MeasureOptions::carried has in its place.
std::vector<std::byte> read_numbers(const MeasureOptions& options, const std::filesystem::path& file, ElementType type,
                                    std::size_t count);

/// \p count numbers of the file that \p by names as \p path. \p what: "fill" or "answer". Throws SpecError at \p place.
std::vector<std::byte> numbers_from_file(const FilledBy& by, const std::string& name, std::string_view what,
                                         const std::string& path, const SourceLocation& place, ElementType type,
                                         std::size_t count);

}  // namespace tuner
