#include <bench/call_cost.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

#include <bench/cub_calls.hpp>
#include <bench/device_memory.hpp>
#include <tuner/backend/cuda/driver/driver.hpp>
#include <tuner/reduce.hpp>
#include <tuner/tuner.h>

namespace bench {
namespace {

constexpr std::size_t kElements = 1024;
// The driver queues about a thousand launches; then a call waits for the GPU.
constexpr std::size_t kBatch = 250;

struct Call {
  std::string name;
  std::function<void(std::size_t)> make;  ///< the argument counts calls
};

/// Runs batches of all calls in turn; the stream is empty before each batch.
std::vector<CallCost> measure(const std::vector<Call>& calls, std::size_t count, std::size_t batch,
                              cudaStream_t stream) {
  using Clock = std::chrono::steady_clock;
  const std::size_t rounds = std::max<std::size_t>(count / batch, 10), warm_up = 3;
  std::vector<CallCost> costs;
  for (const Call& call : calls) costs.push_back({call.name, {}});
  for (std::size_t round = 0; round < warm_up + rounds; ++round) {
    for (std::size_t k = 0; k < calls.size(); ++k) {
      const std::size_t at = round % 2 == 0 ? k : calls.size() - 1 - k;
      const auto& make = calls[at].make;
      check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
      const auto start = Clock::now();
      for (std::size_t i = 0; i < batch; ++i) make(i);
      const std::chrono::duration<double, std::nano> spent = Clock::now() - start;
      if (round >= warm_up) costs[at].ns.push_back(spent.count() / double(batch));
    }
  }
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return costs;
}

}  // namespace

std::vector<CallCost> enqueue_costs(std::size_t calls, cudaStream_t stream) {
  const DeviceMemory input = allocate(2 * kElements * sizeof(float)), result = allocate(sizeof(float));
  const float* const data = static_cast<const float*>(input.get());
  const float* const others[] = {data, data + kElements};
  float* const out = static_cast<float*>(result.get());
  fill(Element::float32, input.get(), 2 * kElements, 1, stream);
  const std::size_t bytes = cub_sum_bytes(Element::float32, kElements);
  const DeviceMemory storage = allocate(bytes);

  const CUfunction nothing = empty_kernel();
  long long number = 0;
  const void* nothing_pointers[] = {data, out};
  void* nothing_parameters[] = {&nothing_pointers[0], &nothing_pointers[1], &number};
  const auto launch_kernel = tuner::cuda::driver().cuLaunchKernel;

  tuner::ReduceOptions options;
  options.stream = stream;
  tuner_reduce_options c_options = TUNER_REDUCE_OPTIONS;
  c_options.stream = stream;
  std::vector<std::size_t> sizes;  // all different, in classes that are known after the warm-up
  for (std::size_t i = 0; i < kBatch; ++i) sizes.push_back(kElements / 2 + i);
  for (const std::size_t n : sizes) tuner::prepare_reduce(data, n, options);

  return measure(
      {{"cuLaunchKernel, a kernel that does nothing",
        [&](std::size_t) {
          const CUresult launched = launch_kernel(nothing, 1, 1, 1, 256, 1, 1, 0, stream, nothing_parameters, nullptr);
          tuner::cuda::check(launched, "cuLaunchKernel");
        }},
       {"tuner::reduce_async, the same buffers again",
        [&](std::size_t) { tuner::reduce_async(data, kElements, out, options); }},
       {"tuner::reduce_async, another n each time",
        [&](std::size_t i) { tuner::reduce_async(data, sizes[i], out, options); }},
       {"tuner::reduce_async, another input each time",
        [&](std::size_t i) { tuner::reduce_async(others[i % 2], kElements, out, options); }},
       {"tuner_reduce_async of tuner.h, the same buffers",
        [&](std::size_t) {
          if (tuner_reduce_async(TUNER_FLOAT, data, kElements, out, &c_options) != TUNER_OK)
            throw std::runtime_error(tuner_last_error());
        }},
       {"cub::DeviceReduce::Sum",
        [&](std::size_t) { cub_sum(Element::float32, storage.get(), bytes, data, kElements, out, stream); }}},
      calls, kBatch, stream);
}

std::vector<CallCost> waiting_costs(std::size_t calls, cudaStream_t stream) {
  const DeviceMemory input = allocate(kElements * sizeof(float)), result = allocate(sizeof(float));
  const float* const data = static_cast<const float*>(input.get());
  fill(Element::float32, input.get(), kElements, 1, stream);
  const std::size_t bytes = cub_sum_bytes(Element::float32, kElements);
  const DeviceMemory storage = allocate(bytes);
  tuner::ReduceOptions options;
  options.stream = stream;
  volatile float seen = 0;
  return measure(
      {{"cub::DeviceReduce::Sum, cudaMemcpyAsync, wait",
        [&](std::size_t) {
          float value = 0;
          cub_sum(Element::float32, storage.get(), bytes, data, kElements, result.get(), stream);
          check(cudaMemcpyAsync(&value, result.get(), sizeof(value), cudaMemcpyDeviceToHost, stream),
                "cudaMemcpyAsync");
          check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
          seen = value;
        }},
       {"tuner::reduce that returns the value", [&](std::size_t) { seen = tuner::reduce(data, kElements, options); }}},
      calls, 50, stream);
}

}  // namespace bench
