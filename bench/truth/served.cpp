// Times served calls from outside: by events on a GPU, by the clock on the host backend.

#include <bench/truth/served.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <bench/truth/lab.hpp>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/kernel.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/tuner.h>
#ifdef TUNER_BENCH_TIMES_BY_EVENTS
#include <bench/gpu_clock.hpp>
#endif

namespace bench::truth {
namespace {

constexpr std::size_t kSamples = 51;

void check_status(tuner_status status) {
  if (status != TUNER_OK) throw tuner::Error(tuner_last_error());
}

/// The arguments of a call of one problem, and the memory that they lead to.
class Call {
 public:
  Call(tuner::Backend& backend, const Problem& problem) : problem_(problem) {
    check_status(tuner_kernel_from_file(problem.kernel.c_str(), &bare_));
    check_status(tuner_kernel_with(bare_, own_choices().c_str(), &kernel_));
    for (const tuner::SizeSpec& size : problem.spec.sizes) sizes_.push_back(problem.size.sizes.at(size.name));
    std::vector<std::int64_t> counts(problem.spec.buffers.size());
    std::size_t needed = 0;
    check_status(tuner_kernel_elements(kernel_, sizes_.data(), sizes_.size(), problem.size.choices_text().c_str(),
                                       counts.data(), counts.size(), &needed));
    std::size_t next = 0;
    for (const tuner::BufferSpec& buffer : problem.spec.buffers) {
      if (buffer.is_work_space()) continue;
      if (buffer.role == tuner::BufferRole::constant || buffer.record)
        throw tuner::Error(problem.kernel + ": a call with structs or constants is not timed here");
      const tuner::ElementType type = resolved_type(problem.spec, problem.size, buffer.type);
      const auto count = static_cast<std::size_t>(counts.at(next++));
      memory_.push_back(backend.allocate(std::max<std::size_t>(count * tuner::info(type).bytes, 1)));
      if (buffer.is_input())
        backend.fill(memory_.back()->address(), type, count,
                     buffer.fill ? buffer.fill->numbers : tuner::Fill::by_default(type), next);
      arguments_.push_back(tuner_buffer(static_cast<tuner_type>(type),
                                        reinterpret_cast<void*>(memory_.back()->address())));  // NOLINT
    }
    for (const tuner::ScalarSpec& scalar : problem.spec.scalars) add(scalar);
  }
  ~Call() {
    tuner_kernel_free(kernel_);
    tuner_kernel_free(bare_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void operator()(tuner_stream stream) const {
    tuner_call call = TUNER_CALL;
    call.sizes = sizes_.data();
    call.size_count = sizes_.size();
    call.arguments = arguments_.data();
    call.argument_count = arguments_.size();
    call.stream = stream;
    check_status(tuner_kernel_launch(kernel_, &call));
  }

 private:
  /// Choices that do not follow from pointers.
  std::string own_choices() const {
    tuner::ProblemSize own = problem_.size;
    for (const tuner::ChoiceSpec& choice : problem_.spec.choices)
      if (choice.is_type) own.choices.erase(choice.name);
    return own.choices_text();
  }

  void add(const tuner::ScalarSpec& scalar) {
    const auto& info = tuner::info(resolved_type(problem_.spec, problem_.size, scalar.type));
    if (scalar.record || scalar.values.front().computed)
      throw tuner::Error(problem_.kernel + ": a call with computed scalars or structs is not timed here");
    const double value = scalar.values.front().number;
    arguments_.push_back(info.is_floating ? tuner_real(value) : tuner_signed(static_cast<std::int64_t>(value)));
  }

  const Problem& problem_;
  tuner_kernel *bare_ = nullptr, *kernel_ = nullptr;
  std::vector<std::int64_t> sizes_;
  std::vector<std::unique_ptr<tuner::DeviceMemory>> memory_;
  std::vector<tuner_argument> arguments_;
};

/// Reads and writes more than any cache holds, before each sample.
std::vector<double> by_the_clock(const std::function<void()>& call) {
  std::vector<char> other(std::size_t{64} << 20);
  std::vector<double> ns;
  for (std::size_t i = 0; i < kSamples; ++i) {
    std::memset(other.data(), static_cast<int>(i), other.size());
    const auto begin = std::chrono::steady_clock::now();
    call();
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  return ns;
}

#ifdef TUNER_BENCH_TIMES_BY_EVENTS
std::vector<double> by_events(const Call& call, int device) {
  check(cudaSetDevice(device), "cudaSetDevice");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  GpuClock clock(stream);
  const std::function<void()> work = [&] { call(stream); };
  work();  // looks up and loads
  std::vector<double> samples = clock.interleaved({&work, 1}, kSamples).front();
  for (double& one : samples) one *= 1e3;
  return samples;
}
#else
std::vector<double> by_events(const Call&, int) {
  throw tuner::Error("served calls are not timed on a GPU: this program was built without nvcc");
}
#endif

}  // namespace

int print_served(const std::string& text, const std::string& device) {
  const tuner::Device chosen = tuner::choose_device(device).device;
  check_status(tuner_set("tune", "never"));
  check_status(tuner_set("device", device.c_str()));
  Problem problem = Problem::parse(text);
  problem.kernel = tuner::KernelLibrary::place_of(problem.spec);
  const std::unique_ptr<tuner::Backend> backend = tuner::open_backend(chosen);
  const Call call(*backend, problem);
  std::vector<double> ns;
  if (tuner::traits(chosen.key).is_gpu) {
    ns = by_events(call, chosen.index);
  } else {
    call(nullptr);
    ns = by_the_clock([&] { call(nullptr); });
  }
  fmt::print("{}\n", tuner::median(ns));
  return 0;
}

}  // namespace bench::truth
