// `tune db freeze`, and what $TUNER_FROZEN means to the other commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Freeze : public ProgramTest {
 protected:
  /// Without what is shipped, if this build has it.
  Finished freeze() { return tune({"db", "freeze", "job.db", "cache/wisdom.db"}); }
  /// The only answer of `tune show --why`.
  json explained(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"show", kernel_, "--why", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return json::parse(run.out)["answers"].at(0);
  }

  const std::string kernel_ = small_kernel();
};

TEST_F(Freeze, MakesADatabaseThatAnswersWithoutAnyOther) {
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2"}).code, 0);
  const json before = explained();
  const Finished run = freeze();
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1 best configuration frozen. TUNER_FROZEN=" + (folder() / "job.db").string()));
  ASSERT_EQ(tune({"db", "freeze", "all.db"}).code, 0);
  EXPECT_THAT(tune({"show", "--db", "all.db"}).out, HasSubstr("n=1000"));
  set("TUNER_FROZEN", "job.db");
  set("TUNER_CACHE_DIR", (folder() / "other machine").string());
  const json after = explained();
  EXPECT_EQ(after["served"], before["served"]);
  EXPECT_EQ(after["tier"], "exact");
  EXPECT_TRUE(after["frozen"]);
  EXPECT_THAT(tune({"show", kernel_, "--why"}).out, HasSubstr("job.db ($TUNER_FROZEN: this file and no other)"));
  EXPECT_THAT(tune({"show"}).out, HasSubstr("job.db ($TUNER_FROZEN: calls are answered from this file"));
  EXPECT_THAT(tune({"db", "check", "--db", "job.db"}).out, HasSubstr("sound"));
  const Finished known = tune_small({});
  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_THAT(known.out, HasSubstr(before["served"].get<std::string>()));
  EXPECT_FALSE(std::filesystem::exists(folder() / "other machine"));
}

TEST_F(Freeze, KeepsWhatThisMachineKnowsOut) {
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2", "--size", "n=100"}).code, 0);
  ASSERT_EQ(freeze().code, 0);
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2", "--size", "n=1000"}).code, 0);
  set("TUNER_DB_PATH", cache().string());
  EXPECT_EQ(explained({"--size", "n=1000"})["tier"], "exact");
  set("TUNER_FROZEN", "job.db");
  EXPECT_NE(explained({"--size", "n=1000"})["tier"], "exact");
  EXPECT_EQ(explained({"--size", "n=1000", "--db", "cache/wisdom.db"})["tier"], "exact") << "asked for by name";
  EXPECT_EQ(json::parse(tune({"show", "--json"}).out)["databases"].size(), 1u);
}

TEST_F(Freeze, UnitesDatabasesAndWisdomTexts) {
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2", "--size", "n=1000"}).code, 0);
  ASSERT_EQ(tune({"db", "export", "node1.wisdom"}).code, 0);
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2", "--size", "n=9000", "--db", "node2.db"}).code, 0);
  const Finished run = tune({"db", "freeze", "job.db", "node1.wisdom", "node2.db", "--json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["best"], 2);
  const std::string bytes = contents(folder() / "job.db");
  ASSERT_EQ(tune({"db", "freeze", "job.db", "node2.db", "node1.wisdom"}).code, 0) << "in its own place";
  EXPECT_EQ(contents(folder() / "job.db"), bytes) << "in any order";
}

TEST_F(Freeze, HoldsNothingThatWasComparedWithNothing) {
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2", "--unverified"}).code, 0);
  const Finished run = freeze();
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("no best result is known"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "job.db"));
}

TEST_F(Freeze, ReplacesNothingButAFrozenDatabase) {
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2"}).code, 0);
  file("notes.txt", "my notes\n");
  const std::string wisdom = contents(cache() / "wisdom.db");
  for (const char* path : {"notes.txt", "cache/wisdom.db", "cache", "/dev/null"}) {
    const Finished run = tune({"db", "freeze", path});
    EXPECT_EQ(run.code, 1) << path;
    EXPECT_THAT(run.err, HasSubstr("nothing was changed. Give another name\n")) << path;
  }
  EXPECT_EQ(contents(folder() / "notes.txt"), "my notes\n");
  EXPECT_EQ(contents(cache() / "wisdom.db"), wisdom);
  EXPECT_EQ(tune({"db", "freeze"}).code, 2);
  EXPECT_EQ(tune({"db", "freeze", "job.db", "none.db"}).code, 1);
}

TEST_F(Freeze, MakesWhatNothingIsAddedTo) {
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2"}).code, 0);
  ASSERT_EQ(freeze().code, 0);
  const std::string bytes = contents(folder() / "job.db");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"db", "merge", "job.db", "cache/wisdom.db"}, {"db", "clear", "quarantine", "--db", "job.db"}}) {
    const Finished run = tune(arguments);
    EXPECT_EQ(run.code, 1) << arguments[0];
    EXPECT_THAT(run.err, HasSubstr("it is frozen")) << arguments[0];
  }
  set("TUNER_FROZEN", "job.db");
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--force"}, {"--size", "n=2000"}, {"--missed"}}) {
    const Finished run = more[0] == "--missed" ? tune({"--missed"}) : tune_small(more);
    EXPECT_EQ(run.code, 1) << more[0];
    EXPECT_THAT(run.err, HasSubstr("unset TUNER_FROZEN")) << more[0];
  }
  EXPECT_EQ(contents(folder() / "job.db"), bytes);
  EXPECT_EQ(tune_small({"--quiet", "--trials", "2", "--size", "n=2000", "--db", "mine.db"}).code, 0)
      << "stored elsewhere by name";
}

TEST_F(Freeze, IsNeverLeftForOtherWisdom) {
  ASSERT_EQ(tune_small({"--quiet", "--trials", "2"}).code, 0);
  ASSERT_EQ(freeze().code, 0);
  std::string damaged = contents(folder() / "job.db");
  damaged.replace(damaged.size() / 2, 64, std::string(64, 'x'));
  file("damaged.db", damaged.substr(0, damaged.size() - 4096));
  file("notes.txt", "my notes\n");
  for (const char* frozen : {"none.db", "damaged.db", "notes.txt", "cache/wisdom.db", "cache"}) {
    set("TUNER_FROZEN", frozen);
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"show", kernel_, "--why"}, {"show"}, {"--kernel", kernel_}}) {
      const Finished run = tune(arguments);
      EXPECT_EQ(run.code, 1) << frozen << ' ' << arguments[0];
      EXPECT_THAT(run.err, HasSubstr("TUNER_FROZEN=" + (folder() / frozen).string())) << arguments[0];
      EXPECT_THAT(run.err, HasSubstr("tune db freeze")) << arguments[0];
      EXPECT_THAT(run.out, Not(HasSubstr("block="))) << arguments[0];
    }
  }
}

}  // namespace
}  // namespace tuner::cli
