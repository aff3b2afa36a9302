// Claims: which of several processes may tune.
#include <csignal>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cache/claim.hpp>

#include "fixture.hpp"

namespace tuner::cache::test {
namespace {

struct Claims : ::testing::Test {
  const TemporaryFolder folder;
  const std::filesystem::path database = folder / "wisdom.db";
};

TEST_F(Claims, BelongToOneAtATime) {
  Claim mine(database, "reduce n=1000");
  EXPECT_TRUE(mine.take());
  EXPECT_TRUE(mine.take()) << "it is mine already";
  {
    Claim second(database, "reduce n=1000"), other(database, "reduce n=2000");
    EXPECT_FALSE(second.take()) << "of another thread";
    EXPECT_TRUE(other.take()) << "another problem";
  }
  Claim again(database, "reduce n=1000");
  EXPECT_FALSE(again.take()) << "what another one closed gives nothing back";
}

TEST_F(Claims, EndWithTheirProcessHoweverItEnds) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Claim claim(database, "reduce n=1000");
    const char taken = claim.take() ? 'y' : 'n';
    if (::write(ends[1], &taken, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char taken = 0;
  ASSERT_EQ(::read(ends[0], &taken, 1), 1);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(taken, 'y');
  Claim claim(database, "reduce n=1000");
  EXPECT_FALSE(claim.take());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(claim.take()) << "the file is asked once a second";
  EXPECT_TRUE(Claim(database, "reduce n=1000").take());
}

TEST_F(Claims, AreEverybodysWhereNoneCanBeKept) {
  for (int i = 0; i < 2; ++i) {
    Claim claim(folder / "no such folder/wisdom.db", "reduce n=1000");
    EXPECT_TRUE(claim.take());
  }
}

TEST_F(Claims, LeaveOneEmptyFileForTheirOwner) {
  {
    Claim one(database, "reduce n=1000"), other(database, "reduce n=2000");
    EXPECT_TRUE(one.take() && other.take());
  }
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"wisdom.db.claims"});
  EXPECT_EQ(mode_of(folder / "wisdom.db.claims"), 0600u);
  EXPECT_EQ(read_file(folder / "wisdom.db.claims"), "");
}

}  // namespace
}  // namespace tuner::cache::test
