// Several processes that share a file, and processes that die.

#include <csignal>
#include <random>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <tests/support/child_process.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

using tuner::testing::start_child;
using tuner::testing::wait_for;

TEST(Processes, LoseNothingWhenEightOfThemWrite) {
  const TemporaryFolder folder;
  constexpr int kWriters = 8;
  constexpr int kTrials = 40;
  std::vector<pid_t> children;
  for (int child = 0; child < kWriters; ++child) {
    children.push_back(start_child([&] {
      bool quiet = true;
      OpenOptions options;
      options.busy_timeout = std::chrono::minutes(1);
      options.warn = [&](const std::string&) { quiet = false; };
      auto database = Database::open_user(folder / "wisdom.db", options);
      {
        SessionWriter writer(database, session_key(1000 + child));
        for (int i = 0; i < kTrials; ++i) writer.add(trial("block=" + std::to_string(i), 10 + i));
        writer.set_best("block=0");
        writer.finish();
      }
      return quiet && !database.is_in_memory();
    }));
  }
  for (const pid_t pid : children) EXPECT_EQ(wait_for(pid), 0);
  auto database = Database::open_user(folder / "wisdom.db");
  for (int child = 0; child < kWriters; ++child) {
    EXPECT_EQ(finished_trials(database, session_key(1000 + child)).size(), static_cast<std::size_t>(kTrials));
    EXPECT_EQ(find(database, query(1000 + child)).tier, Tier::exact);
  }
  EXPECT_TRUE(doctor(database).empty());
  EXPECT_EQ(integrity(folder / "wisdom.db"), "ok");
}

TEST(Processes, LockForThemselvesThoughTheirParentUsedTheFileBeforeTheFork) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  {
    auto database = Database::open_user(file);
    store_best(database, session_key(), "block=1", 10);
  }
  const pid_t other = start_child([&] {
    auto database = Database::open_user(file);
    bool alone = true;
    database.store().write([&] {
      const pid_t sibling = start_child([&] {
        OpenOptions options;
        options.busy_timeout = std::chrono::milliseconds(0);
        options.strict = true;
        try {
          auto second = Database::open_user(file, options);
          second.store().write([] {});
        } catch (const CacheError&) {
          return true;  // locked
        }
        return false;
      });
      alone = wait_for(sibling) == 0;
    });
    return alone;
  });
  EXPECT_EQ(wait_for(other), 0) << "two processes wrote at once";
}

TEST(Processes, GoOnWithTheFileThatReplacedTheirs) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  auto database = Database::open_user(file);
  store_best(database, session_key(), "block=1", 10);
  std::filesystem::remove(file);
  {
    auto other = Database::open_user(file);
    store_best(other, session_key(), "block=2", 20);
  }
  EXPECT_EQ(find(database, query()).best->configuration, "block=2");
  std::filesystem::remove(file);
  store_best(database, session_key(), "block=3", 30);
  EXPECT_EQ(best_rows(database).size(), 1u);
  auto other = Database::open_user(file);
  EXPECT_EQ(find(other, query()).best->configuration, "block=3");
}

/// Whether a process holds SQLite's lock for writing.
bool is_locked_for_writing(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_start = 0x40000001;
  lock.l_len = 1;
  EXPECT_EQ(::fcntl(descriptor, F_OFD_GETLK, &lock), 0);
  ::close(descriptor);
  return lock.l_type != F_UNLCK;
}

TEST(Processes, AreKeptOutThoughAnotherCopyOfSqliteClosesTheFile) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  auto database = Database::open_user(file), second = Database::open_user(file);
  EXPECT_FALSE(is_locked_for_writing(file));
  database.store().write([&] {
    EXPECT_EQ(second.store().read([] { return 1; }), 1) << "this copy shares its locks";
    EXPECT_TRUE(is_locked_for_writing(file));
    EXPECT_TRUE(is_locked_for_writing(file)) << "after the file was closed once";
  });
  EXPECT_FALSE(is_locked_for_writing(file));
}

TEST(Processes, ThatAreKilledLoseNoAcknowledgedTrial) {
  const TemporaryFolder folder;
  const auto file = folder / "wisdom.db";
  std::mt19937 random(7);
  std::size_t acknowledged = 0;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t pid = start_child([&] {
      auto database = Database::open_user(file);
      SessionWriter writer(database, session_key());
      std::uint32_t committed = 0;
      for (std::uint32_t i = 0;; ++i) {
        writer.add(trial("block=" + std::to_string(round * 100000 + static_cast<int>(i)), 10));
        if (i % 3 == 2) {
          writer.flush();
          committed = i + 1;
        }
        if (::write(ends[1], &committed, sizeof committed) != sizeof committed) return false;
      }
      return true;
    });
    ::close(ends[1]);
    // Killed after a random number of acknowledgements, at any point of its work.
    const unsigned wanted = 1 + random() % 25;
    std::uint32_t last = 0;
    for (unsigned seen = 0; seen < wanted; ++seen) {
      std::uint32_t value = 0;
      ASSERT_EQ(::read(ends[0], &value, sizeof value), static_cast<ssize_t>(sizeof value));
      last = value;
    }
    ::kill(pid, SIGKILL);
    EXPECT_TRUE(WIFSIGNALED(wait_for(pid)));
    std::uint32_t value = 0;
    while (::read(ends[0], &value, sizeof value) == static_cast<ssize_t>(sizeof value)) last = value;
    ::close(ends[0]);
    acknowledged += last;
    Warnings warnings;
    auto database = Database::open_user(file, warnings.options());
    EXPECT_TRUE(warnings.texts.empty()) << warnings.texts[0];
    const auto stored = finished_trials(database, session_key()).size();
    EXPECT_GE(stored, acknowledged) << "round " << round;
    acknowledged = stored;
  }
  EXPECT_EQ(integrity(file), "ok");
  auto database = Database::open_user(file);
  EXPECT_TRUE(doctor(database).empty());
  EXPECT_EQ(sessions(database).size(), 20u);
  EXPECT_GT(acknowledged, 0u);
}

}  // namespace
}  // namespace tuner::cache::test
