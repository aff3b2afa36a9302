// `tune db`: each action changes what its options name, and nothing else.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/images.hpp>
#include <cache/session.hpp>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class DbProgram : public ProgramTest {
 protected:
  std::filesystem::path database() const { return cache() / "wisdom.db"; }
  void keep_an_image() { EXPECT_FALSE(cache::keep_image(cache(), "sm_90", "key", {"code", "{}"})); }
  std::int64_t images() { return cache::kept_images(cache()).images; }
  json stats() { return json::parse(tune({"db", "--json"}).out); }

  /// Tunes the small kernel. Stores the same, something in quarantine and a miss for two kernels, each on two devices.
  void fill() {
    ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
    cache::Database all = cache::Database::open_user(database());
    const cache::SessionRecord tuned = cache::sessions(all).at(0);
    const std::string best = cache::best_rows(all).at(0).configuration;
    for (const char* kernel : {"scale", "other"}) {
      for (const std::string& device : {tuned.key.device.key, std::string("elsewhere")}) {
        cache::SessionKey key = tuned.key;
        key.kernel.name = kernel;
        key.device.key = device;
        if (!(key.kernel == tuned.key.kernel && device == tuned.key.device.key)) {
          cache::SessionWriter writer(all, key);
          for (const cache::TrialRecord& trial : cache::session_trials(all, tuned.uuid)) writer.add(trial);
          writer.set_best(best);
          writer.finish();
        }
        all.quarantine(key.device, key.kernel, key.problem, "block=32 unroll=1", "it hung");
        cache::MissRecord miss;
        miss.kernel = key.kernel;
        miss.problem = key.problem;
        miss.problem.sizes = miss.sizes_from = {{"n", 7}};
        miss.device_key = device;
        miss.calls = 1;
        cache::remember_misses(all, {miss});
      }
    }
  }
};

TEST_F(DbProgram, ClearsResultsOnlyWhenAskedTo) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet"}).code, 0);
  keep_an_image();
  EXPECT_EQ(tune({"db", "clear"}).code, 0);
  EXPECT_EQ(images(), 0);
  EXPECT_TRUE(std::filesystem::exists(database()));
  keep_an_image();
  EXPECT_EQ(tune({"db", "clear", "results", "images"}).code, 0);
  EXPECT_EQ(images(), 0);
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(DbProgram, ClearsTheResultsOfOneKernelAndLeavesThoseOfOthersAndTheImages) {
  fill();
  keep_an_image();
  const json before = stats();
  const Finished run = tune({"db", "clear", "results", "--kernel", "scale"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("removed 2 best configurations, 2 sessions with "));
  EXPECT_EQ(images(), 1);
  const json after = stats();
  for (const char* count : {"kernels", "best", "sessions", "trials", "quarantined", "misses"}) {
    EXPECT_GT(after[count], 0) << count;
    EXPECT_EQ(2 * after[count].get<int>(), before[count].get<int>()) << count;
  }
  EXPECT_THAT(tune({"db", "check"}).out, HasSubstr("is sound"));
}

TEST_F(DbProgram, ClearsTheResultsOfAKernelOnOneDevice) {
  fill();
  const json before = stats();
  const Finished run = tune({"db", "clear", "results", "--kernel", "scale", "--device", "elsewhere", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const json removed = json::parse(run.out);
  EXPECT_EQ(removed["database"], database().string());
  EXPECT_FALSE(removed.contains("images"));
  const json after = stats();
  for (const char* count : {"best", "sessions", "trials", "quarantined", "misses"}) {
    EXPECT_GT(removed["removed"][count], 0) << count;
    EXPECT_EQ(4 * removed["removed"][count].get<int>(), before[count].get<int>()) << count;
    EXPECT_EQ(after[count].get<int>(), before[count].get<int>() - removed["removed"][count].get<int>()) << count;
  }
}

TEST_F(DbProgram, ClearsNothingOfADeviceThatIsNamedInPart) {
  fill();
  const json before = stats();
  const Finished run = tune({"db", "clear", "results", "--device", "elsewh"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("give the whole name or key"));
  EXPECT_EQ(stats(), before);
}

TEST_F(DbProgram, ClearsANamedDatabaseAndLeavesTheImages) {
  ASSERT_EQ(tune({"--kernel", small_kernel(), "--quiet", "--db", "mine.db"}).code, 0);
  keep_an_image();
  const Finished run = tune({"db", "clear", "results", "--db", "mine.db", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["file_removed"], true);
  EXPECT_FALSE(std::filesystem::exists(folder() / "mine.db"));
  EXPECT_EQ(images(), 1);
}

TEST_F(DbProgram, CountsTheImagesThatItRemovesInJson) {
  keep_an_image();
  const json cleared = json::parse(tune({"db", "clear", "--json"}).out);
  EXPECT_EQ(cleared["images"], 1);
  EXPECT_FALSE(cleared.contains("database"));
}

TEST_F(DbProgram, RefusesAnOptionThatHasNoEffectAndChangesNothing) {
  fill();
  keep_an_image();
  const json before = stats();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"clear", "--kernel", "scale"},
                                             {"clear", "--device", "elsewhere"},
                                             {"clear", "--db", "cache/wisdom.db"},
                                             {"clear", "results", "--config", "block=32 unroll=1"},
                                             {"clear", "results", "--kernel", "scael"},
                                             {"clear", "results", "--kernel", ""},
                                             {"clear", "images", "results", "--kernel", "scale"},
                                             {"--kernel", "scale"},
                                             {"check", "--config", "block=32 unroll=1"},
                                             {"clear", "rseults", "--json"}}) {
    std::vector<std::string> all{"db"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Finished run = tune(all);
    EXPECT_EQ(run.code, 2) << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr(arguments[arguments.size() - 2].substr(2)));
    EXPECT_EQ(run.out, "");
  }
  EXPECT_EQ(stats(), before);
  EXPECT_EQ(images(), 1);
}

}  // namespace
}  // namespace tuner::cli
