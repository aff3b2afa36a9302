#pragma once
/// The buffers of one problem on one backend: inputs, outputs with canaries on both sides, work space, and the
/// expected outputs. Internal to the measure room.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/output_values.hpp>

namespace tuner {

class ProblemBuffers {
 public:
  /// Allocates everything whose size does not depend on parameters. \p offset: elements by which in, out and inout
  /// buffers are shifted. Throws Error.
  ProblemBuffers(Backend& backend, const KernelSpec& spec, ProblemSize size, std::int64_t offset,
                 const MeasureOptions& options, std::uint64_t seed);

  const ProblemSize& size() const { return size_; }
  /// For messages: "nx=33 ny=7 offset=1".
  std::string text() const;

  /// Makes everything as it is before the reference runs (expected outputs are poisoned).
  void reset_for_reference();
  /// Called when the expected outputs are complete: remembers their fingerprints and chooses poisons that differ from
  /// each of their elements. Throws Error when an expected value is NaN: nothing could ever match it, and when the
  /// reference wrote where it must not.
  void accept_reference();
  void compute_reference(const HostReference& reference);

  /// Work space as \p configuration needs it.
  void size_work_space(const Configuration& configuration);
  /// How many differently poisoned runs prove that every output was written: 1, or 2 where an expected output holds
  /// every possible byte.
  std::size_t passes() const { return two_passes_ ? 2 : 1; }
  /// Makes everything as it is before a run that is verified.
  void reset(std::size_t pass);

  /// Makes everything as it is before runs that are only measured: outputs stay as they are.
  void reset_for_measuring();

  /// What the last run did wrong, other than its results: writes out of bounds or to inputs, work space not zero.
  std::optional<std::string> damage();
  /// The first output of a run after reset(\p pass) that differs from the expected one.
  std::optional<std::string> mismatch(std::size_t pass);
  /// Whether the expected outputs are still what accept_reference() saw.
  bool expected_intact();
  /// Writes inputs again after damage.
  void restore_inputs();

  /// "c[1024], behind the last of 1000 elements" for an address near a buffer; nothing for one far from all.
  std::optional<std::string> place(DevicePointer address) const;

  /// Copies of the outputs, or of what they are expected to be.
  HostBuffers outputs() const;
  HostBuffers expected() const;

  /// Arguments of \p launch; \p reference: outputs are the expected ones. Throws Error for an unknown name.
  std::vector<Argument> arguments(const LaunchSpec& launch, const Configuration& configuration, bool reference) const;

  /// Longest time a run on this problem may take before it counts as hanging.
  double run_limit_s() const;
  void saw_run(double seconds);

 private:
  /// Device memory: [guard and shift][count elements][guard].
  struct Region {
    std::unique_ptr<DeviceMemory> memory;
    std::size_t front = 0, bytes = 0, back = 0;
    DevicePointer data() const { return memory->address() + front; }
  };
  struct Buffer {
    const BufferSpec* spec = nullptr;
    ElementType type = ElementType::float32;
    std::size_t count = 0;
    Region actual;
    Region expected;                // out and inout
    std::uint64_t fingerprint = 0;  // in: of the filled data
    std::uint64_t expected_fingerprint = 0;
    unsigned char poison = 0xff;
    std::uint64_t seed = 0;
    Tolerance tolerance;
    bool is_output() const { return spec->role == BufferRole::out || spec->role == BufferRole::inout; }
    bool is_work_space() const { return spec->role == BufferRole::scratch || spec->role == BufferRole::zeroed; }
    bool is_filled() const { return !is_work_space() && spec->role != BufferRole::out; }
  };

  HostBuffer copy(const Buffer& buffer, const Region& from) const;
  Region allocate(const Buffer& buffer) const;
  void write_guards(const Region& region);
  static std::string outside(const Buffer& buffer, std::ptrdiff_t bytes);
  std::optional<std::string> broken_guard(const Buffer& buffer, const Region& region);
  void reset_work_space(const Buffer& buffer);
  void set_bytes(DevicePointer to, unsigned char value, std::size_t bytes);
  std::uint64_t fingerprint(DevicePointer from, std::size_t bytes);
  void fill(const Buffer& buffer, const Region& region);
  void choose_poison(Buffer& buffer);
  static unsigned char poison_of(const Buffer& buffer, std::size_t pass);
  bool still_poisoned(const Buffer& buffer, std::size_t element, std::size_t pass);
  void set_count(Buffer& buffer, const Bindings& names) const;

  Backend& backend_;
  const KernelSpec& spec_;
  const MeasureOptions& options_;
  ProblemSize size_;
  std::int64_t offset_ = 0;
  std::vector<Buffer> buffers_;
  std::optional<Configuration> work_space_for_;
  bool two_passes_ = false;
  double best_run_s_ = 0;
};

}  // namespace tuner
