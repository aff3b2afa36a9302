#include <tuner/backend/cuda/observe/yardsticks.hpp>

#include <algorithm>
#include <array>
#include <memory>

#include <tuner/backend/cuda/run/support_kernels.hpp>

namespace tuner::cuda {
namespace {

/// A loaded module of tuner's own kernels, and their times.
class TimedKernels {
 public:
  TimedKernels(Backend& backend, const CompileResult& compiled) : backend_(backend) {
    if (const CompileError* error = std::get_if<CompileError>(&compiled))
      throw Error("the kernels that measure a device do not compile: " + error->message);
    auto loaded = backend.load(std::get<Image>(compiled));
    if (const LaunchError* error = std::get_if<LaunchError>(&loaded)) throw Error(error->message);
    module_ = std::get<std::unique_ptr<Module>>(std::move(loaded));
  }

  Launch launch_of(std::size_t function, std::int64_t blocks, std::int64_t threads,
                   std::vector<Argument> arguments) const {
    Launch launch;
    launch.module = module_.get();
    launch.function = function;
    launch.shape.grid[0] = blocks;
    launch.shape.block[0] = threads;
    launch.arguments = std::move(arguments);
    return launch;
  }

  double fastest_ns(const Launch& launch) const {
    const std::vector<double> times = times_ns(launch, 10, false);
    return *std::min_element(times.begin(), times.end());
  }

