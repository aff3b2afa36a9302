#include <filesystem>

#include <cache/exchange/exchange.hpp>
#include <cache/file/disk.hpp>
#include <cache/query/session.hpp>

#include <tests/support/stored_tuning.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/replay/replay_run.hpp>

namespace tuner::replay {
namespace {

namespace fs = std::filesystem;

using test::key_of;

cache::TrialRecord trial_of(int block, double median_ns) {
  return test::trial_of("block=" + std::to_string(block) + " kind=a", median_ns);
}

/// Configurations block=1…\p measured; block=k took 1000 + k ns.
void record(cache::Database& database, const cache::SessionKey& key, int measured) {
  std::vector<cache::TrialRecord> trials;
  for (int block = 1; block <= measured; ++block) trials.push_back(trial_of(block, 1000 + block));
  test::record(database, key, trials);
}

class DatabaseSpaces : public ::testing::Test {
 protected:
  cache::Database open() const { return cache::Database::open_user(file_); }
  std::vector<RecordedSpace> read(const fs::path& path) {
    return read_recorded_spaces(path, [this](const std::string& text) { warnings_.push_back(text); });
  }
  /// The only one.
  RecordedSpace read_one(const fs::path& path) {
    std::vector<RecordedSpace> all = read(path);
    EXPECT_EQ(all.size(), 1u);
    return std::move(all.at(0));
  }
  std::string refusal_of(const fs::path& path) {
    return error_of([&] { read(path); });
  }

