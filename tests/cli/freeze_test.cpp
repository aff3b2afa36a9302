// `tune db freeze`, and what $TUNER_FROZEN means to the other commands.

#include <tests/cli/program.hpp>

namespace tuner::cli {
namespace {

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
  const Finished known = call("scale.cu");
  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_THAT(known.out, HasSubstr(before["served"].get<std::string>()));
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

TEST_F(Freeze, TakesNoTextThatContradictsATrial) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2").code, 0);
  ASSERT_EQ(shell("\"$TUNE\" db export - | sed 's/_ns\":/_ns\":100/g' > wrong.wisdom").code, 0);
  expect_failures(1, "wrong.wisdom: the best of scale", {"db freeze job.db cache/wisdom.db wrong.wisdom"});
}

TEST_F(Freeze, IsCheckedAsCallsReadIt) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2").code, 0);
  ASSERT_EQ(freeze().code, 0);
  std::string damaged = contents(folder() / "job.db");
  damaged[damaged.rfind("unroll=") + 7] ^= 1;
  file("damaged.db", damaged);
  const Finished run = call("db check --db damaged.db");
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, Holds("No call is answered from it", "make it again with `tune db freeze`"));
  damaged.back() ^= 1;
  file("damaged.db", damaged);
  expect_failures(1, "changed after it was frozen", {"db check --db damaged.db"});
}

TEST_F(Freeze, HoldsNothingThatWasComparedWithNothing) {
  ASSERT_EQ(call("scale.cu --quiet --trials 2 --unverified").code, 0);
  const Finished run = freeze();
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr("no best result is known"));
  EXPECT_FALSE(std::filesystem::exists(folder() / "job.db"));
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
  ASSERT_EQ(freeze().code, 0);
  std::string damaged = contents(folder() / "job.db");
  damaged.replace(damaged.size() / 2, 64, std::string(64, 'x'));
  file("damaged.db", damaged.substr(0, damaged.size() - 4096));
  file("notes.txt", "my notes\n");
  for (const char* frozen : {"none.db", "damaged.db", "notes.txt", "cache/wisdom.db", "cache"}) {
    set("TUNER_FROZEN", frozen);
    for (const char* line : {"show scale.cu --why", "show", "scale.cu"}) {
      const Finished run = call(line);
      EXPECT_EQ(run.code, 1) << frozen << ' ' << line;
      EXPECT_THAT(run.err, HasSubstr("TUNER_FROZEN=" + (folder() / frozen).string())) << line;
      EXPECT_THAT(run.err, HasSubstr("tune db freeze")) << line;
      EXPECT_THAT(run.out, Not(HasSubstr("block="))) << line;
    }
  }
}

}  // namespace
}  // namespace tuner::cli
