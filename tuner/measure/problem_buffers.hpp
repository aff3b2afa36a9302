#pragma once
/// The buffers of one problem on one backend: inputs, outputs, work space, and the expected outputs. All have guards on
/// both sides. Internal to the measure room.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

struct BufferSpec;
struct FillSpec;
struct KernelSpec;
struct LaunchSpec;
struct ScalarValue;
struct TensorMapSpec;
struct TextureSpec;

// ---- contents of inputs: random numbers, numbers computed from their index, or numbers from a file ------------------

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

// ---- one buffer: its data, its fill, and the comparison with the expected data -------------------------------------

/// Stands in messages about wrong floating-point results, before their tolerance.
inline constexpr std::string_view kAllowed = ", tolerance ";

/// Device memory with guards on both sides, which show writes out of bounds: [guard and shift][data][guard]. Each
/// memory has different numbers in its guards, so that a copy of another buffer's guard is noticed too. Around floating
/// numbers, every second number of a guard is NaN, so that a sum with one of them is noticed. Movable; empty when it is
/// constructed by default.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  /// \p shift: bytes from an aligned address to the data. \p number: chooses the numbers in the guards. \p floating:
  /// bytes of a floating number of the data; 0: there are none. Throws Error if there is no room.
  GuardedMemory(Backend& backend, std::size_t bytes, std::size_t shift, std::size_t guard_bytes, std::uint64_t number,
                std::size_t floating);

  bool is_made() const { return memory_ != nullptr; }
  DevicePointer data() const { return memory_->address() + front_; }
  std::size_t bytes() const { return bytes_; }

  /// Whether there is room for \p bytes of data and its guards.
  bool has_room(std::size_t bytes) const { return is_made() && memory_->bytes() >= bytes + 2 * guard_bytes_; }
  /// Changes the size of the data to \p bytes. Precondition: has_room().
  void resize(std::size_t bytes);

  void write_guards() const;
  /// Until the next write_guards().
  void fill_guards_with_zeros() const;
  /// The changed byte of a guard that is nearest to the data, in bytes from its beginning; nullopt: none.
  std::optional<std::ptrdiff_t> broken() const;

 private:
  Backend* backend_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t guard_bytes_ = 0;
  std::size_t front_ = 0, bytes_ = 0, back_ = 0;
  std::vector<unsigned char> guards_;  // contents, as long as the longer guard
};

/// Poisons are bytes that fill outputs before a run: the first two before the reference, the others before
/// configurations. They differ, so that an output that is read before it is written gives another result.
inline constexpr unsigned char kReferencePoisons[] = {0xff, 0x5a};
inline constexpr unsigned char kPoisons[] = {0xa5, 0x96, 0x3c, 0x81};

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
  /// if the last one or one of some others differs.
  bool repeat_expected() const;
  /// Chooses a poison that differs from each expected element; returns false if there is none.
  bool choose_poison();
  unsigned char poison_of(std::size_t pass) const { return pass == 0 ? answer().poison : kPoisons[1]; }
  /// The first element that differs from the expected one.
  std::optional<std::string> mismatch(std::size_t pass) const;

 private:
  Number number_at(std::size_t element) const;
  bool adds_to_poison(const Number& number, std::size_t pass) const;
};

/// An output whose comparison proves little.
struct WeakComparison {
  std::string output;
  std::string why;            ///< a sentence without its subject and its end, the same for all sizes
  bool by_tolerance = false;  ///< only because of the tolerance
};

/// The reference gives NaN, with which nothing can be compared.
struct ReferenceGivesNan : Error {
  using Error::Error;
};

// ---- all buffers of a problem ---------------------------------------------------------------------------------------

class ProblemBuffers {
 public:
  /// Allocates all buffers except work space. \p recorded: replaces fills and scalars of \p spec; null: nothing does.
  /// Throws Error.
  ProblemBuffers(Backend& backend, const KernelSpec& spec, VerifyProblem problem, const MeasureOptions& options,
                 std::uint64_t seed, const RecordedLaunch* recorded = nullptr);

  const VerifyProblem& problem() const { return problem_; }
  const ProblemSize& size() const { return problem_.size; }
  /// For messages: "nx=33 ny=7 offset=1".
  std::string text() const;
  /// After a failure on a problem that tuner chose: the reason for the problem, and the line that excludes it from the
  /// kernel file. Empty for other problems.
  std::string why_tried() const;

  /// The number of sets of inputs: 1, or 2 after want_two_inputs().
  std::size_t inputs() const { return two_inputs_ ? 2 : 1; }
  /// Makes a second set, with other random numbers and its own expected outputs. Does nothing if no input is random or
  /// there is no room.
  void want_two_inputs();
  /// Precondition: the first set is in use.
  void give_up_second_inputs();
  /// Fills with set \p which. All functions below are about this set; at first it is 0.
  void use_inputs(std::size_t which);

  /// Prepares all buffers for a run of the reference; expected outputs are filled with a poison.
  void reset_for_reference();
  /// Call it when the expected outputs are complete. Stores their fingerprints, and chooses poisons that differ from
  /// each of their elements. Throws Error if an expected value is NaN, which nothing could match, or if the reference
  /// wrote out of bounds or to an input. After NaN, further calls of \p run_reference find out whether it comes from a
  /// read beyond the end of an input; empty: there is no program to run.
  void accept_reference(const std::function<void()>& run_reference);
  /// Whether the reference left every output, all of them `inout`, as it was.
  bool changes_nothing() const { return changes_nothing_; }
  /// Whether an element of an `out` buffer of integers equals the poison of reset_for_reference(). Changes the outputs.
  /// If so, call poison_reference_again(), which keeps the results, run the reference once more, and call
  /// check_written().
  bool find_unwritten();
  void poison_reference_again();
  /// Throws Error if the reference left an element unchanged in both runs.
  void check_written();
  /// Takes the expected outputs from the files with answers, or from those of the recorded launch.
  void take_answers();

