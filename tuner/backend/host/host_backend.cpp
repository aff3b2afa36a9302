#include <tuner/backend/host/host_backend.hpp>

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <tuner/backend/host/compile/compiler.hpp>
#include <tuner/backend/host/run/data.hpp>
#include <tuner/backend/host/run/memory.hpp>
#include <tuner/backend/host/run/module.hpp>
#include <tuner/backend/host/run/pool.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/error.hpp>

namespace tuner {
namespace {

// ---------------------------------------------------------------- properties of this machine's CPU

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    for (const char* key : {"model name", "Model", "cpu model", "cpu\t"}) {
      if (line.rfind(key, 0) != 0) continue;
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos) continue;
      const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
      if (begin != std::string::npos) return line.substr(begin);
    }
  }
  utsname name{};
  return uname(&name) == 0 ? std::string(name.machine) : std::string("cpu");
}

std::int64_t last_level_cache() {
  for (int index = 5; index >= 0; --index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::int64_t size = 0;
    char unit = 'K';
    if (file >> size) return (file >> unit, unit == 'M') ? size << 20 : size << 10;
  }
  const long size = std::max({sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 0L});
  return size > 0 ? size : std::int64_t{8} << 20;
}

/// Runs \p work(begin, end) for parts of \p words on \p threads threads. Bytes a second, the best of several runs.
template <typename Work>
double rate(unsigned threads, std::size_t words, double bytes_a_word, Work work) {
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> pool;
    for (unsigned t = 0; t < threads; ++t)
      pool.emplace_back([=] { work(words * t / threads, words * (t + 1) / threads); });
    for (std::thread& thread : pool) thread.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, static_cast<double>(words) * bytes_a_word / seconds);
  }
  return best;
}

std::uint64_t sum(const std::uint64_t* data, std::size_t words) {
  std::uint64_t a = 0, b = 0, c = 0, d = 0;
  std::size_t i = 0;
  for (; i + 4 <= words; i += 4) {
    a += data[i];
    b += data[i + 1];
    c += data[i + 2];
    d += data[i + 3];
  }
  for (; i < words; ++i) a += data[i];
  return a + b + c + d;
}

std::atomic<std::uint64_t> sink{0};  // so that the compiler does not drop the reads

/// The limits are those of a GPU, so that the same spaces can be searched. \p compiler: name and version.
Device discover(unsigned threads, const std::string& compiler) {
  Device device;
  device.key.backend = kHostBackend;
  device.key.cpu = cpu_model();
  device.key.sm_count = static_cast<int>(threads);
  device.key.l2_bytes = last_level_cache();
  device.limits.sm_count = static_cast<int>(threads);
  device.limits.max_blocks_per_sm = 1;      // an operating-system thread runs one block at a time
  device.limits.max_shared_bytes = 232448;  // 227 KiB, as compute capability 9.0
  device.limits.shared_bytes_per_sm = 233472;
  device.key.max_shared_bytes = device.limits.max_shared_bytes;
  utsname name{};
  if (uname(&name) == 0) device.environment.driver = std::string(name.sysname) + ' ' + name.release;
  device.environment.compiler = compiler;
  device.name = device.key.cpu + " (" + std::to_string(threads) + (threads == 1 ? " core)" : " cores)");
  return device;
}

/// Measures the memory's rates with \p threads threads, in about 0.1 s and once in a process.
const Ceilings& ceilings(unsigned threads, std::int64_t cache_bytes) {
  static Once measured;
  static Ceilings result;
  measured.run([&] {
    const auto bytes = static_cast<std::size_t>(std::clamp<std::int64_t>(2 * cache_bytes, 32 << 20, 128 << 20));
    const std::size_t words = bytes / 8;
    std::vector<std::uint64_t> from(words, 1), to(words / 2, 2);
    result.read = rate(threads, words, 8, [&](std::size_t begin, std::size_t end) {
      sink.fetch_add(sum(from.data() + begin, end - begin), std::memory_order_relaxed);
    });
    result.copy = rate(threads, words / 2, 16, [&](std::size_t begin, std::size_t end) {
      std::memcpy(to.data() + begin, from.data() + begin, (end - begin) * 8);
    });
    result.write = rate(threads, words / 2, 8, [&](std::size_t begin, std::size_t end) {
      std::memset(to.data() + begin, 3, (end - begin) * 8);
    });
  });
  return result;
}

/// Reads a buffer of at most 64 MiB, so that the last-level cache holds nothing else.
void flush_cache(std::int64_t cache_bytes) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static std::vector<std::uint64_t> buffer(
      static_cast<std::size_t>(std::clamp<std::int64_t>(2 * cache_bytes, 1 << 20, 64 << 20)) / 8, 1);
  sink.fetch_add(sum(buffer.data(), buffer.size()), std::memory_order_relaxed);
}

