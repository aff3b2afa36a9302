#pragma once
/// One buffer of a problem: its data, what it is filled with, and how it is compared with what is expected. Internal to
/// the measure room.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/compared_elements.hpp>
#include <tuner/measure/filled_numbers.hpp>
#include <tuner/measure/guarded_memory.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

/// What outputs hold before they are written: the first two where the reference writes, the others for configurations.
/// What both read before they wrote it would else be the same.
inline constexpr unsigned char kReferencePoisons[] = {0xff, 0x5a};
inline constexpr unsigned char kPoisons[] = {0xa5, 0x96, 0x3c, 0x81};

inline std::size_t bytes_of(ElementType type, std::size_t count) { return count * info(type).bytes; }

struct ProblemBuffer {
  /// What one set of inputs is known by, and what it gives.
  struct Answer {
    GuardedMemory expected;         // out and inout
    std::uint64_t fingerprint = 0;  // in and constant: of the filled data
    std::uint64_t expected_fingerprint = 0;
    unsigned char poison = 0xff;
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
  std::size_t count = 0;
  std::size_t used = 0;  ///< set of inputs
  GuardedMemory actual;
  std::array<Answer, 2> answers;
  std::vector<FilledNumbers> fills;  ///< one, or one for each field of its records
  bool is_filled_by_field = false;
  std::vector<std::pair<ArrayShape, std::unique_ptr<DeviceArray>>> arrays;  ///< of its textures and surfaces
  std::array<std::vector<std::byte>, 2> records;   ///< by set of inputs: what the fills of fields make
  std::vector<std::byte> expected_content;         ///< what a file says of it
  std::vector<Tolerance> tolerances;               ///< one, or one for each field of its records
  std::optional<std::vector<NumberRun>> compared;  ///< nothing: all numbers

  bool is_output() const { return spec->role == BufferRole::out || spec->role == BufferRole::inout; }
  bool is_work_space() const { return spec->role == BufferRole::scratch || spec->role == BufferRole::zeroed; }
  bool is_read_only() const { return spec->role == BufferRole::in || spec->role == BufferRole::constant; }
  bool is_filled() const { return !is_work_space() && spec->role != BufferRole::out; }
  bool has_integers_to_write() const { return spec->role == BufferRole::out && count > 0 && !info(type).is_floating; }
  bool holds_floating() const;
  std::string type_text() const;
  Answer& answer() { return answers[used]; }
  const Answer& answer() const { return answers[used]; }
  /// What launches use; \p reference: of outputs the expected ones.
  const GuardedMemory& memory(bool reference) const { return reference && is_output() ? answer().expected : actual; }

  // All throw Error where the kernel's file makes no sense of the problem.
  void set_count(const FilledBy& by);
  /// \p captured: the file that takes the place of the fill; null: none.
  void choose_fill(const FilledBy& by, const std::string* captured, std::uint64_t seed);
  void choose_compared(const FilledBy& by);

  void fill(const GuardedMemory& region);
  std::vector<std::byte> filled_records(std::size_t which) const;
  void set_bytes(const GuardedMemory& region, unsigned char value) const;
  std::uint64_t fingerprint(const GuardedMemory& region) const;
  HostBuffer copy(DevicePointer from) const;
  HostBuffer copy(const GuardedMemory& from) const { return copy(from.data()); }
  /// Adds \p data by the buffer's name; of records, each field by its own.
  void add(HostBuffers& all, HostBuffer data) const;

  /// "c[1024], which has 1000 elements of float": \p bytes from its start.
  std::string outside(std::ptrdiff_t bytes) const;
  std::optional<std::string> broken_guard(const GuardedMemory& region) const;

  /// Numbers that are compared.
  std::size_t compared_count() const;
  Comparison compare(Within within) const { return compare(actual, within); }
  /// Of what is compared of \p region and of what is expected.
  Comparison compare(const GuardedMemory& region, Within within) const;
  /// Whether all bytes of \p element are \p value.
  bool holds(const GuardedMemory& region, std::size_t element, unsigned char value) const;
  /// Chooses a poison that differs from each expected element; false when there is none.
  bool choose_poison();
  unsigned char poison_of(std::size_t pass) const { return pass == 0 ? answer().poison : kPoisons[1]; }
  /// The first element that differs from the expected one.
  std::optional<std::string> mismatch(std::size_t pass) const;

 private:
  Number number_at(std::size_t element) const;
  bool adds_to_poison(const Number& number, std::size_t pass) const;
};

}  // namespace tuner
