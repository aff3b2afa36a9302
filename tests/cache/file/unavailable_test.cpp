// A database that cannot be asked at one moment is asked again: nothing follows from that moment.

#include <new>

#include <cache/exchange/exchange.hpp>
#include <cache/exchange/shipping.hpp>
#include <cache/query/shipped.hpp>

#include <tests/support/sqlite_faults.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

/// The folder is the user's cache folder, so that a damaged `wisdom.db` in it would be replaced.
struct Moment : FileTest {
  const EnvironmentVariable own{"TUNER_CACHE_DIR", folder.path().string()};

  OpenOptions impatient() {
    OpenOptions options = warnings.options();
    options.busy_timeout = options.look_again = std::chrono::milliseconds(0);
    return options;
  }
  void expect_no_other_file() { EXPECT_THAT(names_in(folder.path()), ElementsAre("wisdom.db")); }
};

TEST_F(Moment, OfALockIsAnAnswerOfItsOwnAndIsSaidOnce) {
  make();
  auto database = Database::open_user(file, impatient());
  {
    SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
    other.exec("BEGIN EXCLUSIVE");
    for (int i = 0; i < 2; ++i) {
      const auto match = find(database, query());
      EXPECT_FALSE(match);
      EXPECT_THAT(match.unavailable, AllOf(HasSubstr("cannot be read now"), HasSubstr("locked")));
      EXPECT_EQ(match.reason, match.unavailable) << "and not that nothing is known";
    }
    EXPECT_THROW((void)best_rows(database), Unavailable);
    EXPECT_THROW((void)finished_trials(database, session_key()), Unavailable);
    EXPECT_THROW((void)database.quarantined(h200().key, reduce_kernel(), problem()), Unavailable);
    EXPECT_THAT(answer_or_nothing([&] { return best_rows(database); }), ElementsAre());
  }
  EXPECT_THAT(warnings.texts, ElementsAre(HasSubstr("cannot be read now")));
  EXPECT_EQ(find(database, query()).best->configuration, "block=1");
  EXPECT_EQ(find(database, query()).unavailable, "");
  EXPECT_FALSE(database.is_in_memory());
}

TEST_F(Moment, OfALockWhileTheFileIsOpenedIsNotTakenForAnEmptyFile) {
  make();
  SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  auto database = Database::open_user(file, impatient());
  EXPECT_THAT(find(database, query()).unavailable, HasSubstr("locked"));
  EXPECT_THROW(Database::open_read_only(file, impatient()), Unavailable);
  EXPECT_THROW(Database::open_shipped(file, impatient()), Unavailable);
  other.exec("ROLLBACK");
  EXPECT_EQ(find(database, query()).best->configuration, "block=1");
  EXPECT_EQ(find(database, query()).unavailable, "");
  EXPECT_TRUE(Database::open_shipped(file, impatient()));
}

