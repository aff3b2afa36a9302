#pragma once
/// What can compile, load, launch and time kernels: a GPU through the CUDA driver, or any CPU. Expected failures are
/// values (CompileError, LaunchError); exceptions mean that the backend itself is broken.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tuner/backend/array_shape.hpp>
#include <tuner/backend/stopwatch.hpp>
#include <tuner/core/device.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/includes.hpp>
#include <tuner/core/kernel_spec.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner {

struct CompileRequest {
  std::string source;     ///< program_text()
  std::string file_name;  ///< for diagnostics
  /// Name expressions to instantiate, e.g. `add<float, 32>`, and addresses of variables, e.g. `&filter`.
  std::vector<std::string> expressions;
  std::vector<std::string> defines;  ///< `NAME=VALUE`
  std::string architecture;          ///< "sm_90"; the host backend's is "host"
  /// The files that source reads, as they were before it was compiled; null: none.
  std::shared_ptr<const Includes> includes = nullptr;
  /// The host backend's objects: threads of a block switch at memory accesses (ThreadOrder::Kind::interleaved).
  bool interleaved = false;
  /// Once set, a compile that can be ended early ends as CompileError. Null: none wants it to end.
  const std::atomic<bool>* stop = nullptr;
  /// Its kernels launch kernels: a GPU's image is linked with the device runtime.
  bool device_launches = false;
  /// In NVRTC's words. The host backend takes `-G` as "do not optimise" and leaves out all others.
  std::vector<CompileOption> options = {};
  /// The kernel file's own, `NAME=VALUE`: for its text and what that includes, not for the compiler's own headers.
  std::vector<std::string> macros = {};
  /// KernelSpec::include_paths
  std::vector<std::string> include_paths = {};
  /// For a compiler on another host: what `includes` holds, which may be nowhere there. Empty: it reads the files.
  std::vector<IncludedFile> carried = {};
};

/// The files that \p request reads: those that it carries, or as they are now.
inline Includes includes_of(const CompileRequest& request) {
  if (!request.carried.empty()) return {request.carried, {}};
  return included_files(request.source, request.file_name, request.include_paths);
}

struct CompiledFunction {
  std::string expression;  ///< as requested
  std::string symbol;      ///< lowered name in the image
  Resources resources;     ///< occupancy not filled in
};

/// Machine code of one compile: a cubin or a shared object.
struct Image {
  std::vector<std::byte> code;
  std::vector<CompiledFunction> functions;  ///< in the order of CompileRequest::expressions
  std::string log;                          ///< warnings
};

using CompileResult = std::variant<Image, CompileError>;

/// Needs no device; thread-safe.
class Compiler {
 public:
  virtual ~Compiler() = default;
  virtual CompileResult compile(const CompileRequest& request) = 0;
  /// Compiler, version and fixed options: everything besides the request that decides the image.
  virtual std::string identity() const = 0;
};

/// A variable of a loaded image.
struct Variable {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
};

/// A loaded image. Functions are numbered as in Image::functions.
class Module {
 public:
  virtual ~Module() = default;
  /// Resources with occupancy for blocks of \p shape.
  virtual Resources resources(std::size_t function, const LaunchShape& shape) const = 0;
  /// What the kernel takes, as C++ types; empty where it does not say (core/parameter_types.hpp).
  virtual std::vector<std::string> parameter_types(std::size_t /*function*/) const { return {}; }
  /// The variable that the expression of this number is the address of.
  virtual Variable variable(std::size_t /*function*/) const { return {}; }
};

using DevicePointer = std::uintptr_t;

/// Owns memory of a backend; freed with it. Movable.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual DevicePointer address() const = 0;  ///< aligned to at least 256 bytes
  virtual std::size_t bytes() const = 0;
};

/// Owns elements that texture and surface objects show, and these objects.
class DeviceArray {
 public:
  virtual ~DeviceArray() = default;
  /// A `cudaTextureObject_t` of it. Throws Error where the device cannot read it so.
  virtual std::uint64_t texture(const TextureReading& reading) = 0;
  /// A `cudaSurfaceObject_t` of it. Throws Error.
  virtual std::uint64_t surface() = 0;
  /// Copies all elements, x fastest, from or to memory, and waits for it.
  virtual void load(DevicePointer from) = 0;
  virtual void store(DevicePointer to) = 0;
};

/// A kernel argument by value: a device pointer or a scalar in the kernel's own type, at most 16 bytes.
struct Argument {
  alignas(16) std::byte bytes[16] = {};
  std::size_t size = 0;

