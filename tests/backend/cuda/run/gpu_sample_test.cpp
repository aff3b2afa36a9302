#include <algorithm>
#include <chrono>
#include <iostream>

#include <tests/support/gpu_fixture.hpp>

namespace tuner::cuda {
namespace {

constexpr const char* kTimed = R"(
__global__ void empty() {}
__global__ void count(unsigned* runs) { if (threadIdx.x == 0) atomicAdd(runs, 1u); }
__global__ void start(unsigned* numbers) { if (threadIdx.x == 0) numbers[0] = 5; }
__global__ void take(unsigned* numbers) {
  if (threadIdx.x != 0) return;
  numbers[1] += numbers[0];
  numbers[0] = 0;
}
__global__ void sum(const uint4* data, unsigned long long words, unsigned* sink) {
  unsigned seen = 0;
  for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < words; i += gridDim.x * (unsigned long long)blockDim.x) {
    const uint4 w = data[i];
    seen += w.x + w.y + w.z + w.w;
  }
  if (seen == 1) *sink = seen;
}
__global__ void spin(unsigned long long ns) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - start < ns);
}
)";

double median(std::vector<Sample> samples) {
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.ns < b.ns; });
  return samples.empty() ? 0 : samples[samples.size() / 2].ns;
}

std::vector<Sample> taken(const SampleResult& result) {
  const auto* samples = std::get_if<std::vector<Sample>>(&result);
  EXPECT_NE(samples, nullptr);
  return samples != nullptr ? *samples : std::vector<Sample>{};
}

SampleRequest request(std::size_t samples, Use use, std::size_t batch = 1) {
  SampleRequest wanted;
  wanted.samples = samples;
  wanted.use = use;
  wanted.batch = batch;
  wanted.timeout_s = 20;
  return wanted;
}

SampleRequest request(std::size_t samples, bool cold, std::size_t batch = 1) {
  return request(samples, cold ? Use::single : Use::hot, batch);
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

using GpuSample = GpuTest;

class GpuPreparedSample : public GpuTest {
 protected:
  /// `start` prepares runs and changes the first number; `take` adds that number to the second one.
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    module_ = load(kTimed, {"take", "start", "spin"});
    numbers_ = backend().allocate(8);
    backend().fill_bytes(numbers_->address(), 0, 8);
    take_ = launch(*module_, 0, 1, 32, {Argument::of(numbers_->address())});
    start_ = launch(*module_, 1, 1, 32, {Argument::of(numbers_->address())});
  }

  std::unique_ptr<Module> module_;
  std::unique_ptr<DeviceMemory> numbers_;
  Launch take_, start_;
};

TEST_F(GpuSample, TakesAsManySamplesAsAskedForWithPositiveTimes) {
  const auto module = load(kTimed, {"empty"});
  const Launch work = launch(*module, 0, 1, 32, {});
  for (const std::size_t samples : {1, 4, 5, 16, 50}) {
    for (const bool cold : {true, false}) {
      const auto result = taken(backend().sample({&work, 1}, request(samples, cold)));
      EXPECT_EQ(result.size(), samples);
      for (const Sample& sample : result) EXPECT_GT(sample.ns, 0);
    }
  }
}

TEST_F(GpuSample, RunsEveryLaunchOfEveryBatchOnce) {
  const auto module = load(kTimed, {"count"});
  const auto runs = backend().allocate(4);
  const Launch once = launch(*module, 0, 1, 32, {Argument::of(runs->address())});
  const Launch work[] = {once, once};
  EXPECT_EQ(run(once), "ok");                      // later samples need no run of their own
  for (const std::size_t batch : {1, 10, 1000}) {  // the last passes the queue's limit
    backend().fill_bytes(runs->address(), 0, 4);
    EXPECT_EQ(taken(backend().sample(work, request(3, false, batch))).size(), 3u);
    EXPECT_EQ(contents<unsigned>(runs->address(), 1)[0], 3 * 2 * batch);
  }
}

TEST_F(GpuSample, RunsEveryLaunchOfEveryReplayOnceAndReplaysOnceMore) {
  const auto module = load(kTimed, {"count"});
  const auto runs = backend().allocate(4);
  const Launch once = launch(*module, 0, 1, 32, {Argument::of(runs->address())});
  const Launch work[] = {once, once};
  EXPECT_EQ(run(once), "ok");
  for (const std::size_t batch : {1, 10, 500}) {
    backend().fill_bytes(runs->address(), 0, 4);
    for (const Sample& sample : taken(backend().sample(work, request(3, Use::graph, batch)))) EXPECT_GT(sample.ns, 0);
    EXPECT_EQ(contents<unsigned>(runs->address(), 1)[0], (3 + 1) * 2 * batch);
  }
}