  double median_ns(const Launch& launch, std::size_t samples, bool cold) const {
    std::vector<double> times = times_ns(launch, samples, cold);
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

 private:
  std::vector<double> times_ns(const Launch& launch, std::size_t samples, bool cold) const {
    SampleRequest request;
    request.samples = samples;
    request.use = cold ? Use::single : Use::hot;
    const SampleResult result = backend_.sample({&launch, 1}, request);
    const auto* const taken = std::get_if<std::vector<Sample>>(&result);
    if (taken == nullptr) throw Error("the kernels that measure a device failed");
    std::vector<double> times;
    for (const Sample& sample : *taken) times.push_back(sample.ns);
    return times;
  }

  Backend& backend_;
  std::unique_ptr<Module> module_;
};

/// A streaming kernel. The first one reads. The best number of 16-byte words that a thread has in flight differs
/// between devices.
struct Variant {
  const char* expression;
  std::int64_t in_flight;
  double Ceilings::*rate;
};
constexpr Variant kVariants[] = {
    {"tuner_support::read<4>", 4, &Ceilings::read},   {"tuner_support::read<8>", 8, &Ceilings::read},
    {"tuner_support::copy<1>", 1, &Ceilings::copy},   {"tuner_support::copy<4>", 4, &Ceilings::copy},
    {"tuner_support::write<1>", 1, &Ceilings::write}, {"tuner_support::write<4>", 4, &Ceilings::write},
};

/// Two equal buffers, as large as possible, but at most 1 GiB each.
std::array<std::unique_ptr<DeviceMemory>, 2> two_buffers(Backend& backend) {
  constexpr std::size_t kLeast = std::size_t{1} << 26;
  for (std::size_t bytes = std::size_t{1} << 30;; bytes /= 2) {
    try {
      return {backend.allocate(bytes), backend.allocate(bytes)};
    } catch (const Error&) {
      if (bytes <= kLeast || !backend.usable()) throw;
    }
  }
}

enum Function : std::size_t { fp32, fp64, integer, link, follow, nothing };  // in the order of peaks_request()
constexpr std::int64_t kPeakThreads = 256;

/// Operations/s of the fastest run.
template <typename T>
double arithmetic_rate(Backend& backend, const TimedKernels& kernels, Function function, const DeviceMemory& sink) {
  constexpr int kRounds = 256;                       // about a millisecond: the first and last wave hardly matter
  constexpr double kOperationsOfRound = 8 * 32 * 2;  // chains, steps; a multiply-add is two operations
  const std::int64_t blocks = backend.device().limits.sm_count * 16;
  const Launch launch =
      kernels.launch_of(function, blocks, kPeakThreads,
                        {Argument::of(sink.address()), Argument::of(kRounds), Argument::of(static_cast<T>(1))});
  return static_cast<double>(blocks * kPeakThreads) * kRounds * kOperationsOfRound / kernels.fastest_ns(launch) * 1e9;
}

/// The time of one load from memory. L2 cannot hold the ring, which is several times as large. 0 if there is no room.
double latency_ns(Backend& backend, const TimedKernels& kernels, const DeviceMemory& sink) {
  constexpr std::size_t kLineBytes = 128;
  constexpr int kSteps = 1024;
  std::size_t bytes = std::size_t{1} << 26;
  while (bytes < 4 * static_cast<std::size_t>(backend.device().key.l2_bytes)) bytes *= 2;
  std::unique_ptr<DeviceMemory> ring;
  try {
    ring = backend.allocate(bytes);
  } catch (const Error&) {
    if (!backend.usable()) throw;
    return 0;
  }
  const auto lines = static_cast<unsigned>(bytes / kLineBytes);
  const Launch make = kernels.launch_of(link, 1024, kPeakThreads, {Argument::of(ring->address()), Argument::of(lines)});
  backend.fill_bytes(sink.address(), 0, sink.bytes());
  if (backend.run({&make, 1}, 0)) throw Error("the kernels that measure a device failed");
  const Launch walk = kernels.launch_of(
      follow, 1, 1, {Argument::of(ring->address()), Argument::of(sink.address()), Argument::of(kSteps)});
  return kernels.median_ns(walk, 5, false) / kSteps;
}

/// Ceilings::loaded_latency_ns, by Little's law: more and more threads read, until they come near \p read, the rate of
/// as many as are useful.
double loaded_latency_ns(Backend& backend, const TimedKernels& kernels, const std::array<const DeviceMemory*, 2>& data,
                         double read) {
  constexpr std::size_t kReader = 0;
  constexpr std::int64_t kWordBytes = 16, kBlockThreads = 64, kSamples = 5;
  constexpr double kOfPeak = 0.9;
  const DeviceLimits& limits = backend.device().limits;
  const auto bytes = static_cast<double>(data[0]->bytes());
  const std::int64_t tile_bytes = kWordBytes * kBlockThreads * kVariants[kReader].in_flight;
  const std::int64_t tiles = static_cast<std::int64_t>(data[0]->bytes()) / tile_bytes;
  const std::int64_t most = std::min(limits.max_blocks_per_sm, limits.max_threads_per_sm / int{kBlockThreads});
  for (std::int64_t blocks_of_sm = 1; blocks_of_sm <= most; ++blocks_of_sm) {
    const std::int64_t blocks = blocks_of_sm * limits.sm_count;
    const Launch launch =
        kernels.launch_of(kReader, blocks, kBlockThreads,
                          {Argument::of(data[0]->address()), Argument::of(static_cast<std::uint64_t>(tiles)),
                           Argument::of(data[1]->address())});
    const double rate = bytes / kernels.median_ns(launch, kSamples, false) * 1e9;
    if (rate >= kOfPeak * read) return static_cast<double>(blocks * tile_bytes) / rate * 1e9;
  }
  return 0;
}

}  // namespace

CompileRequest ceilings_request(const std::string& architecture) {
  std::vector<std::string> kernels;
  for (const Variant& variant : kVariants) kernels.emplace_back(variant.expression);
  return support_request("streaming.cu", std::move(kernels), architecture);
}

Ceilings measure_ceilings(Backend& backend, const CompileResult& compiled) {
  const TimedKernels kernels(backend, compiled);
  const auto [from, to] = two_buffers(backend);
  const std::size_t bytes = from->bytes();
  backend.fill_bytes(from->address(), 0, bytes);
  backend.fill_bytes(to->address(), 0, bytes);
  Ceilings ceilings;
  for (std::size_t i = 0; i < std::size(kVariants); ++i) {
    const Variant& variant = kVariants[i];
    for (const std::int64_t threads : {256, 1024}) {
      const std::int64_t tiles = static_cast<std::int64_t>(bytes) / (16 * threads * variant.in_flight);
      const std::int64_t threads_of_sm = 16 * 1024;  // several waves, so that the last one is short
      for (const std::int64_t blocks : {backend.device().limits.sm_count * threads_of_sm / threads, tiles}) {
        const Launch launch =
            kernels.launch_of(i, std::min(blocks, tiles), threads,
                              {Argument::of(from->address()), Argument::of(static_cast<std::uint64_t>(tiles)),
                               Argument::of(to->address())});
        const double moved = static_cast<double>(bytes) * (variant.rate == &Ceilings::copy ? 2 : 1);
        double& best = ceilings.*variant.rate;
        best = std::max(best, moved / kernels.fastest_ns(launch) * 1e9);
      }
    }
  }
  ceilings.loaded_latency_ns = loaded_latency_ns(backend, kernels, {from.get(), to.get()}, ceilings.read);
  return ceilings;
}

CompileRequest peaks_request(const std::string& architecture) {
  return support_request(
      "rates.cu",
      {"tuner_support::multiply_add<float>", "tuner_support::multiply_add<double>", "tuner_support::multiply_add<int>",
       "tuner_support::link_ring", "tuner_support::follow_ring", "tuner_support::nothing"},
      architecture);
}

DevicePeaks measure_peaks(Backend& backend, const CompileResult& compiled) {
  const std::unique_ptr<DeviceMemory> sink = backend.allocate(256);
  const TimedKernels kernels(backend, compiled);
  DevicePeaks peaks;
  peaks.fp32 = arithmetic_rate<float>(backend, kernels, fp32, *sink);
  peaks.fp64 = arithmetic_rate<double>(backend, kernels, fp64, *sink);
  peaks.integer = arithmetic_rate<int>(backend, kernels, integer, *sink);
  peaks.launch_ns = kernels.median_ns(kernels.launch_of(nothing, 1, 1, {}), 30, true);
  const std::int64_t many = backend.device().limits.sm_count * std::int64_t{4096};
  peaks.block_ns = kernels.median_ns(kernels.launch_of(nothing, many, 128, {}), 5, false) / static_cast<double>(many);
  peaks.latency_ns = latency_ns(backend, kernels, *sink);
  return peaks;
}

}  // namespace tuner::cuda
