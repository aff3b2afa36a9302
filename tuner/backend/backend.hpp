#pragma once
/// A backend compiles, loads, launches and times kernels, on a GPU through the CUDA driver or on any CPU. Expected
/// failures are values (CompileError, LaunchError). Exceptions mean that the backend itself is broken.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/backend/array_shape.hpp>
#include <tuner/backend/compiler.hpp>
#include <tuner/core/device/device.hpp>
#include <tuner/core/device/launch_shape.hpp>
#include <tuner/core/device/tensor_map.hpp>
#include <tuner/core/kernel/buffer_contents.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/error.hpp>
#include <tuner/use.hpp>

namespace tuner {

/// A variable of a loaded image.
struct Variable {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  bool is_zero = false;  ///< it is known to be zero after loading
};

/// A loaded image. Functions are numbered as in Image::functions.
class Module {
 public:
  virtual ~Module() = default;
  /// The resources of a function, with the occupancy for blocks of \p shape. With a cluster, it is that of as many
  /// clusters as the device holds, and `blocks_per_sm` is rounded down, but at least 1.
  virtual Resources resources(std::size_t function, const LaunchShape& shape) const = 0;
  /// The cluster that is compiled into a function (`__cluster_dims__`); all 0: there is none.
  virtual std::array<std::int64_t, 3> compiled_cluster(std::size_t /*function*/) const { return {}; }
  /// How many clusters of \p shape the device holds at once; nullopt: this is not known.
  virtual std::optional<std::int64_t> resident_clusters(std::size_t /*function*/, const LaunchShape&) const {
    return std::nullopt;
  }
  /// The C++ types of the kernel's parameters; empty if they are unknown (core/parameter_types.hpp).
  virtual std::vector<std::string> parameter_types(std::size_t /*function*/) const { return {}; }
  /// The variable whose address the expression with this number is.
  virtual Variable variable(std::size_t /*function*/) const { return {}; }
  /// The variables that kernels can change and that live as long as the module, as far as they can be found.
  virtual std::vector<Variable> lasting_variables() const { return {}; }
};

using DevicePointer = std::uintptr_t;

/// Owns memory of a backend.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual DevicePointer address() const = 0;  ///< aligned to at least 256 bytes
  virtual std::size_t bytes() const = 0;
};

/// Owns elements, and the texture and surface objects through which kernels access them.
class DeviceArray {
 public:
  virtual ~DeviceArray() = default;
  /// A `cudaTextureObject_t` of the array. Throws Error if the device does not support \p reading.
  virtual std::uint64_t texture(const TextureReading& reading) = 0;
  /// A `cudaSurfaceObject_t` of the array. Throws Error.
  virtual std::uint64_t surface() = 0;
  /// Copies all elements, x fastest, from or to memory, and waits for the copy.
  virtual void load(DevicePointer from) = 0;
  virtual void store(DevicePointer to) = 0;
};

/// The driver refuses a tensor map, or the device has none.
class TensorMapError : public Error {
 public:
  using Error::Error;
};

/// A kernel argument by value: a device pointer, a number in the kernel's own type, or a struct.
struct Argument {
  alignas(16) std::byte bytes[16] = {};
  std::size_t size = 0;
  std::vector<std::byte> structure = {};  ///< the bytes of a struct, instead of `bytes`

  const std::byte* data() const { return structure.empty() ? bytes : structure.data(); }
  template <typename T>
  static Argument of(const T& value) {
    static_assert(sizeof(T) <= 16);
    Argument argument;
    __builtin_memcpy(argument.bytes, &value, sizeof(T));
    argument.size = sizeof(T);
    return argument;
  }
  static Argument of(const TensorMap& map) { return of_struct({map.bytes.begin(), map.bytes.end()}); }
  static Argument of_struct(std::vector<std::byte> bytes) {
    Argument argument;
    argument.size = bytes.size();
    argument.structure = std::move(bytes);
    return argument;
  }
};

