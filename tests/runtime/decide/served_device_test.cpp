// What a device has for its calls: turns at tuning, results, modules, work space.

#include <tuner/runtime/decide/served_device.hpp>

#include <atomic>
#include <limits>
#include <thread>

#include <tuner/backend/work_space.hpp>
#include <tuner/error.hpp>
#include <tuner/runtime/call/call.hpp>
#include <tuner/runtime/decide/serving.hpp>

#include <tests/support/child_process.hpp>
#include <tests/support/in_threads.hpp>
#include <tests/support/testing.hpp>

#include <tests/runtime/served_backend.hpp>

namespace tuner::runtime {
namespace {

using Turn = FirstUse::Turn;

TEST(FirstUse, IsForOneProblemOfADeviceAtATime) {
  ServedDevice device(kHostContext, std::make_unique<testing::ServedBackend>());
  {
    const FirstUse mine(device.first_use, "a");
    EXPECT_EQ(mine.turn(), Turn::mine);
    EXPECT_EQ(FirstUse(device.first_use, "b").turn(), Turn::later);
  }
  EXPECT_EQ(FirstUse(device.first_use, "b").turn(), Turn::mine);
}

TEST(FirstUse, LetsThreadsThatMissTheSameProblemWaitForTheOneThatTunes) {
  ServedDevice device(kHostContext, std::make_unique<testing::ServedBackend>());
  std::atomic<int> tuning{0}, tuned{0}, waited{0};
  testing::in_threads(4, [&](int) {
    const FirstUse first(device.first_use, "a");
    if (first.turn() == Turn::over) {
      EXPECT_GE(tuned, 1) << "the tuning is over";
      ++waited;
      return;
    }
    EXPECT_EQ(first.turn(), Turn::mine);
    EXPECT_EQ(++tuning, 1) << "one at a time";
    std::this_thread::yield();
    ++tuned;
    --tuning;
  });
  EXPECT_GE(tuned, 1);
  EXPECT_EQ(tuned + waited, 4);
}

TEST(ResultSlots, AreLentToOneCallAtATime) {
  ServedDevice device(kHostContext, std::make_unique<testing::ServedBackend>());
  const ResultSlots::Loan a(device.results), b(device.results);
  EXPECT_NE(a.address(), b.address());
}

TEST(Serving, LetsAForkedChildConfigureWhileAnotherThreadDoesSoBeforeAnyCall) {
  std::atomic<bool> done{false};
  std::thread busy([&] {
    Settings settings;
    settings.database = std::string(100'000, 'x');
    while (!done) tuner::configure(settings);
  });
  const int ended = testing::children_that_end(30, [] {
    tuner::configure({});
    return true;
  });
  EXPECT_EQ(ended, 30);
  done = true;
  busy.join();
  tuner::configure({});
}

TEST(LoadedModules, TriesAgainToLoadWhatCouldNotBeLoaded) {
  auto backend = std::make_shared<testing::ServedBackend>();
  ServedDevice device(kHostContext, backend);
  backend->loads_images = false;
  for (int call = 0; call < 2; ++call) EXPECT_THROW((void)device.modules.load({}), Error) << call;
  backend->loads_images = true;
  const auto module = device.modules.load({});
  EXPECT_NE(module, nullptr);
  EXPECT_EQ(device.modules.load({}), module) << "once";
}

TEST(LoadedModules, CompileNothingThatWasPrepared) {
  auto backend = std::make_shared<testing::ServedBackend>();
  ServedDevice device(kHostContext, backend);
  device.modules.prepare({});
  device.modules.prepare({});
  EXPECT_NE(device.modules.load({}), nullptr);
  EXPECT_EQ(backend->compiler().compiles, 1u);
}

TEST(LoadedModules, ReportWhatDoesNotCompileWhenItIsLoaded) {
  auto backend = std::make_shared<testing::ServedBackend>();
  ServedDevice device(kHostContext, backend);
  CompileRequest request;
  request.expressions = {"f"};
  backend->compiler().broken = {"f"};
  device.modules.prepare(request);
  EXPECT_THROW((void)device.modules.load(request), Error);
}

class WorkSpacesTest : public ::testing::Test {
 protected:
  static StreamName named(std::uint64_t stream) { return {stream, stream}; }
  DevicePointer scratch_of(const StreamName& stream, const WorkNeed& need = {256, 1024}) {
    return WorkSpaces::Lease(spaces_, stream, need).space().scratch;
  }
  DevicePointer scratch_of(std::uint64_t stream, const WorkNeed& need = {256, 1024}) {
    return scratch_of(named(stream), need);
  }

  testing::ServedBackend backend_;
  WorkSpaces spaces_{backend_, kHostContext};
};

TEST_F(WorkSpacesTest, GivesEachStreamOneSpaceThatAllItsLaunchesShare) {
  const DevicePointer first = scratch_of(1);
  EXPECT_EQ(scratch_of(1), first);
  EXPECT_EQ(scratch_of(1, {0, 512}), first) << "another kernel on the stream";
  EXPECT_NE(scratch_of(2), first);
  EXPECT_EQ(backend_.allocations, 2u);
}

TEST_F(WorkSpacesTest, AllocatesNothingOncePrepared) {
  spaces_.prepare(named(7), {256, 4096}, 0, 0);
  const std::size_t before = backend_.allocations;
  scratch_of(7, {256, 4096});
  EXPECT_EQ(backend_.allocations, before);
}

TEST_F(WorkSpacesTest, SetsTheZeroedPartToZero) {
  const WorkSpaces::Lease lease(spaces_, named(1), {512, 0});
  const auto* bytes = reinterpret_cast<const char*>(lease.space().zeroed);
  EXPECT_EQ(std::set<char>(bytes, bytes + 512), std::set<char>{0});
}

TEST_F(WorkSpacesTest, GrowsAStreamsSpaceInSteps) {
  for (std::size_t bytes = 256; bytes <= 1 << 20; bytes += 256) scratch_of(1, {0, bytes});
  EXPECT_LE(backend_.allocations, 14u);
}

TEST_F(WorkSpacesTest, KeepsABoundedNumberOfSpacesForEverNewStreams) {
  for (std::uint64_t stream = 1; stream <= 10 * WorkSpaces::kMaxStreams; ++stream) scratch_of(stream);
  EXPECT_EQ(backend_.allocations, WorkSpaces::kMaxStreams);
}

TEST_F(WorkSpacesTest, LeaveAllOtherStreamsAloneWhenAStreamComesToThePlaceOfADestroyedOne) {
  const DevicePointer lasting = scratch_of(1);
  std::set<DevicePointer> spaces{lasting};
  for (std::uint64_t id = 2; id <= 2000; ++id) {
    EXPECT_TRUE(spaces.insert(scratch_of({id, 7})).second) << "launches of the one before it may be running";
  }
  for (std::uint64_t id = 2001; id <= 3 * WorkSpaces::kMaxRetired; ++id) scratch_of({id, 7});
  EXPECT_EQ(scratch_of(1), lasting);
  EXPECT_LE(backend_.allocations, WorkSpaces::kMaxRetired + 2);
}

TEST_F(WorkSpacesTest, KeepFewBytesOfDestroyedStreams) {
  constexpr std::size_t large = std::size_t{16} << 20;
  for (std::uint64_t id = 1; id <= 100; ++id) scratch_of({id, 7}, {0, large});
  EXPECT_LE(*backend_.in_use, WorkSpaces::kMaxRetiredBytes + 2 * large);
}

TEST_F(WorkSpacesTest, GiveBackEverySpaceThatNoCallNeedsNow) {
  for (std::uint64_t stream = 1; stream <= 10; ++stream) scratch_of(stream);
  EXPECT_GT(*backend_.in_use, 0u);
  spaces_.trim();
  EXPECT_EQ(*backend_.in_use, 0u);
  scratch_of(1);
  EXPECT_GT(*backend_.in_use, 0u);
}

TEST_F(WorkSpacesTest, GiveBackWhatNobodyUsesWhereMemoryIsShort) {
  scratch_of({1, 7}, {0, 1 << 20});
  scratch_of({2, 7}, {0, 256});  // the first stream was destroyed
  backend_.room = (1 << 20) + 1024;
  EXPECT_NE(scratch_of(3, {0, 1 << 20}), 0u);
  EXPECT_THROW(scratch_of(4, {0, 1 << 20}), Error) << "the third stream has it";
}

TEST_F(WorkSpacesTest, NeverGivesTwoStreamsOneSpaceAtATime) {
  std::atomic<bool> shared{false};
  testing::in_threads(std::uint64_t{4}, [&](std::uint64_t t) {
    for (std::uint64_t i = 0; i < 2000; ++i) {
      const WorkSpaces::Lease lease(spaces_, named(1 + t * 2000 + i), {256, 256});
      auto* const owner = reinterpret_cast<std::atomic<std::uint64_t>*>(lease.space().scratch);
      *owner = t;
      std::this_thread::yield();
      shared = shared || *owner != t;
    }
  });
  EXPECT_FALSE(shared);
}

TEST_F(WorkSpacesTest, LeasesAStreamsSpaceToOneThreadAtATime) {
  std::atomic<int> within{0};
  std::atomic<bool> shared{false};
  testing::in_threads(std::size_t{4}, [&](std::size_t t) {
    for (std::size_t i = 0; i < 500; ++i) {
      const WorkSpaces::Lease lease(spaces_, named(1), {256, std::size_t{256} << (i + t) % 4});
      shared = shared || ++within != 1;
      std::this_thread::yield();
      --within;
    }
  });
  EXPECT_FALSE(shared);
}

TEST_F(WorkSpacesTest, LendsNothingThatWasNotPrepared) {
  EXPECT_FALSE(spaces_.lend(nullptr, {256, 256}));
  EXPECT_EQ(backend_.allocations, 0u);
}

TEST(SizeClasses, HoldAnEighthOfAPowerOfTwoWhereThereIsOneSize) {
  const auto lowest = [](std::int64_t n) { return size_classes({n})[0]; };
  const auto highest = [](std::int64_t n) { return class_ends({n})[0]; };
  for (std::int64_t n = 0; n < 100'000; ++n) {
    const std::int64_t low = lowest(n), high = highest(n);
    ASSERT_LE(low, n);
    ASSERT_GE(high, n);
    ASSERT_LE(high - low, low / 8);
    ASSERT_EQ(lowest(high), low);
    ASSERT_EQ(lowest(high + 1), high + 1);
  }
  EXPECT_EQ(highest(std::numeric_limits<std::int64_t>::max()), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(size_classes({1000, 1}), Sizes({896, 1}));
  EXPECT_EQ(size_classes({1000, 1, 1, 1}), Sizes({512, 1, 1, 1}));
}

}  // namespace
}  // namespace tuner::runtime
