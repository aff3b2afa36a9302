#pragma once
/// A backend without a compiler or a device: kernels are functions given by the test, times are scripted.

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/fill_value.hpp>
#include <tuner/error.hpp>

namespace tuner::testing {

/// Reads argument \p i of \p launch as a T.
template <typename T>
T argument(const Launch& launch, std::size_t i) {
  T value;
  std::memcpy(&value, launch.arguments.at(i).data(), sizeof value);
  return value;
}

/// A fake kernel: changes memory like a launch, and returns an outcome if it fails.
using FakeKernel = std::function<std::optional<Outcome>(const Launch&)>;

class FakeCompiler : public Compiler {
 public:
  CompileResult compile(const CompileRequest& request) override {
    if (before) before(request);
    const std::lock_guard lock(mutex);
    requests.push_back(request);
    Image image;
    for (const std::string& expression : request.expressions) {
      if (refused.contains(expression)) return CompileError{"refused", "error: " + expression};
      Resources needs;
      if (const auto at = resources.find(expression); at != resources.end()) needs = at->second;
      image.functions.push_back({expression, expression, needs});
    }
    return image;
  }
  std::string identity() const override { return "fake 1"; }

  std::function<void(const CompileRequest&)> before;  // called by each compile
  std::map<std::string, int> refused;
  std::map<std::string, Resources> resources;
  std::vector<CompileRequest> requests;
  std::mutex mutex;
};

class FakeModule : public Module {
 public:
  explicit FakeModule(Image image) : functions(std::move(image.functions)) {}
  Resources resources(std::size_t function, const LaunchShape&) const override { return functions[function].resources; }
  std::vector<Variable> lasting_variables() const override { return variables; }
  std::array<std::int64_t, 3> compiled_cluster(std::size_t function) const override {
    const auto at = clusters.find(functions[function].expression);
    return at != clusters.end() ? at->second : std::array<std::int64_t, 3>{};
  }
  std::optional<std::int64_t> resident_clusters(std::size_t, const LaunchShape&) const override { return resident; }
  std::vector<Variable> variables;
  std::map<std::string, std::array<std::int64_t, 3>> clusters;  // that are compiled into functions
  std::optional<std::int64_t> resident;                         // clusters on the device
  std::vector<CompiledFunction> functions;
};

class FakeMemory : public DeviceMemory {
 public:
  /// \p in_use: the bytes of all objects.
  FakeMemory(std::size_t bytes, std::shared_ptr<std::atomic<std::size_t>> in_use)
      : bytes_(bytes),
        data_(static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256))),
        in_use_(std::move(in_use)) {
    *in_use_ += bytes_;
  }
  ~FakeMemory() override {
    std::free(data_);
    *in_use_ -= bytes_;
  }
  DevicePointer address() const override { return reinterpret_cast<DevicePointer>(data_); }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
  std::shared_ptr<std::atomic<std::size_t>> in_use_;
};

/// The address of its elements serves as texture and surface objects.
class FakeArray : public DeviceArray {
 public:
  FakeArray(const ArrayShape& shape, std::size_t& loads) : elements_(shape.bytes()), loads_(loads) {}
  std::uint64_t texture(const TextureReading&) override { return reinterpret_cast<std::uint64_t>(elements_.data()); }
  std::uint64_t surface() override { return texture({}); }
  void load(DevicePointer from) override {
    ++loads_;
    std::memcpy(elements_.data(), reinterpret_cast<const void*>(from), elements_.size());
  }
  void store(DevicePointer to) override {
    std::memcpy(reinterpret_cast<void*>(to), elements_.data(), elements_.size());
  }

 private:
  std::vector<std::byte> elements_;
  std::size_t& loads_;
};

class FakeBackend : public Backend {
 public:
  FakeBackend() {
    device_.key.backend = "fake";
    device_.limits.sm_count = 2;
  }

