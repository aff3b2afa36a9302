#pragma once
/// The buffers of one problem on one backend: inputs, outputs, work space, and the expected outputs. All have guards on
/// both sides. Internal to the measure room.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/numbers/output_values.hpp>
#include <tuner/measure/problem_buffer.hpp>

namespace tuner {

struct KernelSpec;
struct LaunchSpec;
struct ScalarValue;
struct TensorMapSpec;
struct TextureSpec;

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

  /// Allocates the buffers of launches anew, if \p placement is another number than before: in the opposite order, and
  /// with an offset that depends on the number.
  void move_to(std::uint32_t placement);
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
  /// The limit follows from \p seconds, the time of a run on another problem, while no run is recorded.
  void expect_run(double seconds) { expected_run_s_ = seconds; }
  /// The time of the last run; 0: none.
  double last_run_s() const { return last_run_s_; }

 private:
  /// The address of the buffer that \p value names; 0 for a null pointer. Throws Error if \p pointer, the type of the
  /// struct's member, does not fit the buffer.
  DevicePointer address_of(const ScalarValue& value, const std::string& pointer, bool reference) const;
  Argument tensor_map(const TensorMapSpec& map, const Bindings& names, bool reference) const;
  Argument argument(const BoundArgument& bound, const Configuration& configuration, bool reference) const;
  HostBuffers copies(bool reference) const;
  /// Whether VerifyProblem::offset applies to \p buffer.
  bool is_moved(const BufferSpec& buffer) const;
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
  std::uint32_t placement_ = 0;
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
  double best_run_s_ = 0, last_run_s_ = 0, expected_run_s_ = 0;
};

}  // namespace tuner
