#pragma once
/// One buffer of a problem: its data, its fill, and the comparison with the expected data. Internal to the measure
/// room.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/measure/filled_numbers.hpp>
#include <tuner/measure/guarded_memory.hpp>
#include <tuner/measure/numbers/output_values.hpp>

namespace tuner {

struct BufferSpec;

/// Stands in messages about wrong floating-point results, before their tolerance.
inline constexpr std::string_view kAllowed = ", tolerance ";

/// Poisons are bytes that fill outputs before a run: the first two before the reference, the others before
/// configurations. They differ, so that an output that is read before it is written gives another result.
inline constexpr unsigned char kReferencePoisons[] = {0xff, 0x5a};
inline constexpr unsigned char kPoisons[] = {0xa5, 0x96, 0x3c, 0x81};

/// The bytes of memory that a kernel has not written yet: NaN and -1 on the tuned problem. On others they are very
/// large numbers, very small ones or zeros, as no single one of them shows in every maximum and minimum.
struct Unwritten {
  unsigned char work_space;
  unsigned char output;  ///< instead of kPoisons[0], where it differs from each expected element
};
inline constexpr Unwritten kUnwritten[] = {{0xff, kPoisons[0]}, {0x7f, 0x7b}, {0xfe, 0xfb}, {0, 0x81}};

inline std::size_t bytes_of(ElementType type, std::size_t count) { return count * info(type).bytes; }

struct ProblemBuffer {
  /// The expected data for one set of inputs.
  struct Answer {
    GuardedMemory expected;                  ///< out and inout
    std::uint64_t fingerprint = 0;           ///< in and constant: of the filled data
    std::uint64_t expected_fingerprint = 0;  ///< of `expected`
    unsigned char poison = 0xff;             ///< for configurations
  };
  /// One number of a buffer.
  struct Number {
    ElementType type{};
    std::size_t at = 0;  ///< bytes from the buffer's start
    Tolerance tolerance;
  };
  enum class Within { nothing, tolerance };

  Backend* backend = nullptr;
  const BufferSpec* spec = nullptr;
  ElementType type = ElementType::float32;
  Unwritten unwritten = kUnwritten[0];
  std::size_t count = 0;
  std::size_t used = 0;  ///< the set of inputs in use
  GuardedMemory actual;
  GuardedMemory original;  ///< inout and consumed: the first set of inputs, for Refill; made when it is needed
  std::array<Answer, 2> answers;
  std::vector<FilledNumbers> fills;  ///< one, or one for each field of records
  bool is_filled_by_field = false;
  std::optional<std::uint64_t> filled;  ///< the fingerprint of contents from a file, once uploaded.
  std::vector<std::pair<ArrayShape, std::unique_ptr<DeviceArray>>> arrays;  ///< of its textures and surfaces.
  std::array<std::vector<std::byte>, 2> records;   ///< by set of inputs: contents, if filled field by field.
  std::vector<std::byte> expected_content;         ///< from the answer's file, if any.
  std::vector<Tolerance> tolerances;               ///< one, or one for each field.
  std::optional<std::vector<NumberRun>> compared;  ///< nullopt: all numbers.

  bool is_changed_input() const;
  unsigned char work_space_byte() const;
  bool is_read_only() const;
  bool has_integers_to_write() const;
  bool holds_floating() const;
  std::string type_text() const;
  Answer& answer() { return answers[used]; }
  const Answer& answer() const { return answers[used]; }
  /// The memory for launches; \p reference: those of the reference, which write the expected outputs.
  const GuardedMemory& memory(bool reference) const;

  // These throw Error if an expression of the kernel's file has no valid value for this problem.
  void set_count(const FilledBy& by);
  /// \p recorded: a file to use instead of the fill; null: none.
  void choose_fill(const FilledBy& by, const std::string* recorded, std::uint64_t seed);
  void choose_compared(const FilledBy& by);

  /// Does nothing if \p region still holds the contents of a file: uploading takes far longer than looking.
  void fill(const GuardedMemory& region);
  std::vector<std::byte> filled_records(std::size_t which) const;
  void set_bytes(const GuardedMemory& region, unsigned char value) const;
  std::uint64_t fingerprint(const GuardedMemory& region) const;
  HostBuffer copy(DevicePointer from) const;
  HostBuffer copy(const GuardedMemory& from) const { return copy(from.data()); }
  /// Adds \p data to \p all under the buffer's name; for records, adds each field under its own name.
  void add(HostBuffers& all, HostBuffer data) const;

  /// Describes the place \p bytes from the start: "c[1024], which has 1000 elements of float".
  std::string outside(std::ptrdiff_t bytes) const;
  std::optional<std::string> broken_guard(const GuardedMemory& region) const;

  /// The number of numbers that are compared.
  std::size_t compared_count() const;
  Comparison compare(Within within) const { return compare(actual, within); }
  /// Compares \p region with the expected data.
  Comparison compare(const GuardedMemory& region, Within within) const;
  /// The expected numbers that are NaN.
  Comparison expected_nan() const;
  /// The largest of the expected numbers that are compared, without its sign. Precondition: no record.
  double largest_expected() const;
  /// Whether all bytes of \p element are \p value.
  bool holds(const GuardedMemory& region, std::size_t element, unsigned char value) const;
  /// Fills `actual` with copies of the first expected element. Does nothing and returns false if there is only one, or
  /// if the last one or one of some others differs by more than the tolerance.
  bool repeat_expected() const;
  /// Fills `actual` with the numbers of \p input, which may have another type. Does nothing and returns false if one of
  /// some differs by more than the tolerance from the expected one, a number does not fit, or there are many.
  bool take_numbers_of(const ProblemBuffer& input) const;
  /// Chooses a poison that differs from each expected element; returns false if there is none.
  bool choose_poison();
  unsigned char poison_of(std::size_t pass) const { return pass == 0 ? answer().poison : kPoisons[1]; }
  /// The first element that differs from the expected one.
  std::optional<std::string> mismatch(std::size_t pass) const;
  std::optional<std::string> bias(const Comparison& found) const;

 private:
  HostBuffer element_of(const GuardedMemory& region, std::size_t at) const;
  bool is_near(double x, double y) const;
  Number number_at(std::size_t element) const;
  bool misses_numbers(std::size_t fewest) const;
  bool adds_to_poison(const Number& number, std::size_t pass) const;
};

}  // namespace tuner