TEST_F(Moment, OfALockLeavesTheAnswersOfOtherDatabasesUnlessItMayForbidThem) {
  make();
  auto users = Database::open_user(file, impatient());
  auto shipped = Database::in_memory();
  store_best(shipped, session_key(), "block=2", 2);
  SQLite::Database other(file.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  Database* both[] = {&users, &shipped};
  const auto match = lookup(query(), both);
  EXPECT_FALSE(match) << "block=2 may be in quarantine in the user's database";
  EXPECT_NE(match.unavailable, "");
  EXPECT_THAT(match.rejected, Contains(::testing::Field(&RejectedCandidate::configuration, "block=2")));
  other.exec("ROLLBACK");
  EXPECT_EQ(lookup(query(), both).best->configuration, "block=1");
}

TEST_F(Moment, WithoutDescriptorsIsNamedAndPasses) {
  make();
  auto options = impatient();
  options.look_again = std::chrono::hours(1);
  auto database = [&] {
    const FewDescriptors none(0);
    auto opened = Database::open_user(file, options);
    EXPECT_THAT(find(opened, query()).unavailable, HasSubstr("no file descriptor is free"));
    EXPECT_THROW(Database::open_shipped(file, options), Unavailable);
    EXPECT_EQ(last_commit(file), std::nullopt);
    return opened;
  }();
  EXPECT_EQ(find(database, query()).best->configuration, "block=1") << "the next question, whatever look_again is";
  expect_no_other_file();
}

TEST_F(Moment, WithFewDescriptorsLeavesNoLockAndNothingElse) {
  make();
  for (int left = 0; left < 8; ++left) {
    auto database = [&] {
      const FewDescriptors few(left);
      auto opened = Database::open_user(file, impatient());
      const auto match = find(opened, query());
      EXPECT_TRUE(match ? match.best->configuration == "block=1" : match.unavailable != "") << left << match.reason;
      return opened;
    }();
    EXPECT_EQ(find(database, query()).best->configuration, "block=1") << left;
    database.quarantine(h200(), reduce_kernel(), problem(77), "block=3", "hung");
    EXPECT_FALSE(database.is_in_memory()) << left << database.trouble();
    expect_no_other_file();
  }
}

/// Stores and finds results in the file while the \p nth reading or allocation fails. Returns whether it came to that.
bool survives(const std::filesystem::path& file, long nth, const OpenOptions& options) {
  const NthFails one(nth);
  try {
    auto database = Database::open_user(file, options);
    database.quarantine(h200(), reduce_kernel(), problem(77), "block=3", "hung");
    const auto match = find(database, query());
    EXPECT_TRUE(match ? match.best->configuration == "block=1" : match.unavailable != "")
        << nth << ": " << match.reason;
  } catch (const std::bad_alloc&) {
  } catch (const Unavailable&) {
  }
  return NthFails::happened();
}

/// Expects that nothing was lost, and that the file is not in use.
void expect_all_is_there(const std::filesystem::path& file) {
  auto database = Database::open_user(file, {.strict = true});
  ASSERT_EQ(find(database, query()).best->configuration, "block=1");
  ASSERT_EQ(finished_trials(database, session_key()).size(), 1u);
}

TEST_F(Moment, OfAFailedReadingCostsNoDatabase) {
  make();
  const ReadingFails reading;
  for (const bool strict : {false, true}) {
    auto options = impatient();
    options.strict = strict;
    long nth = 1;
    for (; survives(file, nth, options); ++nth) {
      expect_all_is_there(file);
      ASSERT_THAT(names_in(folder.path()), ElementsAre("wisdom.db")) << nth;
    }
    EXPECT_GT(nth, 10);
  }
}

TEST_F(Moment, OfAFailedAllocationCostsNoDatabase) {
  make();
  const AllocationFails allocating;
  long nth = 1;
  for (; survives(file, nth, impatient()); nth += nth < 400 ? 7 : 3) {  // the first are those of SQLite's own start
    expect_all_is_there(file);
    ASSERT_THAT(names_in(folder.path()), ElementsAre("wisdom.db")) << nth;
  }
  EXPECT_GT(nth, 100);
}

TEST_F(Moment, OfAFailedAllocationCostsAFrozenDatabaseOnlyThatQuestion) {
  make();
  const auto frozen = folder / "frozen.db";
  {
    auto database = Database::open_user(file);
    freeze(database, frozen);
  }
  const AllocationFails allocating;
  bool happened = true;
  for (long nth = 1; happened; ++nth) {
    auto database = Database::open_frozen(frozen);
    {
      const NthFails one(nth);
      try {
        EXPECT_EQ(find(database, query()).best->configuration, "block=1");
      } catch (const std::bad_alloc&) {
      }
      happened = NthFails::happened();
    }
    ASSERT_EQ(find(database, query()).best->configuration, "block=1") << nth;
  }
}

TEST_F(Moment, OfFailedReadingsCostsAReadOnlyDatabaseOnlyThatQuestion) {
  make();
  const ReadingFails reading;
  for (const long many : {1, 2, 3, 1000}) {
    bool happened = true;
    for (long nth = 1; happened; ++nth) {
      auto database = Database::open_read_only(file);
      {
        const NthFails some(nth, many);
        try {
          const auto match = find(database, query());
          EXPECT_TRUE(match ? match.best->configuration == "block=1" : match.unavailable != "") << match.reason;
        } catch (const Unavailable&) {
        }
        happened = NthFails::happened();
      }
      ASSERT_EQ(find(database, query()).best->configuration, "block=1") << nth << many;
    }
  }
}

TEST_F(Moment, OfAFailedReadingIsNotTakenForDamageOfAFrozenDatabase) {
  make();
  const auto frozen = folder / "frozen.db";
  {
    auto database = Database::open_user(file);
    freeze(database, frozen);
  }
  const ReadingFails reading;
  const NthFails first(1);
  EXPECT_THROW((void)Database::open_frozen(frozen), Unavailable);
  EXPECT_TRUE(NthFails::happened());
  auto database = Database::open_frozen(frozen);
  EXPECT_EQ(find(database, query()).best->configuration, "block=1");
}

using LastCommitOf = FileTest;
TEST_F(LastCommitOf, AFileIsAnotherAfterEachCommitAndForAnotherFile) {
  EXPECT_EQ(last_commit(file), LastCommit()) << "there is none";
  make();
  std::vector<LastCommit> seen{*last_commit(file)};
  EXPECT_EQ(*last_commit(file), seen[0]);
  {
    auto database = open();
    (void)find(database, query());
    EXPECT_EQ(*last_commit(file), seen[0]) << "nothing was committed";
    store_best(database, session_key(77), "block=2", 2);
    seen.push_back(*last_commit(file));
    (void)remove_results(database, {});  // also when nothing is left of it
    seen.push_back(*last_commit(file));
    database.quarantine(h200(), reduce_kernel(), problem(77), "block=3", "hung");
    seen.push_back(*last_commit(file));
  }
  std::filesystem::copy_file(file, folder / "copy.db");
  std::filesystem::rename(folder / "copy.db", file);
  seen.push_back(*last_commit(file));
  for (std::size_t i = 0; i < seen.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(seen[i], seen[j]) << i << ' ' << j;
}

}  // namespace
}  // namespace tuner::cache::test
