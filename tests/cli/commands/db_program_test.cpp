// `tune db`: each action changes what its options name, and nothing else; what other programs get.

#include <filesystem>
#include <fstream>
#include <iterator>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/query/image_files.hpp>
#include <cache/query/session.hpp>

#include <tests/cli/commands/program.hpp>

#include <tuner/core/kernel/kernel_spec.hpp>

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
  EXPECT_THAT(out_of("db clear results --kernel scale"), HasSubstr("removed 2 best configurations, 2 sessions with "));
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
  const Finished written = call("db export --as header tuned.hpp --kernel scale.cu");
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.err, HasSubstr("tuned.hpp written, with 2 sizes on 1 device"));
  file("main.cpp",
       "#include \"tuned.hpp\"\nint main() { return tuned::scale::dispatch({0, 1}, {1000}, [](auto chosen) {\n"
       "  return decltype(chosen)::block > 0 ? 0 : 1; }); }\n");
  const Finished ran = shell("c++ -std=c++17 -Wall -Wextra -Werror main.cpp -o main && ./main");
  EXPECT_EQ(ran.code, 0) << ran.err << contents(folder() / "tuned.hpp");

  const Finished again = call("db export --as header - --kernel scale");
  EXPECT_THAT(again.out, StartsWith("// Tuned configurations of kernel scale"));
}

TEST_F(DbProgram, ListsInAHeaderTheAttributesThatItsUserMustLaunchWith) {
  std::string text = contents(folder() / "scale.cu");
  text.insert(text.find("#pragma tuner block "), "#pragma tuner cluster 1\n#pragma tuner dependent unroll > 1\n");
  file("late.cu", text);
  ASSERT_EQ(call("late.cu --trials 2").code, 0);
  EXPECT_THAT(call("db export --as header - --kernel ./late.cu").out,
              HasSubstr("// The caller must launch with these attributes, by cudaLaunchKernelEx():\n"
                        "//   scale: cluster 1, 1, 1; dependent unroll > 1\n"));
  ASSERT_EQ(call("scale.cu --trials 2").code, 0);
  EXPECT_THAT(call("db export --as header - --kernel ./scale.cu").out, Not(HasSubstr("attributes")));
}

TEST_F(DbProgram, WritesOneTuningForOtherTunersAndSaysHowToChooseIt) {
  ASSERT_EQ(call("scale.cu --trials 2 --size n=500").code, 0);
  ASSERT_EQ(call("db export --as t4 t4.json").code, 0);
  ASSERT_EQ(call("db export --as kernel-tuner cache.json").code, 0);
  ASSERT_EQ(call("scale.cu --trials 2 --size n=600").code, 0);
  EXPECT_THAT(err_of("db export --as t4 t4.json", 2), Holds("2 match", "scale T=float n=500", "--size"));
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
  EXPECT_THAT(call("db export --as images wisdom --arch sm_90a --kernel scale.cu").err,
              HasSubstr("give the chip without a suffix"));
}

class Freeze : public ProgramTest {
 protected:
  /// Without what is shipped, if this build has it.
  Finished freeze() { return call("db freeze job.db cache/wisdom.db"); }
  /// The only answer of `tune show --why`.
  json explained(const std::string& more = "") {
    return document("show scale.cu --why --json " + more)["answers"].at(0);
  }
};

TEST_F(Freeze, MakesADatabaseThatAnswersWithoutAnyOther) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2").code, 0);
  const json before = explained();
  const Finished run = freeze();
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1 best configuration frozen. TUNER_FROZEN=" + (folder() / "job.db").string()));
  ASSERT_EQ(call("db freeze all.db").code, 0);
  EXPECT_THAT(call("show --db all.db").out, HasSubstr("n=1000"));
  set("TUNER_FROZEN", "job.db");
  set("TUNER_CACHE_DIR", (folder() / "other machine").string());
  const json after = explained();
  EXPECT_EQ(after["served"], before["served"]);
  EXPECT_EQ(after["tier"], "exact");
  EXPECT_TRUE(after["frozen"]);
  EXPECT_THAT(call("show scale.cu --why").out, HasSubstr("job.db ($TUNER_FROZEN: this file and no other)"));
  EXPECT_THAT(call("show").out, HasSubstr("job.db ($TUNER_FROZEN: calls are answered from this file"));
  EXPECT_THAT(call("db check --db job.db").out, HasSubstr("sound"));
  EXPECT_THAT(out_of("scale.cu"), HasSubstr(before["served"].get<std::string>()));
  EXPECT_FALSE(std::filesystem::exists(folder() / "other machine"));
}

