// Serves reductions under many conditions at once. Many threads use many streams, with new sizes at any alignment.
// Graphs are captured on one stream and replayed on others. Several threads share one stream, with different operations
// and types. In the middle, the context is destroyed and created again. The values make all results exact, so each is
// checked. Needs a GPU. Exit status 0: all results are right, and the warm path allocates no heap memory.
//   serving_storm [calls]
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <type_traits>
#include <vector>

#include <tuner/backend/cuda/driver/context.hpp>
#include <tuner/reduce.hpp>

namespace {

std::atomic<std::size_t> heap_allocations{0};
thread_local bool counting = false;

}  // namespace

// Not inlined: otherwise g++ warns that free() is called on memory from another operator.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (counting) ++heap_allocations;
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using tuner::cuda::check;
using tuner::cuda::driver;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kElements = std::size_t{1} << 26;
constexpr std::size_t kShifts = 8;  // random alignment: starts at one of the first 8 elements
constexpr unsigned kThreads = 8, kStreams = 8;
constexpr std::size_t kRing = 64;  // calls on a stream between two checks

int value_of(std::size_t i) { return static_cast<int>((i * 2654435761u) >> 20 & 0xff) - 100; }

/// The objects of one context.
struct World {
  CUdeviceptr data = 0, results = 0;
  std::vector<unsigned> sums;  // of the first i elements, modulo 2^32

  World() : sums(kElements + kShifts + 1) {
    std::vector<int> values(kElements + kShifts);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = value_of(i);
      sums[i + 1] = sums[i] + static_cast<unsigned>(values[i]);
    }
    check(driver().cuMemAlloc(&data, values.size() * sizeof(int)), "cuMemAlloc");
    check(driver().cuMemAlloc(&results, kThreads * kStreams * kRing * sizeof(int)), "cuMemAlloc");
    const tuner::cuda::UniqueStream stream = tuner::cuda::make_stream();
    check(driver().cuMemcpyHtoDAsync(data, values.data(), values.size() * sizeof(int), stream.get()), "upload");
    check(driver().cuStreamSynchronize(stream.get()), "cuStreamSynchronize");
  }
  const int* at(std::size_t shift) const { return reinterpret_cast<const int*>(data) + shift; }
  int expected(std::size_t shift, std::size_t n) const { return static_cast<int>(sums[shift + n] - sums[shift]); }
};

struct Count {
  std::size_t calls = 0, replays = 0, refused = 0, wrong = 0;
  Count& operator+=(const Count& other) {
    calls += other.calls, replays += other.replays, refused += other.refused, wrong += other.wrong;
    return *this;
  }
};

/// One thread's storm on its own streams.
class Storm {
 public:
  Storm(const World& world, unsigned thread, std::size_t calls, CUcontext context)
      : world_(world), random_(thread + 1), calls_(calls), guard_(context) {
    for (unsigned s = 0; s < kStreams; ++s) {
      streams_.push_back(tuner::cuda::make_stream());
      tuner::ReduceOptions options;
      options.stream = streams_.back().get();
      tuner::prepare_reduce(world.at(0), kElements, options);
    }
    first_result_ = reinterpret_cast<int*>(world.results) + thread * kStreams * kRing;
    expected_.resize(kStreams * kRing);
    used_.resize(kStreams);
  }

  Count run() {
    for (std::size_t round = 0; count_.calls < calls_; ++round) {
      if (round % 500 == 499) {
        graph();
      } else {
        call(random_() % kStreams);
      }
    }
    for (unsigned s = 0; s < kStreams; ++s) settle(s);
    return count_;
  }

 private:
  int* result(unsigned stream, std::size_t i) const { return first_result_ + stream * kRing + i; }

  void enqueue(unsigned stream, std::size_t ring) {
    const std::size_t shift = random_() % kShifts;
    // Half of all sizes are small, where launches are dense.
    const std::size_t n = random_() % 2 == 0 ? random_() % 20'000 : random_() % (kElements + 1);
    tuner::ReduceOptions options;
    options.stream = streams_[stream].get();
    counting = true;
    tuner::reduce_async(world_.at(shift), n, result(stream, ring), options);
    counting = false;
    expected_[stream * kRing + ring] = world_.expected(shift, n);
    ++count_.calls;
  }