/// Why \p kernel, whose parameters have these \p sizes in bytes, cannot take \p arguments; nullopt: it can.
inline std::optional<std::string> wrong_sizes(const std::string& kernel, std::span<const Argument> arguments,
                                              std::span<const unsigned> sizes) {
  if (arguments.size() != sizes.size())
    return kernel + " takes " + std::to_string(sizes.size()) + " arguments, not " + std::to_string(arguments.size());
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (arguments[i].size != sizes[i])
      return kernel + ": argument " + std::to_string(i + 1) + " has " + std::to_string(arguments[i].size) +
             " bytes, the kernel takes " + std::to_string(sizes[i]);
  return std::nullopt;
}

/// A launch ready to go. \p module must outlive it.
struct Launch {
  const Module* module = nullptr;
  std::size_t function = 0;
  LaunchShape shape;
  std::vector<Argument> arguments;
  /// The largest number of launches from the device that are pending at once. A run makes room for the largest number
  /// of its launches. More room makes each launch from the device slower.
  std::int64_t device_launches = 0;
  /// Constant memory that the kernel reads. Its contents are copied from `from` before a run.
  struct Constant {
    Variable variable;
    std::uintptr_t from = 0;
    std::size_t bytes = 0;
  };
  std::vector<Constant> constants = {};
  /// Arrays that the kernel accesses, and the memory that they are copies of. A run loads the arrays first and stores
  /// those that the kernel writes afterwards.
  struct Array {
    DeviceArray* array = nullptr;
    DevicePointer memory = 0;
    bool is_written = false;
  };
  std::vector<Array> arrays = {};
};

/// Memory that is written between runs: with one byte, or with a copy of other memory.
struct Refill {
  DevicePointer to = 0;
  std::size_t bytes = 0;
  unsigned char value = 0;
  DevicePointer from = 0;  ///< copied from here; 0: filled with `value`
};

/// A request for samples. One sample is the time of consecutive runs of all launches.
struct SampleRequest {
  std::size_t samples = 1;
  std::size_t batch = 1;  ///< runs in one sample; the sample is their mean
  /// single: L2 is flushed before each sample; needs a batch of 1. stream: a kernel of the backend's own runs directly
  /// before each sample. graph: the runs are nodes of one graph, a chain, and a sample is a replay of it. The graph is
  /// replayed once more before the first sample. A host has no streams and no graphs: there the last two are hot.
  Use use = Use::single;
  double timeout_s = 0;  ///< stop after this time; 0: never

  bool cold() const { return use == Use::single; }

  /// Launched before each sample and its flush, and not timed; needs a batch of 1.
  std::span<const Launch> prepare = {};

  /// Written before each sample, before `prepare` and the flush, and not timed.
  std::span<const Refill> refills = {};
  /// They are written before each run of a batch instead, and are part of its time.
  bool refills_each_run = false;
};

struct Sample {
  double ns = 0;         ///< of one run
  double clock_mhz = 0;  ///< SM clock at the time of the run; 0: unknown
};

using SampleResult = std::variant<std::vector<Sample>, LaunchError, Timeout>;

/// Receives a warning for the user: a sentence without its full stop.
using Warn = std::function<void(const std::string& text)>;

/// Something is not available here. The reason also says what to do about it: one sentence without its full stop.
struct Unavailable {
  std::string reason;
};

/// A request for the metrics of one run of all launches.
struct CountRequest {
  std::vector<std::string> metrics;  ///< names of core/device/metric.hpp (no sets), or counters of the chip
  bool cold = true;                  ///< flush L2 before each pass
  /// Restores the inputs of a run. Called before each pass; several counters may need several passes. Null: the inputs
  /// of a pass are as the pass before left them.
  std::function<void()> restore = nullptr;
};
/// Values by the names in the request, in the units of core/device/metric.hpp.
using Metrics = std::map<std::string, double>;
using CountResult = std::variant<Metrics, Unavailable>;

/// The energy that the whole card uses while launches run repeatedly.
struct Energy {
  double joules = 0;                       ///< of one run of all launches
  double low_joules = 0, high_joules = 0;  ///< 95% confidence interval of its mean

