// `tune --device` with devices of different kinds.

#include <atomic>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tests/wait_until.hpp>
#include <tuner/cli/arguments.hpp>
#include <tuner/cli/kinds_tuning.hpp>
#include <tuner/core/error.hpp>

namespace tuner::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

DeviceChoice kind(const std::string& name, int sm_count) {
  Device device;
  device.name = name;
  device.key.backend = "cuda";
  device.key.sm_count = sm_count;
  return {device, "asked for"};
}
std::vector<DeviceChoice> two_kinds() { return {kind("Large", 132), kind("Small", 46)}; }

TEST(KindsTuning, TunesThemSideBySideAndPrintsThemInOrder) {
  std::atomic<int> begun = 0;
  CaptureStdout();
  const int code =
      tune_kinds({}, two_kinds(), [&](const TuneRequest& request, const DeviceChoice& devices, TuneEvents& events) {
        ++begun;
        EXPECT_TRUE(testing::wait_until([&] { return begun == 2; })) << "one waits for the other";
        EXPECT_EQ(request.quiet, devices.device.name == "Small") << "progress is told of one";
        events.on_text("best of " + devices.device.name + '\n');
        return kDone;
      });
  const std::string out = GetCapturedStdout();
  EXPECT_EQ(code, kDone);
  EXPECT_EQ(out, "\nLarge\nbest of Large\n\nSmall\nbest of Small\n");
}

TEST(KindsTuning, KeepsTheResultOfOneWhereTheOtherFails) {
  CaptureStdout();
  CaptureStderr();
  const int code = tune_kinds({}, two_kinds(), [](const TuneRequest&, const DeviceChoice& devices, TuneEvents& events) {
    if (devices.device.name == "Large") throw Error("out of memory");
    events.on_text("best of Small\n");
    return kDone;
  });
  EXPECT_THAT(GetCapturedStdout(), HasSubstr("best of Small"));
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("tune: Large: out of memory"));
  EXPECT_EQ(code, kFailed);
}

TEST(KindsTuning, GivesOneDocumentOfAll) {
  TuneRequest request;
  request.json = true;
  CaptureStdout();
  tune_kinds(request, two_kinds(), [](const TuneRequest&, const DeviceChoice& devices, TuneEvents& events) {
    events.on_document({{"device", devices.device.name}});
    return kDone;
  });
  const Json document = Json::parse(GetCapturedStdout());
  ASSERT_EQ(document.at("kinds").size(), 2u);
  EXPECT_EQ(document["kinds"][1]["device"], "Small");
}

TEST(KindsTuning, RefusesAFileThatWouldHaveTwoWriters) {
  TuneRequest request;
  request.device = "0,1";
  request.log = "trials.jsonl";
  const auto never = [](const TuneRequest&, const DeviceChoice&, TuneEvents&) { return kDone; };
  try {
    tune_kinds(request, two_kinds(), never);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("--log is of one kind of device"), HasSubstr("sm=132 and sm=46")));
  }
}

}  // namespace
}  // namespace tuner::cli