  template <typename T>
  static Argument of(const T& value) {
    static_assert(sizeof(T) <= 16);
    Argument argument;
    __builtin_memcpy(argument.bytes, &value, sizeof(T));
    argument.size = sizeof(T);
    return argument;
  }
};

/// A launch ready to go. \p module must outlive it.
struct Launch {
  const Module* module = nullptr;
  std::size_t function = 0;
  LaunchShape shape;
  std::vector<Argument> arguments;
  /// Launches from the device that are pending at once, at most. What runs makes room for the most that any of its
  /// launches names, and for no more than it must: each launch from the device costs the more, the more may be pending.
  std::int64_t device_launches = 0;
  /// Constant memory that the kernel reads, and where its contents are: for whoever runs launches to copy.
  struct Constant {
    Variable variable;
    std::uintptr_t from = 0;
    std::size_t bytes = 0;
  };
  std::vector<Constant> constants = {};
  /// Arrays that its objects show, and the memory that they are copies of: for whoever runs launches to load and, where
  /// the kernel writes them, to store.
  struct Array {
    DeviceArray* array = nullptr;
    DevicePointer memory = 0;
    bool is_written = false;
  };
  std::vector<Array> arrays = {};
};

/// What one sample is: \p batch consecutive runs of all launches between two events.
struct SampleRequest {
  std::size_t samples = 1;
  std::size_t batch = 1;  ///< runs in one sample; the sample is their mean
  bool cold = true;       ///< flush L2 before each sample (batch must be 1)
  double timeout_s = 0;   ///< give up after this long; 0: never
  /// Run before each sample and its flush, outside of its time (batch must be 1).
  std::span<const Launch> prepare = {};
};

struct Sample {
  double ns = 0;         ///< of one run
  double clock_mhz = 0;  ///< SM clock seen around the run; 0 when unknown
};

using SampleResult = std::variant<std::vector<Sample>, LaunchError, Timeout>;

/// Why something cannot be had here, and what to do about it: one sentence without its full stop.
struct Unavailable {
  std::string reason;
};

/// What to count of one run of all launches, and how.
struct CountRequest {
  std::vector<std::string> metrics;  ///< by the names of core/metric.hpp (no sets), or the chip's own
  bool cold = true;                  ///< flush L2 before each pass
  /// Makes the inputs as they are before a run; called before each pass (a set of counters may take several). Null:
  /// every pass finds what the one before it left.
  std::function<void()> restore = nullptr;
};
/// Values by the names asked for, in the units of core/metric.hpp.
using Metrics = std::map<std::string, double>;
using CountResult = std::variant<Metrics, Unavailable>;

/// What running launches over and over draws from the whole card.
struct Energy {
  double joules = 0;                       ///< of one run of all launches
  double low_joules = 0, high_joules = 0;  ///< 95% confidence interval of its mean
  double watts = 0;                        ///< mean over the window
  double run_s = 0;                        ///< mean time of one run in the window, its inputs where it left them
  double window_s = 0;                     ///< what the sensor was read over
  std::size_t runs = 0;                    ///< in the window
};
using EnergyResult = std::variant<Energy, Unavailable>;
/// The sensor of a card sees part of the time only and is updated a few times a second: less says nothing.
inline constexpr double kShortestEnergyWindow = 1.0;

/// In which order the blocks of a launch, and the threads of a block, are started where the backend has the choice. The
/// result of a right kernel does not depend on it. interleaved: the threads of a block are shuffled, and those of an
/// image compiled with CompileRequest::interleaved let each other run at loads and stores too.
struct ThreadOrder {
  enum class Kind { forward, reverse, shuffled, interleaved };
  Kind kind = Kind::forward;
  std::uint64_t seed = 0;  ///< of a shuffle, and of where threads switch
};

/// Result of comparing an output with its reference where the data is.
struct Comparison {
  std::uint64_t mismatches = 0;
  std::uint64_t first_index = 0;    ///< of the first mismatch
  double actual = 0, expected = 0;  ///< there
  double largest_error = 0;         ///< relative, over all elements
};

/// Which kernels of its own the backend of a GPU compiles while it opens the device, as either takes a tenth of a
/// second: none before they are needed, those for trials, or those for measure_ceilings().
enum class OwnKernels { when_needed, of_trials, of_ceilings };