  double watts = 0;      ///< mean over the window
  double run_s = 0;      ///< mean time of one run in the window; its inputs are not restored
  double window_s = 0;   ///< the time over which the sensor was read
  std::size_t runs = 0;  ///< in the window
};
using EnergyResult = std::variant<Energy, Unavailable>;
/// Seconds. A shorter window is useless: the sensor observes part of the time only and is updated a few times a second.
inline constexpr double kShortestEnergyWindow = 1.0;

/// The order in which the blocks of a launch, and the threads of a block, start, if the backend can choose it. The
/// result of a correct kernel does not depend on the order. interleaved: the threads of a block are shuffled. In an
/// image that is compiled with CompileRequest::interleaved they also switch at loads and stores.
struct ThreadOrder {
  enum class Kind { forward, reverse, interleaved };
  Kind kind = Kind::forward;
  std::uint64_t seed = 0;  ///< of the shuffle, and of the places where threads switch
};

/// The result of comparing an output with its reference, in the memory of the device.
struct Comparison {
  std::uint64_t mismatches = 0;
  std::uint64_t first_index = 0;    ///< of the first mismatch
  double actual = 0, expected = 0;  ///< there
  double largest_error = 0;         ///< relative, over all elements
  /// With Tolerance::is_place: the numbers that are not the expected ones, and of these the lesser ones and those
  /// nearer to zero.
  std::uint64_t off = 0, less = 0, nearer = 0;
};

/// Counts a number in `off`, `less` and `nearer` of \p found.
inline void count_direction(Comparison& found, double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return;
  ++found.off;
  if (actual < expected) ++found.less;
  if (std::abs(actual) < std::abs(expected)) ++found.nearer;
}

/// Times the work that is enqueued on one stream between two calls, without waiting for it. For one thread at a time,
/// with the backend's context current and the stream not captured. Does not throw: if a time cannot be measured, there
/// is none.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  virtual void start(void* stream) noexcept = 0;
  virtual void stop(void* stream) noexcept = 0;
  /// The time between the last start() and stop(); nothing while that work still runs.
  virtual std::optional<double> elapsed_ns() noexcept = 0;
};

/// Uses the host's clock. For backends with synchronous launches.
class HostStopwatch final : public Stopwatch {
 public:
  void start(void*) noexcept override { start_ = Clock::now(); }
  void stop(void*) noexcept override { stop_ = Clock::now(); }
  std::optional<double> elapsed_ns() noexcept override {
    return std::chrono::duration<double, std::nano>(stop_ - start_).count();
  }

 private:
  Clock::time_point start_, stop_;
};

/// The internal kernels that a GPU's backend compiles while it opens the device: none, or those for trials, or those
/// for measure_ceilings(). It compiles others when they are needed, which takes a tenth of a second.
enum class PreloadedKernels { none, trials, ceilings };

