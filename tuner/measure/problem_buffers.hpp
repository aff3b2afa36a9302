#pragma once
/// The buffers of one problem on one backend: inputs, outputs with canaries on both sides, work space, and the
/// expected outputs. Internal to the measure room.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/problem_buffer.hpp>

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
  HostBuffers outputs() const { return copies(false); }
  /// The same of expected outputs, with the outputs' own elements where none is compared.
  HostBuffers expected_of_outputs() const;
  HostBuffers expected() const { return copies(true); }

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
  HostBuffers copies(bool reference) const;
  GuardedMemory allocate(const ProblemBuffer& buffer);
  void reset_work_space(const ProblemBuffer& buffer);
  void give_up_second_inputs();
  void choose_tolerances(ProblemBuffer& buffer) const;
  ArrayShape shape_of(const TextureSpec& spec, const ProblemBuffer& buffer, const Bindings& names) const;
  void add_texture(const TextureSpec& spec, const Bindings& names);
  std::string answer_name(const ProblemBuffer& buffer) const;
  void fill_expected(unsigned char poison);
  [[noreturn]] void refuse_unwritten(const ProblemBuffer& buffer, const Comparison& found) const;

  Backend& backend_;
  const KernelSpec& spec_;
  const MeasureOptions& options_;
  const CapturedData* captured_;
  ProblemSize size_;
  std::int64_t offset_ = 0;
  std::uint64_t regions_ = 0;  // made so far
  std::vector<ProblemBuffer> buffers_;
  /// As in the spec.
  struct Texture {
    const ProblemBuffer* buffer = nullptr;
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
