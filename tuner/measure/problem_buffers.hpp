#pragma once
/// The buffers of one problem on one backend: inputs, outputs with canaries on both sides, work space, and the
/// expected outputs. Internal to the measure room.

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

class ProblemBuffers {
 public:
  /// Allocates everything whose size does not depend on parameters. \p offset: elements by which in, out and inout
  /// buffers are shifted. \p captured: what takes the place of the fills and numbers of \p spec; null: nothing. Throws
  /// Error.
  ProblemBuffers(Backend& backend, const KernelSpec& spec, ProblemSize size, std::int64_t offset,
                 const MeasureOptions& options, std::uint64_t seed, const CapturedData* captured = nullptr);

  const ProblemSize& size() const { return size_; }
  /// For messages: "nx=33 ny=7 offset=1".
  std::string text() const;

  /// How many sets of inputs there are: 2 once there is room for two sets of expected outputs and where other seeds
  /// give other inputs, else 1.
  std::size_t inputs() const { return two_inputs_ ? 2 : 1; }
  /// Asks for a second set: other numbers for everything that is filled at random, with expected outputs of their own.
  void want_two_inputs();
  /// Fills with set \p which. Everything below is about the set that is used: 0 until this is called.
  void use_inputs(std::size_t which);

  /// Makes everything as it is before the reference runs (expected outputs are poisoned).
  void reset_for_reference();
  /// Called when the expected outputs are complete: remembers their fingerprints and chooses poisons that differ from
  /// each of their elements. Throws Error when an expected value is NaN: nothing could ever match it, and when the
  /// reference wrote where it must not.
  void accept_reference();
  /// Whether an element of an `out` buffer of integers still holds, or happens to be, what reset_for_reference() put
  /// there. Then the reference is to run once more, behind poison_reference_again(), which remembers what it gave.
  bool looks_unwritten();
  void poison_reference_again();
  /// Throws Error when the reference left an element what it was before, in both runs.
  void check_written();
  void compute_reference(const HostReference& reference);
  /// The expected outputs are those of the files.
  void take_answers();

  /// Work space as \p configuration needs it.
  void size_work_space(const Configuration& configuration);
  /// The configuration of the last call; nothing before.
  const std::optional<Configuration>& work_space_for() const { return work_space_for_; }
  /// How many differently poisoned runs prove that every output was written: 1, or 2 where an expected output holds
  /// every possible byte.
  std::size_t passes() const { return two_passes_[used_] ? 2 : 1; }
  /// Makes everything as it is before a run that is verified.
  void reset(std::size_t pass);

  /// Makes everything as it is before runs that are only measured: outputs stay as they are.
  void reset_for_measuring();

  /// What the last run did wrong, other than its results: writes out of bounds or to inputs, work space not zero.
  std::optional<std::string> damage();
  /// The first output of a run after reset(\p pass) that differs from the expected one.
  std::optional<std::string> mismatch(std::size_t pass);
  /// Whether the inputs, and the guards of inputs and outputs, are what they were before anything ran.
  bool inputs_intact();
  /// Whether the expected outputs are still what accept_reference() saw.
  bool expected_intact();
  /// Writes inputs and guards again after damage.
  void restore_inputs();

  /// "c[1024], behind the last of 1000 elements" for an address near a buffer; nothing for one far from all.
  std::optional<std::string> place(DevicePointer address) const;

  /// Copies of the outputs, or of what they are expected to be.
  HostBuffers outputs() const;
  /// The same of expected outputs, with the outputs' own elements where none is compared.
  HostBuffers expected_of_outputs() const;
  HostBuffers expected() const;

  /// The `constant` buffers and their variables of \p module, which was loaded from \p image. Throws Error where one is
  /// too small.
  std::vector<Launch::Constant> constants(const Image& image, const Module& module) const;
  /// Those that the textures and surfaces of \p launch show; \p reference: of outputs the expected ones.
  std::vector<Launch::Array> arrays(const LaunchSpec& launch, bool reference) const;
  /// Arguments of \p launch; \p reference: outputs are the expected ones. Throws Error for an unknown name.
  std::vector<Argument> arguments(const LaunchSpec& launch, const Configuration& configuration, bool reference) const;

  /// Longest time a run on this problem may take before it counts as hanging.
  double run_limit_s() const;
  void saw_run(double seconds);

