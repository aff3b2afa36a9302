#include <tuner/backend/cuda/peaks.hpp>

#include <algorithm>
#include <memory>

#include <tuner/backend/cuda/support_kernels.hpp>

namespace tuner::cuda {
namespace {

enum Function : std::size_t { fp32, fp64, integer, link, follow, nothing };

constexpr std::int64_t kPeakThreads = 256;
constexpr std::int64_t kBlocksOfSm = 16;
constexpr int kRounds = 256;                       // a millisecond, in which the first and the last wave vanish
constexpr double kOperationsOfRound = 8 * 32 * 2;  // chains, steps; a multiply-add is two
constexpr int kSteps = 1024;
constexpr std::size_t kLineBytes = 128;

class Peaks {
 public:
  Peaks(Backend& backend, const CompileResult& compiled) : backend_(backend), sink_(backend.allocate(256)) {
    if (const CompileError* error = std::get_if<CompileError>(&compiled))
      throw Error("the kernels that measure peaks do not compile: " + error->message);
    auto loaded = backend.load(std::get<Image>(compiled));
    if (const LaunchError* error = std::get_if<LaunchError>(&loaded)) throw Error(error->message);
    module_ = std::get<std::unique_ptr<Module>>(std::move(loaded));
  }

  DevicePeaks measure() {
    DevicePeaks peaks;
    peaks.fp32 = rate<float>(fp32);
    peaks.fp64 = rate<double>(fp64);
    peaks.integer = rate<int>(integer);
    peaks.launch_ns = median_ns(launch_of(nothing, 1, 1, {}), 30, true);
    peaks.latency_ns = latency();
    return peaks;
  }

 private:
  Launch launch_of(Function function, std::int64_t blocks, std::int64_t threads, std::vector<Argument> arguments) {
    Launch launch;
    launch.module = module_.get();
    launch.function = function;
    launch.shape.grid[0] = blocks;
    launch.shape.block[0] = threads;
    launch.arguments = std::move(arguments);
    return launch;
  }

  std::vector<double> times(const Launch& launch, std::size_t samples, bool cold) {
    SampleRequest request;
    request.samples = samples;
    request.cold = cold;
    const SampleResult result = backend_.sample({&launch, 1}, request);
    const auto* taken = std::get_if<std::vector<Sample>>(&result);
    if (taken == nullptr) throw Error("the kernels that measure peaks failed");
    std::vector<double> all;
    for (const Sample& sample : *taken) all.push_back(sample.ns);
    return all;
  }

  double median_ns(const Launch& launch, std::size_t samples, bool cold) {
    std::vector<double> all = times(launch, samples, cold);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  }

  /// Operations/s of the fastest run.
  template <typename T>
  double rate(Function function) {
    const std::int64_t blocks = backend_.device().limits.sm_count * kBlocksOfSm;
    const Launch launch =
        launch_of(function, blocks, kPeakThreads,
                  {Argument::of(sink_->address()), Argument::of(kRounds), Argument::of(static_cast<T>(1))});
    const std::vector<double> all = times(launch, 10, false);
    return static_cast<double>(blocks * kPeakThreads) * kRounds * kOperationsOfRound /
           *std::min_element(all.begin(), all.end()) * 1e9;
  }

  /// Of one load from memory that L2 does not hold: the ring is several times as large.
  double latency() {
    std::size_t bytes = std::size_t{1} << 26;
    while (bytes < 4 * static_cast<std::size_t>(backend_.device().key.l2_bytes)) bytes *= 2;
    std::unique_ptr<DeviceMemory> ring;
    try {
      ring = backend_.allocate(bytes);
    } catch (const Error&) {
      if (!backend_.usable()) throw;
      return 0;
    }
    const auto lines = static_cast<unsigned>(bytes / kLineBytes);
    const Launch make = launch_of(link, 1024, kPeakThreads, {Argument::of(ring->address()), Argument::of(lines)});
    backend_.fill_bytes(sink_->address(), 0, sink_->bytes());
    if (backend_.run({&make, 1}, 0)) throw Error("the kernels that measure peaks failed");
    const Launch walk =
        launch_of(follow, 1, 1, {Argument::of(ring->address()), Argument::of(sink_->address()), Argument::of(kSteps)});
    return median_ns(walk, 5, false) / kSteps;
  }

  Backend& backend_;
  std::unique_ptr<DeviceMemory> sink_;
  std::unique_ptr<Module> module_;
};

}  // namespace

CompileRequest peaks_request(const std::string& architecture) {
  return support_request(
      "rates.cu",
      {"tuner_support::multiply_add<float>", "tuner_support::multiply_add<double>", "tuner_support::multiply_add<int>",
       "tuner_support::link_ring", "tuner_support::follow_ring", "tuner_support::nothing"},
      architecture);
}

DevicePeaks measure_peaks(Backend& backend, const CompileResult& compiled) {
  return Peaks(backend, compiled).measure();
}

}  // namespace tuner::cuda
