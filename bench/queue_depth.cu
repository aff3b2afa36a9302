// How much longer does an empty kernel take, by events, while other commands follow it in its stream? A kernel holds
// the stream until everything is queued. Prints medians of 200 samples for 0 to 60 commands.

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <vector>

#include <cuda_runtime_api.h>

#include <bench/cub_calls.hpp>

namespace {

constexpr int kSamples = 200;
constexpr int kWarmUp = 20;

__global__ void hold(const volatile unsigned* released, unsigned ticket) {
  while (static_cast<int>(*released - ticket) < 0) {
  }
}
__global__ void empty() {}

class Queue {
 public:
  Queue() {
    bench::check(cudaHostAlloc(&released_, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
    released_->store(0);
    bench::check(cudaEventCreate(&begin_), "cudaEventCreate");
    bench::check(cudaEventCreate(&end_), "cudaEventCreate");
  }

  /// The time of an empty kernel in us, which \p followers follow.
  float sample(int followers) {
    hold<<<1, 1>>>(reinterpret_cast<unsigned*>(released_), ++ticket_);
    bench::check(cudaEventRecord(begin_), "cudaEventRecord");
    empty<<<1, 32>>>();
    bench::check(cudaEventRecord(end_), "cudaEventRecord");
    for (int i = 0; i < followers; ++i) empty<<<1, 32>>>();
    bench::check(cudaGetLastError(), "a launch");
    released_->store(ticket_);
    bench::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    float milliseconds = 0;
    bench::check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return milliseconds * 1e3F;
  }

 private:
  std::atomic<unsigned>* released_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  unsigned ticket_ = 0;
};

}  // namespace

int main() {
  try {
    Queue queue;
    std::printf("| commands that follow | an empty kernel, us |\n| --- | --- |\n");
    for (const int followers : {0, 1, 4, 10, 20, 25, 30, 40, 60}) {
      std::vector<float> times;
      for (int i = 0; i < kWarmUp + kSamples; ++i)
        if (const float us = queue.sample(followers); i >= kWarmUp) times.push_back(us);
      std::nth_element(times.begin(), times.begin() + kSamples / 2, times.end());
      std::printf("| %d | %.2f |\n", followers, times[kSamples / 2]);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "queue_depth: %s\n", error.what());
    return 1;
  }
}