/// Thread-safe, except measure_ceilings() and the destructor. run, sample, fill, compare and fingerprint wait for each
/// other. load, allocate, upload, download and the compiler wait for none of these, nor do enqueue and synchronize on a
/// GPU. Threads that use the same memory must order their calls themselves.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Device& device() const = 0;
  virtual std::string architecture() const = 0;
  virtual Compiler& compiler() = 0;

  /// LaunchError if the image does not load (wrong architecture, too many resources).
  virtual std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image) = 0;
  /// Throws Error if there is not enough memory.
  virtual std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;
  /// Throws Error if there is not enough memory, or if the device does not support \p shape.
  virtual std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& /*shape*/) {
    throw Error("this backend has no textures");
  }
  /// The CUtensorMap of \p shape over the memory at \p address. Throws TensorMapError.
  virtual TensorMap tensor_map(const TensorMapShape& /*shape*/, DevicePointer /*address*/) {
    throw TensorMapError("this backend has no tensor maps");
  }
  /// Gives \p map, which tensor_map() made of \p shape, another address. Like enqueue() it is a part of the hot path,
  /// and the backend's context must be current. Throws TensorMapError.
  virtual void move_tensor_map(TensorMap& map, const TensorMapShape& shape, DevicePointer address) {
    map = tensor_map(shape, address);
  }
  virtual void upload(DevicePointer to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, DevicePointer from, std::size_t bytes) = 0;
  virtual void fill_bytes(DevicePointer to, unsigned char value, std::size_t bytes) = 0;
  /// Fills \p count elements. Element i depends only on \p fill, \p seed and i, and is the same on every backend.
  virtual void fill(DevicePointer to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed) = 0;
  virtual Comparison compare(DevicePointer actual, DevicePointer expected, ElementType type, std::size_t count,
                             const Tolerance& tolerance) = 0;
  /// A 64-bit fingerprint of memory, to check that inputs were not written.
  virtual std::uint64_t fingerprint(DevicePointer from, std::size_t bytes) = 0;

  /// Runs \p launches in order and waits for them. Returns nothing if all succeeded. \p timeout_s as in SampleRequest.
  /// On a GPU a kernel that hangs is reported but cannot be stopped: the process must end.
  virtual std::optional<Outcome> run(std::span<const Launch> launches, double timeout_s) = 0;
  /// Without \p launches, a sample is the time of its refills.
  virtual SampleResult sample(std::span<const Launch> launches, const SampleRequest& request) = 0;
  /// Counts \p request.metrics over one run of all \p launches together. They must have run before. Each pass runs them
  /// once, serialised and not timed, with L2 as for cold samples. Nothing else may use the device's context meanwhile.
  /// Also Unavailable if the kernel faults; then see usable().
  virtual CountResult collect(std::span<const Launch> /*launches*/, const CountRequest& /*request*/) {
    return Unavailable{"there are hardware counters on a GPU only"};
  }
  /// Warms up, then runs \p launches repeatedly for about \p seconds (at least kShortestEnergyWindow) and reads the
  /// card's energy sensor. Other work on the card is counted too.
  virtual EnergyResult energy(std::span<const Launch> /*launches*/, double /*seconds*/) {
    return Unavailable{"there is an energy sensor on a GPU only"};
  }
  /// Makes room, permanently, for \p pending launches from the device at once; needed before enqueue(). Throws Error if
  /// that is not possible.
  virtual void allow_device_launches(std::int64_t /*pending*/) {}
  /// Sets the order of all later runs. Returns false, and changes nothing, if the hardware decides (a GPU).
  virtual bool set_order(const ThreadOrder&) { return false; }
  /// The hot path of serving: enqueues one launch on \p stream, a CUstream (null: the default stream). The host backend
  /// ignores \p stream and returns when the kernel is done. \p parameters: one pointer to each argument, as for
  /// cuLaunchKernel. The backend's context must be current on this thread. No allocation, no lock. Throws Error.
  virtual void enqueue(const Module& module, std::size_t function, const LaunchShape& shape, void* const* parameters,
                       void* stream) = 0;
  /// Waits for \p stream. Throws Error.
  virtual void synchronize(void* stream) = 0;
  /// Times launches of enqueue(). This one uses the host's clock, for backends with synchronous launches.
  virtual std::unique_ptr<Stopwatch> stopwatch() { return std::make_unique<HostStopwatch>(); }
  /// Copies on \p stream, after all work that was enqueued there, and waits for the copy. From any thread, with the
  /// backend's context current. Throws Error.
  virtual void fetch(void* to, DevicePointer from, std::size_t bytes, void* stream) {
    synchronize(stream);
    download(to, from, bytes);
  }
  /// fill_bytes() on \p stream, after all work that was enqueued there. From any thread, with the backend's context
  /// current.
  virtual void fill_on(DevicePointer to, unsigned char value, std::size_t bytes, void* /*stream*/) {
    fill_bytes(to, value, bytes);
  }
  /// In the scope of the result, this thread can use the backend while another thread captures a stream. Null: it
  /// always can.
  virtual std::shared_ptr<void> beside_captures() { return nullptr; }
  /// Call this when the device context is gone, with everything in it: handles are never freed after that.
  virtual void abandon() noexcept {}
  /// The first call measures device().ceilings and, on a GPU, device().peaks. Numbers without a meaning stay 0.
  virtual void measure_ceilings() {}
  /// False once a fault has made the device context unusable: nothing more can run in this process.
  virtual bool usable() const = 0;
};

}  // namespace tuner