TEST_F(GpuSample, RunsEveryLaunchBehindAnotherKernelOnce) {
  const auto module = load(kTimed, {"count"});
  const auto runs = backend().allocate(4);
  const Launch once = launch(*module, 0, 1, 32, {Argument::of(runs->address())});
  EXPECT_EQ(run(once), "ok");
  backend().fill_bytes(runs->address(), 0, 4);
  EXPECT_EQ(taken(backend().sample({&once, 1}, request(20, Use::stream, 10))).size(), 20u);
  EXPECT_EQ(contents<unsigned>(runs->address(), 1)[0], 20 * 10u);
}

TEST_F(GpuPreparedSample, PreparesEachReplay) {
  EXPECT_EQ(failure(backend().run({&start_, 1}, 10)), "ok");
  EXPECT_EQ(run(take_), "ok");
  for (const Use use : {Use::stream, Use::graph}) {
    backend().fill_bytes(numbers_->address(), 0, 8);
    SampleRequest wanted = request(7, use);
    wanted.prepare = {&start_, 1};
    EXPECT_EQ(taken(backend().sample({&take_, 1}, wanted)).size(), 7u);
    EXPECT_EQ(contents<unsigned>(numbers_->address(), 2)[1], (use == Use::graph ? 8 : 7) * 5u);
  }
}

TEST_F(GpuPreparedSample, RunsWhatPreparesBeforeEachSampleAndOutsideOfItsTime) {
  const Launch prepare[] = {start_, launch(*module_, 2, 1, 1, {Argument::of(2'000'000ull)})};
  EXPECT_EQ(failure(backend().run(prepare, 10)), "ok");
  EXPECT_EQ(run(take_), "ok");  // later samples need no run of their own
  for (const bool cold : {true, false}) {
    backend().fill_bytes(numbers_->address(), 0, 8);
    SampleRequest wanted = request(40, cold);  // several groups
    wanted.prepare = prepare;
    const std::vector<Sample> samples = taken(backend().sample({&take_, 1}, wanted));
    EXPECT_EQ(samples.size(), 40u);
    EXPECT_EQ(contents<unsigned>(numbers_->address(), 2)[1], 40 * 5u);
    EXPECT_LT(median(samples), 1'000'000) << "what prepares spins for 2 ms";
  }
}

TEST_F(GpuPreparedSample, RefillsMemoryBeforeEachSampleOrEachRun) {
  const auto original = backend().allocate(4);
  backend().fill_bytes(original->address(), 1, 4);
  const Refill refills[] = {{numbers_->address(), 4, 0, original->address()}, {numbers_->address() + 4, 4, 2}};
  EXPECT_EQ(run(take_), "ok");
  SampleRequest wanted = request(40, true);
  wanted.refills = refills;
  EXPECT_EQ(taken(backend().sample({&take_, 1}, wanted)).size(), 40u);
  EXPECT_EQ(contents<unsigned>(numbers_->address(), 2)[1], 0x01010101u + 0x02020202u) << "as the last run left it";

  // Of runs in a row, more than the queue holds, and of the nodes of a graph.
  for (SampleRequest each : {request(3, false, 1000), request(3, Use::graph, 100)}) {
    each.refills = refills;
    each.refills_each_run = true;
    const double refilled = median(taken(backend().sample({&take_, 1}, each)));
    EXPECT_EQ(contents<unsigned>(numbers_->address(), 2)[1], 0x01010101u + 0x02020202u);
    const double refilling = median(taken(backend().sample({}, each)));
    EXPECT_GT(refilling, 0);
    EXPECT_GT(refilled, refilling);
  }
}

