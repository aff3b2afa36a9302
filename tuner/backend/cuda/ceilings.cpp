#include <tuner/backend/cuda/ceilings.hpp>

#include <algorithm>
#include <array>

#include <tuner/backend/cuda/support_kernels.hpp>

namespace tuner::cuda {
namespace {

constexpr std::size_t kSamples = 10;

/// 16-byte words a thread has in flight; which is best differs between devices.
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

/// Two equal buffers, as large as fit: at most 1 GiB each.
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

double fastest_ns(Backend& backend, const Launch& launch) {
  SampleRequest request;
  request.samples = kSamples;
  request.cold = false;
  const SampleResult result = backend.sample({&launch, 1}, request);
  const auto* samples = std::get_if<std::vector<Sample>>(&result);
  if (samples == nullptr) throw Error("the memory ceilings cannot be measured: the streaming kernels failed");
  double best = samples->front().ns;
  for (const Sample& sample : *samples) best = std::min(best, sample.ns);
  return best;
}

}  // namespace

CompileRequest ceilings_request(const std::string& architecture) {
  std::vector<std::string> kernels;
  for (const Variant& variant : kVariants) kernels.emplace_back(variant.expression);
  return support_request("streaming.cu", std::move(kernels), architecture);
}

Ceilings measure_ceilings(Backend& backend, const CompileResult& compiled) {
  if (const CompileError* error = std::get_if<CompileError>(&compiled)) {
    throw Error("the streaming kernels do not compile: " + error->message);
  }
  auto loaded = backend.load(std::get<Image>(compiled));
  if (const LaunchError* error = std::get_if<LaunchError>(&loaded)) throw Error(error->message);
  const std::unique_ptr<Module> module = std::get<std::unique_ptr<Module>>(std::move(loaded));

  const auto [from, to] = two_buffers(backend);
  const std::size_t bytes = from->bytes();
  backend.fill_bytes(from->address(), 0, bytes);
  backend.fill_bytes(to->address(), 0, bytes);
  Ceilings ceilings;
  for (std::size_t i = 0; i < std::size(kVariants); ++i) {
    const Variant& variant = kVariants[i];
    for (const std::int64_t threads : {256, 1024}) {
      const std::int64_t tiles = static_cast<std::int64_t>(bytes) / (16 * threads * variant.in_flight);
      const std::int64_t threads_a_sm = 16 * 1024;  // several waves, so that the last one is short
      for (const std::int64_t blocks : {backend.device().limits.sm_count * threads_a_sm / threads, tiles}) {
        Launch launch;
        launch.module = module.get();
        launch.function = i;
        launch.shape.grid[0] = std::min(blocks, tiles);
        launch.shape.block[0] = threads;
        launch.arguments = {Argument::of(from->address()), Argument::of(static_cast<std::uint64_t>(tiles)),
                            Argument::of(to->address())};
        const double moved = static_cast<double>(bytes) * (variant.rate == &Ceilings::copy ? 2 : 1);
        double& best = ceilings.*variant.rate;
        best = std::max(best, moved / fastest_ns(backend, launch) * 1e9);
      }
    }
  }
  return ceilings;
}

}  // namespace tuner::cuda