 private:
  /// What one set of inputs is known by, and what it gives.
  struct Answer {
    GuardedMemory expected;         // out and inout
    std::uint64_t fingerprint = 0;  // in and constant: of the filled data
    std::uint64_t expected_fingerprint = 0;
    unsigned char poison = 0xff;
  };
  struct Buffer {
    const BufferSpec* spec = nullptr;
    ElementType type = ElementType::float32;
    std::size_t count = 0;
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
  };

  Answer& answer(Buffer& buffer) const { return buffer.answers[used_]; }
  const Answer& answer(const Buffer& buffer) const { return buffer.answers[used_]; }
  HostBuffer copy(const Buffer& buffer, const GuardedMemory& from) const { return copy(buffer, from.data()); }
  HostBuffer copy(const Buffer& buffer, DevicePointer from) const;
  GuardedMemory allocate(const Buffer& buffer);
  static std::string outside(const Buffer& buffer, std::ptrdiff_t bytes);
  std::optional<std::string> broken_guard(const Buffer& buffer, const GuardedMemory& region);
  void reset_work_space(const Buffer& buffer);
  void set_bytes(DevicePointer to, unsigned char value, std::size_t bytes);
  std::uint64_t fingerprint(DevicePointer from, std::size_t bytes);
  std::uint64_t fingerprint(const GuardedMemory& region) { return fingerprint(region.data(), region.bytes()); }
  void give_up_second_inputs();
  void choose_fill(Buffer& buffer, const FilledBy& by, std::uint64_t seed) const;
  void choose_tolerances(Buffer& buffer) const;
  ArrayShape shape_of(const TextureSpec& spec, const Buffer& buffer, const Bindings& names) const;
  void add_texture(const TextureSpec& spec, const Bindings& names);
  std::string answer_name(const Buffer& buffer) const;
  void choose_compared(Buffer& buffer, const Bindings& names) const;
  static std::size_t compared_count(const Buffer& buffer);
  enum class Within { nothing, tolerance };
  /// Of what is compared of \p buffer.
  Comparison compare(const Buffer& buffer, DevicePointer actual, DevicePointer expected, Within within);
  void fill(Buffer& buffer, const GuardedMemory& region);
  std::vector<std::byte> filled_records(const Buffer& buffer, std::size_t which);
  static void add(HostBuffers& all, const Buffer& buffer, HostBuffer data);
  /// One number of a buffer.
  struct Number {
    ElementType type{};
    std::size_t at = 0;  ///< bytes from the buffer's start
    Tolerance tolerance;
  };
  static Number number_at(const Buffer& buffer, std::size_t element);
  static bool holds_floating(const Buffer& buffer);
  static std::string type_text(const Buffer& buffer);
  void choose_poison(Buffer& buffer);
  unsigned char poison_of(const Buffer& buffer, std::size_t pass) const;
  bool still_poisoned(const Buffer& buffer, std::size_t element, std::size_t pass) const;
  bool adds_to_poison(const Buffer& buffer, std::size_t element, std::size_t pass) const;
  bool holds(const Buffer& buffer, const GuardedMemory& region, std::size_t element, unsigned char value) const;
  static bool has_integers_to_write(const Buffer& buffer) {
    return buffer.spec->role == BufferRole::out && buffer.count > 0 && !info(buffer.type).is_floating;
  }
  void fill_expected(unsigned char poison);
  [[noreturn]] void refuse_unwritten(const Buffer& buffer, const Comparison& found) const;
  void set_count(Buffer& buffer, const Bindings& names) const;

  Backend& backend_;
  const KernelSpec& spec_;
  const MeasureOptions& options_;
  const CapturedData* captured_;
  ProblemSize size_;
  std::int64_t offset_ = 0;
  std::uint64_t regions_ = 0;  // made so far
  std::vector<Buffer> buffers_;
  /// As in the spec.
  struct Texture {
    const Buffer* buffer = nullptr;
    DeviceArray* array = nullptr;
    std::uint64_t object = 0;
  };
  std::vector<Texture> textures_;
  std::optional<Configuration> work_space_for_;
  std::size_t used_ = 0;  // set of inputs
  bool two_inputs_ = false;
  std::array<bool, 2> two_passes_{};  // by set
  double best_run_s_ = 0;
};

}  // namespace tuner