TEST_F(Freeze, KeepsWhatThisMachineKnowsOut) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2 --size n=100").code, 0);
  ASSERT_EQ(freeze().code, 0);
  ASSERT_EQ(call("scale.cu --quiet --trials 2 --size n=1000").code, 0);
  set("TUNER_DB_PATH", cache().string());
  EXPECT_EQ(explained("--size n=1000")["tier"], "exact");
  set("TUNER_FROZEN", "job.db");
  EXPECT_NE(explained("--size n=1000")["tier"], "exact");
  EXPECT_EQ(explained("--size n=1000 --db cache/wisdom.db")["tier"], "exact") << "asked for by name";
  EXPECT_EQ(document("show --json")["databases"].size(), 1u);
}

TEST_F(Freeze, UnitesDatabasesAndWisdomTexts) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2 --size n=1000").code, 0);
  ASSERT_EQ(call("db export node1.wisdom").code, 0);
  ASSERT_EQ(call("scale.cu --quiet --trials 2 --size n=9000 --db node2.db").code, 0);
  const Finished run = call("db freeze job.db node1.wisdom node2.db --json");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["best"], 2);
  const std::string bytes = contents(folder() / "job.db");
  ASSERT_EQ(call("db freeze job.db node2.db node1.wisdom").code, 0) << "in its own place";
  EXPECT_EQ(contents(folder() / "job.db"), bytes) << "in any order";
}

TEST_F(Freeze, IsCheckedAsCallsReadIt) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2").code, 0);
  ASSERT_EQ(freeze().code, 0);
  std::string damaged = contents(folder() / "job.db");
  damaged[damaged.rfind("unroll=") + 7] ^= 1;
  file("damaged.db", damaged);
  expect_failures(1, "changed after it was frozen", {"db check --db damaged.db"});
}

TEST_F(Freeze, ReplacesNothingButAFrozenDatabase) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2").code, 0);
  file("notes.txt", "my notes\n");
  const std::string wisdom = contents(cache() / "wisdom.db");
  expect_failures(1, "nothing was changed. Give another name\n",
                  {"db freeze notes.txt", "db freeze cache/wisdom.db", "db freeze cache", "db freeze /dev/null"});
  EXPECT_EQ(contents(folder() / "notes.txt"), "my notes\n");
  EXPECT_EQ(contents(cache() / "wisdom.db"), wisdom);
  EXPECT_EQ(call("db freeze job.db none.db").code, 1);
}

TEST_F(Freeze, MakesWhatNothingIsAddedTo) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2").code, 0);
  ASSERT_EQ(freeze().code, 0);
  const std::string bytes = contents(folder() / "job.db");
  expect_failures(1, "it is frozen", {"db merge job.db cache/wisdom.db", "db clear quarantine --db job.db"});
  set("TUNER_FROZEN", "job.db");
  expect_failures(1, "unset TUNER_FROZEN", {"scale.cu --force", "scale.cu --size n=2000", "--missed"});
  EXPECT_EQ(contents(folder() / "job.db"), bytes);
  EXPECT_EQ(call("scale.cu --quiet --trials 2 --size n=2000 --db mine.db").code, 0) << "stored elsewhere by name";
}

TEST_F(Freeze, IsNeverLeftForOtherWisdom) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2").code, 0);
  set("TUNER_FROZEN", "cache/wisdom.db");
  for (const char* line : {"show scale.cu --why", "show", "scale.cu"}) {
    const Finished run = call(line);
    EXPECT_EQ(run.code, 1) << line;
    EXPECT_THAT(run.err, HasSubstr("TUNER_FROZEN=" + (folder() / "cache/wisdom.db").string())) << line;
    EXPECT_THAT(run.err, HasSubstr("tune db freeze")) << line;
    EXPECT_THAT(run.out, Not(HasSubstr("block="))) << line;
  }
}

}  // namespace
}  // namespace tuner::cli