  const Device& device() const override { return device_; }
  std::string architecture() const override { return "fake"; }
  FakeCompiler& compiler() override { return compiler_; }
  std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image) override {
    auto module = std::make_unique<FakeModule>(image);
    module->variables = variables;
    module->clusters = clusters;
    module->resident = resident_clusters;
    return module;
  }
  std::unique_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    if (bytes > room) throw Error(ErrorCode::out_of_memory, "no room for " + std::to_string(bytes) + " bytes");
    return std::make_unique<FakeMemory>(bytes, in_use);
  }
  std::unique_ptr<DeviceArray> allocate_array(const ArrayShape& shape) override {
    shapes.push_back(shape);
    return std::make_unique<FakeArray>(shape, loads);
  }
  /// Begins with the address.
  TensorMap tensor_map(const TensorMapShape& shape, DevicePointer address) override {
    if (!why_no_tensor_maps.empty()) throw TensorMapError(why_no_tensor_maps);
    tensor_maps.push_back(shape);
    TensorMap map;
    std::memcpy(map.bytes.data(), &address, sizeof address);
    return map;
  }
  void upload(DevicePointer to, const void* from, std::size_t bytes) override {
    uploads.push_back(bytes);
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  }
  void download(void* to, DevicePointer from, std::size_t bytes) override {
    if (refuses && refuses(from, bytes)) throw Error("invalid argument");
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  }
  void fill_bytes(DevicePointer to, unsigned char value, std::size_t bytes) override {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
  }
  void fill(DevicePointer to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed) override {
    for (std::size_t i = 0; i < count; ++i) {
      const double value = fill.kind == Fill::Kind::constant ? fill.low
                           : fill.kind == Fill::Kind::iota   ? double(i)
                                                             : fill_value::uniform(seed, i, fill.low, fill.high);
      if (type == ElementType::float32) reinterpret_cast<float*>(to)[i] = float(value);
      if (type == ElementType::int32) reinterpret_cast<int*>(to)[i] = int(fill_value::floor_signed(value));
      if (type == ElementType::uint8) reinterpret_cast<std::uint8_t*>(to)[i] = std::uint8_t(value);
    }
  }
  Comparison compare(DevicePointer actual, DevicePointer expected, ElementType type, std::size_t count,
                     const Tolerance& tolerance) override {
    Comparison result;
    const auto at = [type](DevicePointer from, std::size_t i) -> double {
      if (type == ElementType::float32) return reinterpret_cast<const float*>(from)[i];
      if (type == ElementType::uint8) return reinterpret_cast<const std::uint8_t*>(from)[i];
      if (type == ElementType::e4m3) return fill_value::e4m3_value(reinterpret_cast<const std::uint8_t*>(from)[i]);
      return reinterpret_cast<const int*>(from)[i];
    };
    for (std::size_t i = 0; i < count; ++i) {
      const double a = at(actual, i), e = at(expected, i);
      result.largest_error = std::max(result.largest_error, fill_value::relative_error(a, e));
      if (tolerance.is_place) count_direction(result, a, e);
      if (!fill_value::differs(a, e, tolerance.relative, tolerance.absolute, tolerance.is_place)) continue;
      if (result.mismatches++ == 0) result.first_index = i, result.actual = a, result.expected = e;
    }
    return result;
  }
  std::uint64_t fingerprint(DevicePointer from, std::size_t bytes) override {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      sum = fill_value::splitmix64(sum ^ reinterpret_cast<const unsigned char*>(from)[i]);
    return sum;
  }
  std::optional<Outcome> run(std::span<const Launch> launches, double) override {
    ++runs;
    for (const Launch& launch : launches)
      if (auto failure = kernels.at(expression(launch))(launch)) return failure;
    return std::nullopt;
  }
  /// Takes times from next_sample, if set; else each is 1000 ns at 1000 MHz. Runs the launches that the test gave
  /// kernels for, once for each sample. Refills take no time.
  SampleResult sample(std::span<const Launch> launches, const SampleRequest& request) override {
    requests.push_back(request);
    std::vector<Sample> result;
    for (std::size_t i = 0; i < request.samples; ++i) {
      for (const Refill& refill : request.refills) {
        if (refill.from != 0)
          download(reinterpret_cast<void*>(refill.to), refill.from, refill.bytes);
        else
          fill_bytes(refill.to, refill.value, refill.bytes);
      }
      if (!request.prepare.empty()) run(request.prepare, 0);
      if (launches.empty())
        result.push_back({refills_ns, 1000});
      else
        result.push_back(next_sample ? next_sample(expression(launches.front()), taken++) : Sample{1000, 1000});
      for (const Launch& launch : launches) {
        const auto kernel = kernels.find(expression(launch));
        const auto failure = kernel == kernels.end() ? std::nullopt : kernel->second(launch);
        if (!failure) continue;
        if (const auto* timeout = std::get_if<Timeout>(&*failure)) return *timeout;
        return std::get<LaunchError>(*failure);
      }
    }
    return result;
  }
  /// Runs two passes and returns 3 for each metric, unless why_no_counters is set.
  CountResult collect(std::span<const Launch> launches, const CountRequest& request) override {
    counted.push_back({expression(launches.front()), taken, request.cold});
    if (!why_no_counters.empty()) return Unavailable{why_no_counters};
    for (int pass = 0; pass < 2; ++pass) {
      if (request.restore) request.restore();
      if (auto failure = run(launches, 0)) return Unavailable{"failed"};
    }
    Metrics metrics;
    for (const std::string& name : request.metrics) metrics[name] = 3;
    return metrics;
  }
  EnergyResult energy(std::span<const Launch>, double seconds) override {
    energy_windows.push_back(seconds);
    Energy energy;
    energy.joules = 0.5;
    energy.watts = 300;
    return energy;
  }
  void enqueue(const Module&, std::size_t, const LaunchShape&, void* const*, void*) override {}
  void synchronize(void*) override {}
  bool set_order(const ThreadOrder& wanted) override {
    if (has_order) order = wanted;
    return has_order;
  }
  bool usable() const override { return usable_; }

  static const std::string& expression(const Launch& launch) {
    return static_cast<const FakeModule*>(launch.module)->functions[launch.function].expression;
  }

  std::size_t room = ~std::size_t{0};  // for one allocation
  /// The bytes of all memory.
  const std::shared_ptr<std::atomic<std::size_t>> in_use = std::make_shared<std::atomic<std::size_t>>(0);
  std::vector<Variable> variables;  // of each module
  std::map<std::string, std::array<std::int64_t, 3>> clusters;
  std::optional<std::int64_t> resident_clusters;
  std::map<std::string, FakeKernel> kernels;
  std::function<Sample(const std::string& expression, std::size_t index)> next_sample;
  double refills_ns = 0;                                    // a sample without launches
  std::function<bool(DevicePointer, std::size_t)> refuses;  // to read
  std::vector<SampleRequest> requests;
  std::vector<ArrayShape> shapes;           // of all arrays allocated so far
  std::vector<TensorMapShape> tensor_maps;  // all that were made
  std::string why_no_tensor_maps;
  std::size_t loads = 0;  // of all arrays
  std::vector<std::size_t> uploads;
  struct Counted {
    std::string expression;
    std::size_t samples_before;  // when it was counted
    bool cold;
  };
  std::vector<Counted> counted;
  std::vector<double> energy_windows;
  std::string why_no_counters;
  std::size_t taken = 0;
  std::size_t runs = 0;
  std::atomic<bool> usable_ = true;
  bool has_order = false;  // like a host
  ThreadOrder order;
  Device device_;
  FakeCompiler compiler_;
};

}  // namespace tuner::testing