TEST_F(GpuPreparedSample, RefillsPiecesOfAnySizeAndNumber) {
  constexpr std::size_t kPieces = 300,
                        kLarge = 100'000;  // several launches for the small ones, a copy for the large one
  const auto original = backend().allocate(kLarge), memory = backend().allocate(kLarge + 8 * kPieces);
  backend().fill_bytes(original->address(), 1, kLarge);
  backend().fill_bytes(memory->address(), 9, kLarge + 8 * kPieces);
  std::vector<Refill> refills{{memory->address(), kLarge, 0, original->address()}, {memory->address(), 0, 5}};
  std::vector<unsigned char> wanted(kLarge, 1);
  for (std::size_t i = 0; i < kPieces; ++i) {
    const bool is_copied = i % 3 == 0;
    const std::size_t bytes = 1 + i % 7;  // the rest of its eight bytes stays
    refills.push_back({memory->address() + kLarge + 8 * i, bytes, static_cast<unsigned char>(i),
                       is_copied ? original->address() + i : 0});
    const auto begin = wanted.insert(wanted.end(), 8, 9);
    std::fill_n(begin, bytes, static_cast<unsigned char>(is_copied ? 1 : i));
  }
  SampleRequest request_of_refills = request(1, false);
  request_of_refills.refills = refills;
  EXPECT_EQ(taken(backend().sample({}, request_of_refills)).size(), 1u);
  EXPECT_EQ(contents<unsigned char>(memory->address(), wanted.size()), wanted);
}

TEST_F(GpuPreparedSample, PreparesTheRunThatAFirstLaunchNeeds) {
  SampleRequest wanted = request(3, true);
  wanted.prepare = {&start_, 1};
  EXPECT_EQ(taken(backend().sample({&take_, 1}, wanted)).size(), 3u);
  EXPECT_EQ(contents<unsigned>(numbers_->address(), 2)[1], (1 + 3) * 5u);
}

TEST_F(GpuPreparedSample, RefusesABatchOfPreparedRuns) {
  SampleRequest wanted = request(1, false, 2);
  wanted.prepare = {&start_, 1};
  EXPECT_THROW(backend().sample({&take_, 1}, wanted), Error);
}