  /// Allocates work space for \p configuration.
  void size_work_space(const Configuration& configuration);
  /// The configuration of the last call of size_work_space(); nullopt: none.
  const std::optional<Configuration>& work_space_for() const { return work_space_for_; }
  /// The number of runs with different poisons that prove that each output element was written: 1, or 2 if no poison
  /// differs from all expected elements.
  std::size_t passes() const { return two_passes_[used_] ? 2 : 1; }
  /// Prepares all buffers for a run. \p over_results: `out` buffers keep their contents.
  void reset(std::size_t pass, bool over_results = false);
  /// Fills the `out` buffers, or their expected contents, with the poison that they had last.
  void poison_outputs_again(bool reference);

  /// Does what reset(0) does, except for guards. Nothing if there is no room for copies of the inputs that runs change.
  /// Precondition: set 0 of the inputs is in use.
  std::optional<std::vector<Refill>> refills();
  /// Whether runs change none of their inputs.
  bool is_repeatable() const;

  /// An error of the last run other than wrong outputs: writes out of bounds or to inputs, work space not zero.
  std::optional<std::string> damage();
  /// The first difference between outputs and expected outputs after reset(\p pass) and a run.
  std::optional<std::string> mismatch(std::size_t pass);
  /// Whether the inputs, and the guards of inputs and outputs, are unchanged.
  bool inputs_intact();
  /// Whether the expected outputs are unchanged since accept_reference().
  bool expected_intact();
  /// Writes inputs and guards again after damage.
  void restore_inputs();

  /// The outputs for which one value everywhere, or what is there without any work, would count as right. Call it after
  /// accept_reference(). Changes the outputs.
  std::vector<WeakComparison> find_weak_comparisons();

  /// Describes an address near a buffer: "c[1024], which has 1000 elements of float". nullopt if it is far from all, or
  /// inside one.
  std::optional<std::string> place(DevicePointer address) const;

  /// Copies of the outputs.
  HostBuffers outputs() const { return copies(false); }
  /// Copies of the expected outputs. Elements that are not compared are those of the outputs.
  HostBuffers expected_of_outputs() const;
  HostBuffers expected() const { return copies(true); }

  // In these three, \p reference means: the launches of the reference, which write the expected outputs.

  /// The `constant` buffers and their variables in \p module, which was loaded from \p image. Throws Error if a
  /// variable is too small.
  std::vector<Launch::Constant> constants(const Image& image, const Module& module) const;
  /// The arrays of the textures and surfaces of \p launch.
  std::vector<Launch::Array> arrays(const LaunchSpec& launch, bool reference) const;
  /// The arguments of \p launch. Throws Error for an unknown name.
  std::vector<Argument> arguments(const LaunchSpec& launch, const Configuration& configuration, bool reference) const;

  /// The longest time of a run on this problem that does not count as hanging.
  double run_limit_s() const;
  void record_run(double seconds);
  /// The time of the last run; 0: none.
  double last_run_s() const { return last_run_s_; }

 private:
  /// The address of the buffer that \p value names; 0 for a null pointer. Throws Error if \p pointer, the type of the
  /// struct's member, does not fit the buffer.
  DevicePointer address_of(const ScalarValue& value, const std::string& pointer, bool reference) const;
  Argument tensor_map(const TensorMapSpec& map, const Bindings& names, bool reference) const;
  Argument argument(const BoundArgument& bound, const Configuration& configuration, bool reference) const;
  HostBuffers copies(bool reference) const;
  GuardedMemory allocate(const ProblemBuffer& buffer);
  void reset_work_space(const ProblemBuffer& buffer);
  void read_answer(ProblemBuffer& buffer, const FilledBy& by) const;
  void choose_tolerances(ProblemBuffer& buffer) const;
  void allow_cancellation();
  ArrayShape shape_of(const TextureSpec& spec, const ProblemBuffer& buffer, const Bindings& names) const;
  void add_texture(const TextureSpec& spec, const Bindings& names);
  std::string answer_name(const ProblemBuffer& buffer) const;
  void fill_expected(unsigned char poison);
  bool expects_nan() const;
  void refuse_outside_reads(const std::function<void()>& run_reference);
  [[noreturn]] void refuse_unwritten(const ProblemBuffer& buffer, const Comparison& found) const;

  Backend& backend_;
  const KernelSpec& spec_;
  const MeasureOptions& options_;
  const RecordedLaunch* recorded_;
  const VerifyProblem problem_;
  std::uint64_t regions_ = 0;  // number of allocations so far
  std::vector<ProblemBuffer> buffers_;
  /// In the order of the spec.
  struct Texture {
    const ProblemBuffer* buffer = nullptr;
    DeviceArray* array = nullptr;
    std::uint64_t object = 0;
  };
  std::vector<Texture> textures_;
  std::optional<Configuration> work_space_for_;
  std::size_t used_ = 0;  // the set of inputs in use
  bool two_inputs_ = false;
  std::array<bool, 2> two_passes_{};  // by set of inputs
  bool changes_nothing_ = false;
  bool has_room_for_originals_ = true;
  std::size_t pass_ = 0;  // of the last reset()
  unsigned char reference_poison_ = 0;
  double best_run_s_ = 0, last_run_s_ = 0;
};

}  // namespace tuner
