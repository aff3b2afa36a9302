#include <tuner/runtime/served_device.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <tuner/core/error.hpp>
#include <tuner/runtime/serving.hpp>

#include <tests/child_process.hpp>
#include <tests/in_threads.hpp>

#include "served_backend.hpp"

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

}  // namespace
}  // namespace tuner::runtime