  const testing::TemporaryFolder folder_;
  const fs::path file_ = folder_ / "wisdom.db";
  std::vector<std::string> warnings_;
};

TEST_F(DatabaseSpaces, HoldEveryTrialOfATuningWithItsCost) {
  {
    cache::Database database = open();
    record(database, key_of(1000), 9);
    cache::SessionWriter resumed(database, key_of(1000));
    cache::TrialRecord failed = trial_of(32, 0);
    failed.kind = "timeout";
    resumed.add(failed);
  }
  const RecordedSpace recorded = read_one(file_);  // two sessions of one tuning are one space
  EXPECT_EQ(recorded.name, "axpy T=float n=1000 GPU of 132");
  EXPECT_EQ(recorded.unit, "ns");
  EXPECT_EQ(recorded.space->size(), 10u);
  EXPECT_EQ(recorded.valid_count(), 9u);
  EXPECT_EQ(Scorer(recorded).optimum(), 1001);
  const auto third = recorded.space->find(Configuration{{"block", 3}, {"kind", "a"}});
  ASSERT_TRUE(third);
  EXPECT_EQ(recorded.rows[*third].objective, 1003);
  EXPECT_EQ(recorded.rows[*third].eval_seconds, 0.875) << "waiting for others is no cost of the trial";
  const auto failed = recorded.space->find(Configuration{{"block", 32}, {"kind", "a"}});
  ASSERT_TRUE(failed);
  EXPECT_EQ(recorded.rows[*failed].kind, OutcomeKind::timeout);
  EXPECT_THAT(warnings_, ElementsAre());
}

TEST_F(DatabaseSpaces, HoldTuningsForAHotCacheToo) {
  cache::SessionKey hot = key_of(1000);
  hot.kernel.objective = "time_hot";
  cache::Database database = open();
  record(database, hot, 9);
  const RecordedSpace recorded = read_one(file_);
  EXPECT_EQ(recorded.unit, "ns");
  EXPECT_EQ(recorded.valid_count(), 9u);
  EXPECT_EQ(Scorer(recorded).optimum(), 1001);
}

TEST_F(DatabaseSpaces, TakeTheReciprocalOfWhatIsLargestAtItsBest) {
  cache::SessionKey key = key_of(1000);
  key.kernel.objective = "max:ipc";
  {
    cache::Database database = open();
    cache::SessionWriter writer(database, key);
    for (int block = 1; block <= 8; ++block) {
      cache::TrialRecord trial = trial_of(block, 1000);
      trial.metrics["ipc"] = 0.25 * block;
      writer.add(trial);
    }
  }
  EXPECT_EQ(Scorer(read_one(file_)).optimum(), 0.5);
}

TEST_F(DatabaseSpaces, AreOneForEachProblemAndSkipThoseWithAHandfulOfTrials) {
  cache::Database database = open();
  record(database, key_of(1000), 8);
  record(database, key_of(2000), 7);
  record(database, key_of(3000), 20);
  std::vector<std::string> names;
  for (const RecordedSpace& recorded : read(file_)) names.push_back(recorded.name);
  EXPECT_THAT(names, UnorderedElementsAre("axpy T=float n=1000 GPU of 132", "axpy T=float n=3000 GPU of 132"));
  EXPECT_THAT(warnings_, ElementsAre(AllOf(HasSubstr("wisdom.db: 'axpy T=float n=2000 GPU of 132' has 7 measured"),
                                           HasSubstr("too few to replay (at least 8)"))));
}

TEST_F(DatabaseSpaces, WithTooLittleInThemAreErrorsThatSayWhatToDo) {
  cache::Database database = open();
  EXPECT_THAT(refusal_of(file_), HasSubstr("wisdom.db: holds no tuning, at most best configurations"));
  record(database, key_of(1000), 7);
  EXPECT_THAT(refusal_of(file_), AllOf(HasSubstr("wisdom.db: holds no tuning with 8 measured configurations"),
                                       HasSubstr("tune KERNEL --strategy exhaustive")));
}

TEST_F(DatabaseSpaces, AreTheSameFromTheTextOfACompleteExport) {
  cache::Database database = open();
  record(database, key_of(1000), 12);
  const std::string text = cache::export_all(database);
  cache::write_text(folder_ / "plain.jsonl", "# a comment\n" + text);
  cache::write_text(folder_ / "zipped.jsonl.gz", text);
  const RecordedSpace wanted = read_one(file_);
  for (const char* name : {"plain.jsonl", "zipped.jsonl.gz"}) {
    SCOPED_TRACE(name);
    const RecordedSpace recorded = read_one(folder_ / name);
    EXPECT_EQ(recorded.name, wanted.name);
    ASSERT_EQ(recorded.space->size(), wanted.space->size());
    for (std::size_t i = 0; i < wanted.rows.size(); ++i) {
      EXPECT_EQ(recorded.space->configuration(i), wanted.space->configuration(i));
      EXPECT_EQ(recorded.rows[i].objective, wanted.rows[i].objective);
    }
  }
  cache::write_text(folder_ / "best.jsonl", cache::export_wisdom(database));
  cache::write_text(folder_ / "broken.jsonl", text.substr(0, text.size() - 20));
  EXPECT_THAT(refusal_of(folder_ / "best.jsonl"), HasSubstr("best.jsonl"));
  EXPECT_THAT(refusal_of(folder_ / "broken.jsonl"), HasSubstr("broken.jsonl:15: not JSON"));
}

TEST_F(DatabaseSpaces, OfFilesThatAreNotOursAreErrorsAndLeaveThemAlone) {
  folder_.write("other.db", std::string("SQLite format 3\0", 16) + std::string(8000, 'x'));
  EXPECT_THAT(refusal_of(folder_ / "other.db"), HasSubstr("other.db is ignored: it is not a wisdom database"));
  EXPECT_EQ(fs::file_size(folder_ / "other.db"), 8016u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 1);
  cache::write_text(folder_ / "zipped.db.gz", std::string("SQLite format 3\0", 16));
  EXPECT_THAT(refusal_of(folder_ / "zipped.db.gz"), HasSubstr("zipped.db.gz: a compressed database: gunzip it first"));
}

TEST(KeptSpaces, AreReplayedAsTheyAre) {
  const std::vector<RecordedSpace> spaces =
      read_recorded_spaces(TUNER_SOURCE_DIR "/cache/recordings/reduce_float_2e24_h200.jsonl.gz");
  ASSERT_EQ(spaces.size(), 1u);
  EXPECT_EQ(spaces[0].name, "reduce T=float operation=sum order=fixed n=16777216 NVIDIA H200");
  EXPECT_EQ(spaces[0].space->size(), 10080u);
}

}  // namespace
}  // namespace tuner::replay