/// May be used from several threads, but measure_ceilings() and the destructor by one alone. run, sample, fill, compare
/// and fingerprint take turns; load, allocate, upload, download and the compiler wait for none of them, nor do enqueue
/// and synchronize on a GPU. Memory that two threads use at once is theirs to order.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const Device& device() const = 0;
  virtual std::string architecture() const = 0;
  virtual Compiler& compiler() = 0;

  /// LaunchError when the image does not load (wrong architecture, too many resources).
  virtual std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image) = 0;
  /// Throws Error when there is no room; \p zero fills it with zero bytes.
  virtual std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;
  /// Throws Error when there is no room, or no such array on this device.
  virtual std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& /*shape*/) {
    throw Error("this backend has no textures");
  }
  virtual void upload(DevicePointer to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, DevicePointer from, std::size_t bytes) = 0;
  virtual void fill_bytes(DevicePointer to, unsigned char value, std::size_t bytes) = 0;
  /// Fills \p count elements as \p fill says; element i depends only on (\p seed, i), equally on every backend.
  virtual void fill(DevicePointer to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed) = 0;
  virtual Comparison compare(DevicePointer actual, DevicePointer expected, ElementType type, std::size_t count,
                             const Tolerance& tolerance) = 0;
  /// 64-bit fingerprint of memory, to see that inputs were not written.
  virtual std::uint64_t fingerprint(DevicePointer from, std::size_t bytes) = 0;

  /// Runs \p launches in order and waits. Nothing when all went well. \p timeout_s as in SampleRequest: on a GPU a
  /// kernel that hangs cannot be stopped, only reported (the process must end).
  virtual std::optional<Outcome> run(std::span<const Launch> launches, double timeout_s) = 0;
  virtual SampleResult sample(std::span<const Launch> launches, const SampleRequest& request) = 0;
  /// Counts \p request.metrics over one run of \p launches, each of which has to have run before: several launches are
  /// one range. Runs them once for each pass, serialised and apart from any timing, L2 as cold samples find it; nothing
  /// else may use the device's context meanwhile. Unavailable too when the kernel faults (usable() tells).
  virtual CountResult collect(std::span<const Launch> /*launches*/, const CountRequest& /*request*/) {
    return Unavailable{"there are hardware counters on a GPU only"};
  }
  /// Runs \p launches over and over for about \p seconds (at least kShortestEnergyWindow) after warming up, and reads
  /// the card's energy sensor. What else runs on the card is counted too.
  virtual EnergyResult energy(std::span<const Launch> /*launches*/, double /*seconds*/) {
    return Unavailable{"there is an energy sensor on a GPU only"};
  }
  /// Makes room for \p pending launches from the device at once, for good: for what is enqueued. Throws Error where
  /// there is none.
  virtual void allow_device_launches(std::int64_t /*pending*/) {}
  /// The order of every run from now on. False where the hardware decides (a GPU): nothing changes then.
  virtual bool set_order(const ThreadOrder&) { return false; }
  /// The hot path of serving: enqueues one launch on \p stream (a CUstream; null: the default stream; ignored by the
  /// host backend, which returns when the kernel is done). \p parameters: one pointer to each argument, as
  /// cuLaunchKernel takes them. The backend's context must be current on this thread. No allocation, no lock. Throws
  /// Error.
  virtual void enqueue(const Module& module, std::size_t function, const LaunchShape& shape, void* const* parameters,
                       void* stream) = 0;
  /// Waits for \p stream. Throws Error.
  virtual void synchronize(void* stream) = 0;
  /// Times what enqueue() enqueues. Here by the host's clock, for backends that return when the kernel is done.
  virtual std::unique_ptr<Stopwatch> stopwatch() { return std::make_unique<HostStopwatch>(); }
  /// Copies on \p stream, behind what was enqueued there, and waits for it. From any thread, with the backend's context
  /// current. Throws Error.
  virtual void fetch(void* to, DevicePointer from, std::size_t bytes, void* stream) {
    synchronize(stream);
    download(to, from, bytes);
  }
  /// fill_bytes() on \p stream, behind what was enqueued there; from any thread, with the
  /// backend's context current.
  virtual void fill_on(DevicePointer to, unsigned char value, std::size_t bytes, void* /*stream*/) {
    fill_bytes(to, value, bytes);
  }
  /// The device context is gone, and everything in it: handles are dropped from now on, never freed.
  virtual void abandon() noexcept {}
  /// Measures device().ceilings and, on a GPU, peaks the first time it is called; leaves 0 where it
  /// has no meaning.
  virtual void measure_ceilings() {}
  /// False once a fault has poisoned the device context: nothing more can run in this process.
  virtual bool usable() const = 0;
};

}  // namespace tuner