  void call(unsigned stream) {
    enqueue(stream, used_[stream]);
    if (++used_[stream] == kRing) settle(stream);
  }

  /// Waits for a stream and checks its results.
  void settle(unsigned stream) {
    int found[kRing];
    const CUstream handle = streams_[stream].get();
    check(driver().cuMemcpyDtoHAsync(found, reinterpret_cast<CUdeviceptr>(result(stream, 0)), sizeof found, handle),
          "download");
    check(driver().cuStreamSynchronize(handle), "cuStreamSynchronize");
    for (std::size_t i = 0; i < used_[stream]; ++i) count_.wrong += found[i] != expected_[stream * kRing + i];
    used_[stream] = 0;
  }

  /// Captures some calls on one stream and replays them on another, while the first continues.
  void graph() {
    const unsigned on = random_() % kStreams, elsewhere = (on + 1 + random_() % (kStreams - 1)) % kStreams;
    settle(on);
    settle(elsewhere);
    // Global mode would forbid the other threads to create graphs meanwhile.
    check(driver().cuStreamBeginCapture(streams_[on].get(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
          "cuStreamBeginCapture");
    const std::size_t captured = 1 + random_() % 3;
    bool whole = true;
    // The graph uses the last places of a ring. Their expected values move to the other stream's ring, so that calls on
    // this stream may continue.
    const auto move = [&](std::size_t i) {
      expected_[elsewhere * kRing + kRing - 1 - i] = expected_[on * kRing + kRing - 1 - i];
    };
    for (std::size_t i = 0; i < captured && whole; ++i) {
      try {
        enqueue(on, kRing - 1 - i);
        move(i);
      } catch (const tuner::Error&) {
        counting = false;
        whole = false;
        ++count_.refused;
      }
    }
    CUgraph graph = nullptr;
    check(driver().cuStreamEndCapture(streams_[on].get(), &graph), "cuStreamEndCapture");
    CUgraphExec executable = nullptr;
    check(driver().cuGraphInstantiateWithFlags(&executable, graph, 0), "cuGraphInstantiateWithFlags");
    driver().cuGraphDestroy(graph);
    for (int replay = 0; replay < 3; ++replay) {
      check(driver().cuGraphLaunch(executable, streams_[elsewhere].get()), "cuGraphLaunch");
      ++count_.replays;
      for (int k = 0; k < 4; ++k) call(on), call(elsewhere);
    }
    check(driver().cuStreamSynchronize(streams_[elsewhere].get()), "cuStreamSynchronize");
    for (std::size_t i = 0; i < captured && whole; ++i) {
      int found = 0;
      check(driver().cuMemcpyDtoHAsync(&found, reinterpret_cast<CUdeviceptr>(result(on, kRing - 1 - i)), sizeof found,
                                       streams_[elsewhere].get()),
            "download");
      check(driver().cuStreamSynchronize(streams_[elsewhere].get()), "cuStreamSynchronize");
      count_.wrong += found != expected_[elsewhere * kRing + kRing - 1 - i];
    }
    driver().cuGraphExecDestroy(executable);
  }

  const World& world_;
  std::mt19937 random_;
  std::size_t calls_;
  tuner::cuda::ContextGuard guard_;
  std::vector<tuner::cuda::UniqueStream> streams_;
  int* first_result_;
  std::vector<int> expected_;
  std::vector<std::size_t> used_;
  Count count_;
};

/// The reductions of one thread on a stream that it shares: one operation over the first n elements, for some n with
/// known results. Every order of combination gives the same bits: sums are of small integers, products of powers of
/// two, or of ints modulo 2^32.
template <typename T>
class SharedReduction {
 public:
  SharedReduction(tuner::Operation operation, CUstream stream) {
    options_.operation = operation;
    options_.stream = stream;
    std::vector<T> values(kSharedElements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(element(i));
    const std::size_t bytes = values.size() * sizeof(T);
    check(driver().cuMemAlloc(&data_, bytes), "cuMemAlloc");
    check(driver().cuMemAlloc(&results_, kResults * sizeof(T)), "cuMemAlloc");
    check(driver().cuMemcpyHtoDAsync(data_, values.data(), bytes, stream), "upload");
    check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    T so_far = values[0];
    for (std::size_t i = 0, next = 1; i < values.size(); ++i) {
      if (i > 0) so_far = combined(so_far, values[i]);
      if (i + 1 != next) continue;
      sizes_.push_back(next);
      expected_.push_back(so_far);
      next += next / 3 + 1;
    }
  }
  ~SharedReduction() {
    driver().cuMemFree(data_);
    driver().cuMemFree(results_);
  }
  SharedReduction(const SharedReduction&) = delete;
  SharedReduction& operator=(const SharedReduction&) = delete;

  /// Enqueues \p calls from one thread, in rings that are waited for and checked.
  Count run(std::size_t calls, unsigned seed) {
    std::mt19937 random(seed);
    Count count;
    for (const std::size_t n : sizes_) {
      for (const tuner::Order order : {tuner::Order::fixed, tuner::Order::any}) call(n, 0, order);
    }
    std::vector<T> found(kResults), expected(kResults);
    while (count.calls < calls) {
      for (std::size_t i = 0; i < kResults; ++i, ++count.calls) {
        const std::size_t which = random() % sizes_.size();
        expected[i] = expected_[which];
        counting = true;
        call(sizes_[which], i, random() % 2 == 0 ? tuner::Order::fixed : tuner::Order::any);
        counting = false;
      }
      check(driver().cuMemcpyDtoHAsync(found.data(), results_, kResults * sizeof(T), options_.stream.handle()),
            "download");
      check(driver().cuStreamSynchronize(options_.stream.handle()), "cuStreamSynchronize");
      for (std::size_t i = 0; i < kResults; ++i) count.wrong += found[i] != expected[i];
    }
    return count;
  }

 private:
  static constexpr std::size_t kSharedElements = std::size_t{1} << 22;
  static constexpr std::size_t kResults = 256;

  void call(std::size_t n, std::size_t result, tuner::Order order) {
    options_.order = order;
    tuner::reduce_async(reinterpret_cast<const T*>(data_), n, reinterpret_cast<T*>(results_) + result, options_);
  }
  /// The extremes of different sizes differ. Most factors of floats are 1, those of ints are odd: no product is 0.
  int element(std::size_t i) const {
    if (options_.operation == tuner::Operation::product)
      return std::is_integral_v<T> ? value_of(i) | 1 : i % 70'000 == 9 ? 2 : 1;
    const int extreme = static_cast<int>(i >> 14) + 8;
    return i % (1 << 14) != 0 ? value_of(i) % 8 : i >> 14 & 1 ? extreme : -extreme;
  }
  T combined(T a, T b) const {
    switch (options_.operation) {
      case tuner::Operation::min:
        return std::min(a, b);
      case tuner::Operation::max:
        return std::max(a, b);
      case tuner::Operation::sum:
        return a + b;
      case tuner::Operation::product:
        break;
    }
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
    else
      return a * b;
  }

  tuner::ReduceOptions options_;
  CUdeviceptr data_ = 0, results_ = 0;
  std::vector<std::size_t> sizes_;
  std::vector<T> expected_;  ///< of each size
};

/// Calls each of \p work on its own thread. An exception counts as a wrong result.
Count on_threads(const std::vector<std::function<Count()>>& work) {
  std::vector<std::thread> threads;
  std::vector<Count> counts(work.size());
  for (std::size_t t = 0; t < work.size(); ++t) {
    threads.emplace_back([&, t] {
      try {
        counts[t] = work[t]();
      } catch (const std::exception& error) {
        counting = false;
        std::fprintf(stderr, "thread %zu: %s\n", t, error.what());
        counts[t].wrong = 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Count total;
  for (const Count& count : counts) total += count;
  return total;
}

/// Runs every operation on floats and on ints, each on its own thread, all on one stream.
Count share_a_stream(std::size_t calls, CUcontext context) {
  const tuner::cuda::UniqueStream stream = tuner::cuda::make_stream();
  std::vector<std::function<Count()>> work;
  const auto add = [&](auto zero, tuner::Operation operation) {
    const auto reduction = std::make_shared<SharedReduction<decltype(zero)>>(operation, stream.get());
    work.push_back([=, seed = static_cast<unsigned>(work.size())] {
      const tuner::cuda::ContextGuard guard(context);
      return reduction->run(calls, seed);
    });
  };
  using tuner::Operation;
  for (const Operation operation : {Operation::sum, Operation::min, Operation::max, Operation::product}) {
    add(0, operation);
    add(0.0f, operation);
  }
  return on_threads(work);
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  check(driver().cuMemGetInfo(&free, &total), "cuMemGetInfo");
  return free;
}

/// Host time of an enqueued call in ns, from batches of 200.
double cost(const World& world, bool ever_new, CUstream stream) {
  std::mt19937 random(9);
  std::vector<double> ns;
  tuner::ReduceOptions options;
  options.stream = stream;
  for (int batch = 0; batch < 100; ++batch) {
    check(driver().cuStreamSynchronize(stream), "cuStreamSynchronize");
    std::size_t sizes[200];
    for (std::size_t& n : sizes) n = ever_new ? 1 + random() % 1'000'000 : 500'000;
    const auto start = Clock::now();
    for (const std::size_t n : sizes)
      tuner::reduce_async(world.at(0), n, reinterpret_cast<int*>(world.results), options);
    ns.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / 200);
  }
  std::sort(ns.begin(), ns.end());
  return ns[ns.size() / 2];
}

Count storm(std::size_t calls, CUcontext context) {
  const tuner::cuda::ContextGuard guard(context);
  const World world;
  const auto start = Clock::now();
  const std::size_t before = free_memory();
  for (std::size_t n = 0; n <= kElements; n += n < 16 ? 1 : n / 16) tuner::prepare_reduce(world.at(0), n);
  tuner::prepare_reduce(world.at(0), kElements, {}, 1000);
  const std::size_t prepared = free_memory();
  std::printf("all classes prepared in %.2f s, %.1f MB of device memory\n",
              std::chrono::duration<double>(Clock::now() - start).count(), double(before - prepared) / 1e6);

  const tuner::cuda::UniqueStream stream = tuner::cuda::make_stream();
  const double repeated = cost(world, false, stream.get()), ever_new = cost(world, true, stream.get());
  std::printf("a call: %.0f ns with the same n, %.0f ns with an ever new one\n", repeated, ever_new);

  std::vector<std::function<Count()>> storms;
  for (unsigned t = 0; t < kThreads; ++t)
    storms.push_back([&, t] { return Storm(world, t, calls / kThreads, context).run(); });
  Count total = on_threads(storms);
  std::printf("%zu calls, %zu replays, %zu captures refused, %zu wrong; %.1f MB more in use than when prepared\n",
              total.calls, total.replays, total.refused, total.wrong, (double(prepared) - double(free_memory())) / 1e6);
  const Count shared = share_a_stream(calls / 32, context);
  std::printf("%zu calls of 8 threads on one stream, %zu wrong\n", shared.calls, shared.wrong);
  total += shared;
  return total;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::size_t calls = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  if (!tuner::cuda::driver_status().available) {
    std::printf("skipped: %s\n", tuner::cuda::driver_status().reason.c_str());
    return 77;
  }
  ::setenv("TUNER_TUNE", "never", 1);  // a class that is being tuned would be decided again at each call
  Count all;
  CUdevice device = 0;
  check(driver().cuDeviceGet(&device, 0), "cuDeviceGet");
  CUcontext context = nullptr;
  check(driver().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  all += storm(calls / 2, context);
  const std::size_t first_allocations = heap_allocations;

  // Does the same as cudaDeviceReset().
  auto* const reset = reinterpret_cast<CUresult (*)(CUdevice)>(
      ::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxReset_v2"));
  check(reset(device), "cuDevicePrimaryCtxReset");
  check(driver().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  std::printf("the context was destroyed and made again\n");
  all += storm(calls - calls / 2, context);

  std::printf("in all %zu calls, %zu replays, %zu wrong, %zu heap allocations (%zu before the reset)\n", all.calls,
              all.replays, all.wrong, heap_allocations.load(), first_allocations);
  return all.wrong == 0 && heap_allocations == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
