// `tune db`: each action changes what its options name, and nothing else; what other programs get.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <cache/browse.hpp>
#include <cache/database.hpp>
#include <cache/images.hpp>
#include <cache/session.hpp>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

class DbProgram : public ProgramTest {
 protected:
  std::filesystem::path database() const { return cache() / "wisdom.db"; }
  void keep_an_image() { EXPECT_FALSE(cache::keep_image(cache(), "sm_90", "key", {"code", "{}"})); }
  bool has_image() { return cache::kept_image(cache(), "sm_90", "key", {}).has_value(); }
  json stats() { return document("db --json"); }

  /// Tunes the small kernel. Stores the same, something in quarantine and a miss for two kernels, each on two devices.
  void fill() {
    ASSERT_EQ(call("scale.cu --quiet").code, 0);
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
  ASSERT_EQ(call("scale.cu --quiet").code, 0);
  keep_an_image();
  EXPECT_EQ(call("db clear").code, 0);
  EXPECT_FALSE(has_image());
  EXPECT_TRUE(std::filesystem::exists(database()));
  keep_an_image();
  EXPECT_EQ(call("db clear results images").code, 0);
  EXPECT_FALSE(has_image());
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(DbProgram, ClearsTheResultsOfOneKernelAndLeavesThoseOfOthersAndTheImages) {
  fill();
  keep_an_image();
  const json before = stats();
  const Finished run = call("db clear results --kernel scale");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("removed 2 best configurations, 2 sessions with "));
  EXPECT_TRUE(has_image());
  const json after = stats();
  for (const char* count : {"kernels", "best", "sessions", "trials", "quarantined", "misses"}) {
    EXPECT_GT(after[count], 0) << count;
    EXPECT_EQ(2 * after[count].get<int>(), before[count].get<int>()) << count;
  }
  EXPECT_THAT(call("db check").out, HasSubstr("is sound"));
}

TEST_F(DbProgram, ClearsByThePathOfAFileOnlyTheResultsOfItsSource) {
  ASSERT_EQ(call("scale.cu --quiet").code, 0);
  std::ofstream(folder() / "other.cu") << std::ifstream(folder() / "scale.cu").rdbuf()
                                       << "// another source of the same kernel\n";
  EXPECT_THAT(call("db clear results --kernel ./other.cu").out,
              AllOf(HasSubstr("removed 0 best configurations"), HasSubstr("left: 1 session of other or earlier")));
  EXPECT_EQ(stats()["best"], 1);
  EXPECT_THAT(call("db clear results --kernel ./scale.cu").out, HasSubstr("removed 1 best configuration"));
  EXPECT_EQ(stats()["best"], 0);
}

TEST_F(DbProgram, ClearsTheResultsOfAKernelOnOneDevice) {
  fill();
  const json before = stats();
  const Finished run = call("db clear results --kernel scale --device elsewhere --json");
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

TEST_F(DbProgram, ClearsANamedDatabaseAndLeavesTheImages) {
  ASSERT_EQ(call("scale.cu --quiet --db mine.db").code, 0);
  keep_an_image();
  const Finished run = call("db clear results --db mine.db --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["file_removed"], true);
  EXPECT_FALSE(std::filesystem::exists(folder() / "mine.db"));
  EXPECT_TRUE(has_image());
}

TEST_F(DbProgram, ClearsMissedProblemsWithoutADatabaseAsItClearsResults) {
  for (const char* what : {"results", "missed"}) {
    const Finished run = call(std::string("db clear ") + what);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, database().string() + " was not there\n");
  }
}

TEST_F(DbProgram, ClearsTheDatabaseThatALinkNames) {
  namespace fs = std::filesystem;
  fill();
  fs::rename(database(), folder() / "real.db");
  for (const fs::path& link : {folder() / "link.db", database()}) {
    fs::copy_file(folder() / "real.db", folder() / "copy.db");
    fs::create_symlink(folder() / "copy.db", link);
    const std::string line = "db clear results" + (link == database() ? "" : " --db " + link.string());
    EXPECT_THAT(call(line).out, Holds("copy.db removed; the link ", " stays"));
    EXPECT_FALSE(fs::exists(folder() / "copy.db"));
    expect_failures(1, "link", {line});
    EXPECT_TRUE(fs::is_symlink(link)) << "it leads nowhere, and stays";
  }
}

TEST_F(DbProgram, CountsTheImagesThatItRemovesInJson) {
  keep_an_image();
  const json cleared = document("db clear --json");
  EXPECT_EQ(cleared["images"], 1);
  EXPECT_FALSE(cleared.contains("database"));
}

TEST_F(DbProgram, ChangesNothingWhereItIsNotSureWhatIsMeant) {
  fill();
  keep_an_image();
  const json before = stats();
  expect_failures(2, "--kernel has no effect",
                  {"db clear --kernel scale", "db --kernel scale", "db clear images results --kernel scale"});
  expect_failures(2, "--device has no effect", {"db clear --device elsewhere"});
  expect_failures(2, "--config has no effect", {"db clear results --config 'block=32 unroll=1'"});
  expect_failures(2, "unknown kernel 'scael'", {"db clear results --kernel scael"});
  expect_failures(2, "--kernel is empty", {"db clear results --kernel ''"});
  expect_failures(2, "did you mean 'results'?", {"db clear rseults --json"});
  expect_failures(2, "give the whole name or key", {"db clear results --device elsewh"});
  EXPECT_EQ(stats(), before);
  EXPECT_TRUE(has_image());
}

TEST_F(DbProgram, WritesAHeaderThatAProgramWithoutTunerCompiles) {
  for (const char* n : {"n=500", "n=2000"}) ASSERT_EQ(call(std::string("scale.cu --trials 2 --size ") + n).code, 0);
  const Finished written = call("db export --as header tuned.hpp --kernel scale.cu --portfolio 2");
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.err, Holds("of each size's best", "tuned.hpp written, with 2 sizes on 1 device"));
  file("main.cpp",
       "#include \"tuned.hpp\"\nint main() { return tuned::scale::dispatch({0, 1}, {1000}, [](auto chosen) {\n"
       "  return decltype(chosen)::block > 0 ? 0 : 1; }); }\n");
  const Finished ran = shell("c++ -std=c++17 -Wall -Wextra -Werror main.cpp -o main && ./main");
  EXPECT_EQ(ran.code, 0) << ran.err << contents(folder() / "tuned.hpp");

  const Finished again = call("db export --as header - --kernel scale --portfolio 2");
  EXPECT_THAT(again.out, StartsWith("// Tuned configurations of kernel scale"));
}

TEST_F(DbProgram, WritesOneTuningForOtherTunersAndSaysHowToChooseIt) {
  ASSERT_EQ(call("scale.cu --trials 2 --size n=500").code, 0);
  ASSERT_EQ(call("db export --as t4 t4.json").code, 0);
  ASSERT_EQ(call("db export --as kernel-tuner cache.json").code, 0);
  ASSERT_EQ(call("scale.cu --trials 2 --size n=600").code, 0);
  const Finished several = call("db export --as t4 t4.json");
  EXPECT_EQ(several.code, 2);
  EXPECT_THAT(several.err, Holds("2 match", "scale T=float n=500", "--size"));
  EXPECT_EQ(call("db export --as t4 t4.json --size n=600 --choice T=float").code, 0);
  EXPECT_THAT(contents(folder() / "t4.json"), HasSubstr("\"n\":600"));
  EXPECT_THAT(contents(folder() / "cache.json"), HasSubstr("\"problem_size\": 500"));
}

TEST_F(DbProgram, WritesNoConfigurationThatServingRejects) {
  ASSERT_EQ(call("scale.cu --trials 2 --size n=500").code, 0);
  ASSERT_EQ(call("db export --all all.wisdom").code, 0);
  std::string text = contents(folder() / "all.wisdom");
  for (std::size_t at = 0; (at = text.find("block=", at)) != std::string::npos; at += 12) {
    text.replace(at, text.find(' ', at) - at, "block=777777");
  }
  file("all.wisdom", text);
  ASSERT_EQ(call("db import --db theirs.db all.wisdom").code, 0);
  expect_failures(1, "may be served", {"db export --db theirs.db --as header out.hpp --kernel scale.cu"});
  expect_failures(1, "no best configuration of kernel serialSum is stored",
                  {"db export --as header a.hpp --kernel serialSum"});
  file("new.cu", contents(folder() / "scale.cu") + "// changed\n");
  expect_failures(1, "of kernel scale is stored for its present text; `tune ./new.cu` makes some",
                  {"db export --as header a.hpp --kernel ./new.cu"});
  EXPECT_EQ(contents(folder() / "out.hpp"), "");
}

TEST_F(DbProgram, CompilesTheImagesThatCallsAreServedWithAndLeavesThoseThatAreThere) {
  if (!has_nvrtc()) GTEST_SKIP() << "compiles with NVRTC";
  ASSERT_EQ(call("scale.cu --trials 2 --size n=500").code, 0);
  ASSERT_EQ(call("db export host.wisdom").code, 0);
  EXPECT_THAT(call("db export --as images wisdom --kernel scale.cu").err,
              HasSubstr("there are no results of GPUs for the kernels that are known here"));
  const std::string text = contents(folder() / "host.wisdom");
  file("gpu.wisdom", R"({"tuner_wisdom":1,"device":{"key":"cuda cc=9.0 sm=132","name":"GPU","backend":"cuda",)"
                     R"("compute_capability":90,"sm_count":132,"l2_bytes":1,"memory_bus_bits":1,"max_shared_bytes":)"
                     R"(232448,"registers_per_sm":65536},"environment":{"driver":"13.0","compiler":"nvrtc 13.0",)"
                     R"("tuner":"0.1.0","os":"Linux"}})" +
                         text.substr(text.find('\n')));
  ASSERT_EQ(call("db import gpu.wisdom").code, 0);
  const std::string command = "db export --as images wisdom --kernel scale.cu";
  const Finished made = call(command);
  ASSERT_EQ(made.code, 0) << made.err;
  const auto images = [&](const char* architecture) {
    namespace fs = std::filesystem;
    return std::distance(fs::directory_iterator(folder() / "wisdom/images" / architecture), fs::directory_iterator());
  };
  EXPECT_GE(images("sm_90"), 2) << "the best for float, the default for int";
  EXPECT_EQ(images("compute_90"), images("sm_90"));
  EXPECT_THAT(made.err, HasSubstr("0 of them were there"));
  EXPECT_THAT(call(command).err, HasSubstr(std::to_string(2 * images("sm_90")) + " of them were there"));
  EXPECT_EQ(call("db export --as images wisdom --arch 90 --kernel scale.cu").code, 2);
}

}  // namespace
}  // namespace tuner::cli