// ---------------------------------------------------------------- the backend

void* pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }

unsigned thread_count(const HostOptions& options) {
  return options.threads != 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
}

class HostBackend final : public Backend {
 public:
  explicit HostBackend(const HostOptions& options)
      : compiler_(options),
        device_(discover(thread_count(options), compiler_.short_name())),
        pool_(thread_count(options), static_cast<std::size_t>(device_.limits.max_shared_bytes)) {}

  const Device& device() const override { return device_; }
  void measure_ceilings() override {
    device_.ceilings = ceilings(pool_.threads(), device_.key.l2_bytes);
    if (device_.peaks.launch_ns <= 0) device_.peaks.launch_ns = empty_launch_ns();
  }
  std::string architecture() const override { return architecture_of(device_.key); }
  Compiler& compiler() override { return compiler_; }

  std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image) override {
    auto loaded = host::HostModule::load(image);
    if (auto* error = std::get_if<LaunchError>(&loaded)) return std::move(*error);
    return std::unique_ptr<Module>(std::move(std::get<0>(loaded)));
  }

  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override { return host::allocate(bytes); }
  std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape) override { return host::allocate_array(shape); }
  void upload(DevicePointer to, const void* from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(pointer(to), from, bytes);
  }
  void download(void* to, DevicePointer from, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(to, pointer(from), bytes);
  }
  void fill_bytes(DevicePointer to, unsigned char value, std::size_t bytes) override {
    if (bytes != 0) std::memset(pointer(to), value, bytes);
  }
  void fill(DevicePointer to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed) override {
    host::fill(pointer(to), type, count, fill, seed);
  }
  Comparison compare(DevicePointer actual, DevicePointer expected, ElementType type, std::size_t count,
                     const Tolerance& tolerance) override {
    return host::compare(pointer(actual), pointer(expected), type, count, tolerance);
  }
  std::uint64_t fingerprint(DevicePointer from, std::size_t bytes) override {
    return host::fingerprint(pointer(from), bytes);
  }

  std::optional<Outcome> run(std::span<const Launch> launches, double timeout_s) override {
    const std::lock_guard lock(mutex_);
    const Clock::time_point begin = Clock::now();
    for (const Launch& launch : launches)
      if (auto failure = run_one(launch, begin, timeout_s, SharedMemory::kept)) return as<Outcome>(std::move(*failure));
    return std::nullopt;
  }

  SampleResult sample(std::span<const Launch> launches, const SampleRequest& request) override {
    const std::lock_guard lock(mutex_);
    const Clock::time_point start = Clock::now();
    const bool single = request.cold() || !request.prepare.empty();
    const std::size_t batch = single ? 1 : std::max<std::size_t>(request.batch, 1);
    std::vector<Sample> samples;
    samples.reserve(request.samples);
    for (std::size_t i = 0; i < request.samples; ++i) {
      if (!request.refills_each_run) refill(request.refills);
      for (const Launch& launch : request.prepare)
        if (auto failure = run_one(launch, start, request.timeout_s, SharedMemory::fresh))
          return as<SampleResult>(std::move(*failure));
      if (request.cold() && !host::evict_buffers()) flush_cache(device_.key.l2_bytes);
      const Clock::time_point begin = Clock::now();
      for (std::size_t repeat = 0; repeat < batch; ++repeat) {
        if (request.refills_each_run) refill(request.refills);
        for (const Launch& launch : launches)
          if (auto failure = run_one(launch, start, request.timeout_s, SharedMemory::fresh))
            return as<SampleResult>(std::move(*failure));
      }
      const double ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
      samples.push_back({ns / static_cast<double>(batch), 0});
    }
    return samples;
  }

  bool set_order(const ThreadOrder& order) override {
    const std::lock_guard lock(mutex_);
    order_ = order;
    return true;
  }

  void enqueue(const Module& module, std::size_t function, const LaunchShape& shape, void* const* parameters,
               void*) override {
    const std::lock_guard lock(mutex_);
    const auto& loaded = static_cast<const host::HostModule&>(module);
    if (auto reason = refusal(loaded, function, shape)) throw Error("host backend: " + *reason);
    if (auto failure = start(loaded, function, shape, parameters, 0, SharedMemory::kept)) {
      const auto* const launch = std::get_if<LaunchError>(&*failure);
      throw Error(launch != nullptr ? launch->code : ErrorCode::other,
                  "host backend: " + std::visit([](const auto& value) { return value.message; }, *failure));
    }
  }
  void synchronize(void*) override {}

  bool usable() const override { return true; }

 private:
  using Failure = std::variant<LaunchError, Timeout>;
  enum class SharedMemory { kept, fresh };  // Kernel::fresh_shared
  template <typename Result>
  static Result as(Failure failure) {
    return std::visit([](auto& value) { return Result(std::move(value)); }, failure);
  }

  static void refill(std::span<const Refill> refills) {
    for (const Refill& one : refills) {
      if (one.bytes == 0) continue;
      if (one.from != 0)
        std::memcpy(pointer(one.to), pointer(one.from), one.bytes);
      else
        std::memset(pointer(one.to), one.value, one.bytes);
    }
  }

  /// The reason why \p function cannot be started with \p shape.
  std::optional<std::string> refusal(const host::HostModule& module, std::size_t function,
                                     const LaunchShape& shape) const {
    if (function >= module.functions().size()) return "the module has no function " + std::to_string(function);
    const std::string& name = module.functions()[function].expression;
    if (const auto violated = violated_limit(shape, device_.limits)) return name + ": " + *violated;
    return std::nullopt;
  }

  /// The reason why \p launch's arguments do not fit its kernel.
  static std::optional<std::string> mismatch(const Launch& launch, const host::HostModule& module) {
    const tuner_host::EntryInfo& entry = *module.functions()[launch.function].entry;
    return wrong_sizes(module.functions()[launch.function].expression, launch.arguments,
                       {entry.sizes, entry.arguments});
  }

  /// \p timeout_s: from \p begin on; 0 if there is no limit.
  std::optional<Failure> run_one(const Launch& launch, Clock::time_point begin, double timeout_s, SharedMemory shared) {
    const auto& module = static_cast<const host::HostModule&>(*launch.module);
    if (auto reason = refusal(module, launch.function, launch.shape)) return LaunchError{std::move(*reason)};
    if (auto reason = mismatch(launch, module)) return LaunchError{std::move(*reason)};
    std::vector<void*> arguments;
    for (const Argument& argument : launch.arguments)
      arguments.push_back(const_cast<void*>(static_cast<const void*>(argument.data())));
    return start(module, launch.function, launch.shape, arguments.data(),
                 timeout_s <= 0 ? 0 : std::max(1e-9, timeout_s - seconds_since(begin)), shared);
  }

  std::optional<Failure> start(const host::HostModule& module, std::size_t function, const LaunchShape& shape,
                               void* const* arguments, double timeout_s, SharedMemory shared) {
    host::Kernel kernel = module.kernel(function);
    kernel.arguments = arguments;
    for (std::size_t i = 0; i < 3; ++i) {
      kernel.grid[i] = static_cast<unsigned>(shape.grid[i]);
      kernel.block[i] = static_cast<unsigned>(shape.block[i]);
      if (shape.blocks_per_cluster() != 1) kernel.cluster[i] = static_cast<unsigned>(shape.cluster[i]);
    }
    kernel.shared_bytes = static_cast<std::size_t>(shape.shared_bytes);
    kernel.fresh_shared = shared == SharedMemory::fresh;
    kernel.cooperative = shape.cooperative;
    if (order_.kind != ThreadOrder::Kind::interleaved) kernel.accesses = nullptr;
    kernel.seed = order_.seed;
    auto failure = pool_.run(kernel, order_, timeout_s);
    if (!failure) return std::nullopt;
    std::visit([&](auto& value) { value.message = module.functions()[function].expression + ": " + value.message; },
               *failure);
    return failure;
  }

  /// DevicePeaks::launch_ns; 0 if there is no compiler.
  double empty_launch_ns() {
    CompileRequest request;
    request.source = "__global__ void nothing() {}\n";
    request.file_name = "nothing.cu";
    request.expressions = {"nothing"};
    request.architecture = architecture();
    const CompileResult compiled = compiler_.compile(request);
    const auto* const image = std::get_if<Image>(&compiled);
    if (image == nullptr) return 0;
    const auto loaded = load(*image);
    const auto* const module = std::get_if<std::unique_ptr<Module>>(&loaded);
    if (module == nullptr) return 0;
    Launch launch;
    launch.module = module->get();
    SampleRequest wanted;
    wanted.samples = 15;
    const SampleResult result = sample({&launch, 1}, wanted);
    const auto* const samples = std::get_if<std::vector<Sample>>(&result);
    if (samples == nullptr) return 0;
    std::vector<double> times;
    for (const Sample& one : *samples) times.push_back(one.ns);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::ranges::nth_element(times, middle);
    return *middle;
  }

  host::HostCompiler compiler_;
  Device device_;
  host::Pool pool_;
  std::mutex mutex_;  // one launch at a time
  ThreadOrder order_;
};

}  // namespace

Device host_device(const HostOptions& options) {
  HostOptions asking = options;
  asking.cache_objects = false;
  return discover(thread_count(options), host::HostCompiler(asking).short_name());
}

std::unique_ptr<Backend> make_host_backend(const HostOptions& options) {
  return std::make_unique<HostBackend>(options);
}

}  // namespace tuner