TEST_F(GpuSample, MeasuresAKernelOfKnownLengthAndTheMeanOfABatch) {
  const auto module = load(kTimed, {"spin"});
  const Launch work = launch(*module, 0, 1, 1, {Argument::of(200'000ull)});
  for (const std::size_t batch : {1, 8}) {
    for (const Sample& sample : taken(backend().sample({&work, 1}, request(10, false, batch)))) {
      EXPECT_GE(sample.ns, 195'000) << "the kernel cannot be faster than what it waits for";
    }
  }
}

TEST_F(GpuSample, RefusesAColdBatch) {
  const auto module = load(kTimed, {"empty"});
  const Launch work = launch(*module, 0, 1, 32, {});
  EXPECT_THROW(backend().sample({&work, 1}, request(1, true, 2)), Error);
}

TEST_F(GpuSample, GivesFewerSamplesWhenTheTimeEndsAfterSomeOfThem) {
  const auto module = load(kTimed, {"spin"});
  const Launch work = launch(*module, 0, 1, 1, {Argument::of(20'000'000ull)});
  for (const double timeout : {0.3, 0.05}) {  // the latter ends inside the first group
    SampleRequest limited = request(100, false);
    limited.timeout_s = timeout;
    const std::size_t samples = taken(backend().sample({&work, 1}, limited)).size();
    EXPECT_GT(samples, 0u);
    EXPECT_LT(samples, 100u);
    EXPECT_TRUE(backend().usable());
  }
}

/// Not a test of speed: prints numbers that the README and the design rely on.
TEST_F(GpuSample, EvictsL2BeforeColdSamplesSeesHowLongAKernelRunsAndKnowsItsCeilings) {
  const auto module = load(kTimed, {"empty", "sum", "spin"});
  Launch empty = launch(*module, 0, 1, 32, {});
  std::vector<Sample> samples = taken(backend().sample({&empty, 1}, request(400, false)));
  std::set<double> distinct;
  for (const Sample& sample : samples) distinct.insert(sample.ns);
  EXPECT_EQ(samples.size(), 400u);
  EXPECT_GT(*distinct.begin(), 0);
  double step = 1e9;
  for (auto at = std::next(distinct.begin()); at != distinct.end(); ++at) step = std::min(step, *at - *std::prev(at));
  std::cout << "[ measured ] empty kernel between events: median " << median(samples) << " ns, " << distinct.size()
            << " distinct times from " << *distinct.begin() << " to " << *distinct.rbegin() << ", smallest step "
            << step << " ns; batch of 100: " << median(taken(backend().sample({&empty, 1}, request(10, false, 100))))
            << " ns; cold " << median(taken(backend().sample({&empty, 1}, request(100, true))))
            << " ns; graph of 100: " << median(taken(backend().sample({&empty, 1}, request(20, Use::graph, 100))))
            << " ns, of one: " << median(taken(backend().sample({&empty, 1}, request(20, Use::graph))))
            << " ns; after another kernel: " << median(taken(backend().sample({&empty, 1}, request(100, Use::stream))))
            << " ns\n";

  for (const bool cold : {false, true}) {
    for (const std::size_t count : {1, 4, 10, 16, 64}) {
      double best = 1e9;
      for (int i = 0; i < 5; ++i)
        best = std::min(best, seconds_of([&] { backend().sample({&empty, 1}, request(count, cold)); }));
      std::cout << "[ measured ] " << count << (cold ? " cold" : " hot")
                << " samples of an empty kernel: " << best * 1e6 << " us, " << best * 1e6 / static_cast<double>(count)
                << " us each\n";
    }
  }

  const std::size_t bytes = 16 << 20;  // resident in L2
  const auto data = backend().allocate(bytes), sink = backend().allocate(4);
  backend().fill_bytes(data->address(), 0, bytes);
  const Launch sum = launch(*module, 1, 8 * backend().device().limits.sm_count, 256,
                            {Argument::of(data->address()), Argument::of(static_cast<unsigned long long>(bytes / 16)),
                             Argument::of(sink->address())});
  const auto cold = taken(backend().sample({&sum, 1}, request(50, true)));
  const auto hot = taken(backend().sample({&sum, 1}, request(50, false)));
  std::cout << "[ measured ] sum of 16 MiB: cold " << median(cold) << " ns, hot " << median(hot) << " ns, ratio "
            << median(cold) / median(hot) << "; clock " << cold.back().clock_mhz << " and " << hot.back().clock_mhz
            << " MHz\n";
  EXPECT_GT(median(cold), median(hot));
  // Is L2 really evicted? Reading a gigabyte in between must not make it any colder.
  const auto gigabyte = backend().allocate(std::size_t{1} << 30);
  backend().fill_bytes(gigabyte->address(), 0, gigabyte->bytes());
  std::vector<Sample> colder;
  for (int i = 0; i < 30; ++i) {
    backend().fingerprint(gigabyte->address(), gigabyte->bytes());
    colder.push_back(taken(backend().sample({&sum, 1}, request(1, false))).at(0));
  }
  std::cout << "[ measured ] the same after reading 1 GiB: " << median(colder) << " ns\n";
  EXPECT_GT(median(colder), median(hot));
  EXPECT_LT(median(colder), 1.5 * median(cold));
  const Launch spin = launch(*module, 2, 1, 1, {Argument::of(50'000ull)});
  const auto spun = taken(backend().sample({&spin, 1}, request(32, false)));
  std::cout << "[ measured ] 50 us spin: " << median(spun) << " ns, clock " << spun.back().clock_mhz << " MHz\n";

  EXPECT_GE(median(spun), 49'000) << "the kernel itself waits for 50 us of the GPU's clock, which ticks every us";

  const double seconds = seconds_of([] { backend().measure_ceilings(); });
  const Device& device = backend().device();
  std::cout << "[ measured ] ceilings in " << seconds << " s: read " << device.ceilings.read / 1e12 << " TB/s, copy "
            << device.ceilings.copy / 1e12 << ", write " << device.ceilings.write / 1e12 << " TB/s\n";
  EXPECT_GT(device.ceilings.read, 0);
  EXPECT_GT(device.ceilings.copy, 0);
  EXPECT_GT(device.ceilings.write, 0);
  const double read = device.ceilings.read, copy = device.ceilings.copy;
  backend().measure_ceilings();
  EXPECT_EQ(device.ceilings.read, read) << "measured once";
  EXPECT_EQ(device.ceilings.copy, copy);
  const DevicePeaks& peaks = device.peaks;
  std::cout << "[ measured ] FP32 " << peaks.fp32 / 1e12 << ", FP64 " << peaks.fp64 / 1e12 << ", integer "
            << peaks.integer / 1e12 << " T operations/s, a load " << peaks.latency_ns << " ns, nothing "
            << peaks.launch_ns << " ns\n";
  EXPECT_GT(peaks.fp32, 0);
  EXPECT_GT(peaks.fp64, 0);
  EXPECT_GT(peaks.integer, 0);
  EXPECT_GT(peaks.latency_ns, 50);  // no memory outside the chip is faster
  EXPECT_GT(peaks.launch_ns, 0);
}

}  // namespace
}  // namespace tuner::cuda
