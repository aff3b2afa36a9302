// Files, their places, locks and the clock: the real ones, and disks that are full, cut files short or lose what was
// renamed.

#include <csignal>
#include <fstream>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cache/exchange/exchange.hpp>
#include <cache/exchange/shipping.hpp>
#include <cache/file/disk.hpp>
#include <cache/file/paths.hpp>
#include <cache/query/shipped.hpp>

#include <tests/support/child_process.hpp>
#include <tests/support/memory_disk.hpp>

#include <tests/cache/fixture.hpp>

namespace tuner::cache::test {
namespace {

namespace fs = std::filesystem;
using tuner::testing::MemoryDisk;

/// An old file on a disk in memory.
struct Text : ::testing::Test {
  Text() { write_text(file, "old", disk); }
  MemoryDisk disk;
  const fs::path file = "text";
};

TEST_F(Text, OfAFileStaysWhereTheNewOneCannotBeWritten) {
  const auto expect_old = [&](const std::string& reason) {
    EXPECT_THAT(error_of([&] { write_text(file, "new and longer", disk); }),
                HasSubstr("text cannot be written: " + reason));
    EXPECT_EQ(disk.files.size(), 1u) << "no piece is left";
    EXPECT_EQ(read_text(file, kMaxTextBytes, disk), "old");
  };
  disk.rename_failure = "Input/output error";
  expect_old("Input/output error");
  disk.space = 5;
  expect_old("No space left on device");
}

TEST_F(Text, IsTheOldOneWhereThePowerFailsBeforeTheNewOneHasItsName) {
  disk.loses_renames = true;
  write_text(file, "new", disk);
  EXPECT_EQ(read_text(file, kMaxTextBytes, disk), "old");
}

TEST_F(Text, ThatIsCompressedIsRefusedWhereItWasCutShort) {
  disk.cuts_short = true;
  write_text("text.gz", std::string(10000, 'x'), disk);
  EXPECT_THAT(error_of([&] { read_text("text.gz", kMaxTextBytes, disk); }), HasSubstr("unexpected end"));
}

TEST_F(Text, NeverReplacesADatabase) {
  disk.files[file] = std::string("SQLite format 3\0rest", 20);
  EXPECT_THROW(write_text(file, "new", disk), CacheError);
  EXPECT_TRUE(is_database_file(file, disk));
  for (const char* other : {"SQLite format 3", "SQLite format 3 is what this text is about"}) {
    disk.files[file] = other;
    EXPECT_FALSE(is_database_file(file, disk)) << other;
  }
  EXPECT_FALSE(is_database_file("missing", disk));
}

TEST_F(Text, IsReadUpToALimit) {
  EXPECT_EQ(read_text(file, 3, disk), "old");
  EXPECT_THROW(read_text(file, 2, disk), CacheError);
  write_text("text.gz", std::string(10000, 'x'), disk);
  EXPECT_LT(disk.files["text.gz"].size(), 1000u);
  EXPECT_EQ(read_text("text.gz", 10000, disk), std::string(10000, 'x'));
  EXPECT_THROW(read_text("text.gz", 9999, disk), CacheError);
  disk.files["two.gz"] = disk.files["text.gz"] + disk.files["text.gz"];
  EXPECT_EQ(read_text("two.gz", 20000, disk), std::string(20000, 'x')) << "as gzip reads several parts";
}

TEST(Disk, HoldsTheOldOrTheNewTextWheneverThePowerFails) {
  for (const bool names_stay : {false, true}) {
    for (int operations = 0; operations < 5; ++operations) {
      MemoryDisk disk;
      write_text("text", "old", disk);
      disk.operations = operations;
      std::string expected = "new";
      try {
        write_text("text", "new", disk);
        EXPECT_EQ(operations, 4);
      } catch (const MemoryDisk::PowerCut&) {
        if (operations < 3 || !names_stay) expected = "old";
      }
      disk.cut_power(names_stay);
      EXPECT_EQ(read_text("text", kMaxTextBytes, disk), expected) << operations << " operations";
    }
  }
}

TEST(RealDisk, ReadsAndReplacesOnlyRegularFiles) {
  const TemporaryFolder folder;
  write_text(folder / "text", "old");
  write_text(folder / "text", "new");
  EXPECT_EQ(read_text(folder / "text"), "new");
  EXPECT_EQ(real_disk().write(folder / "link", "text", 0600, true), std::nullopt);
  EXPECT_EQ(real_disk().sync_names(folder.path()), std::nullopt);
  fs::remove(folder / "link");
  for (const char* other : {"text", "missing"}) EXPECT_TRUE(real_disk().sync_names(folder / other));
  EXPECT_EQ(mode_of(folder / "text"), 0644u);
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  fs::create_symlink(folder / "text", folder / "link");
  for (const fs::path& other : {folder / "fifo", folder.path()}) {
    EXPECT_THROW(read_text(other), CacheError) << "and does not wait for a writer";
    EXPECT_THROW(write_text(other, "x"), CacheError);
  }
  EXPECT_THROW(read_text("/dev/zero"), CacheError);
  EXPECT_THROW(read_text(folder / "missing"), CacheError);
  EXPECT_THROW(write_text(folder / "link", "x"), CacheError);
  EXPECT_THROW(write_text(folder / "no/such/folder/file", "x"), CacheError);
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"fifo", "link", "text"})) << "no pieces are left";
}

TEST(RealDisk, MakesFoldersForTheirOwner) {
  const TemporaryFolder folder;
  for (int again = 0; again < 2; ++again) EXPECT_FALSE(real_disk().make_folder(folder / "a/b/c", 0700));
  for (const char* part : {"a", "a/b", "a/b/c"}) EXPECT_EQ(mode_of(folder / part), 0700u) << part;
  write_file(folder / "file", "x");
  EXPECT_TRUE(real_disk().make_folder(folder / "file/below", 0700));
}

TEST(Exposure, IsOfWhatOthersCanWriteToOrReplace) {
  const TemporaryFolder folder;
  const auto exposure = [&](const char* name) { return real_disk().exposure_of(folder / name).value_or(""); };
  write_file(folder / "above/below/file", "x");
  EXPECT_EQ(exposure("above/below/file"), "") << "the folder for temporary ones is sticky";
  fs::permissions(folder / "above", fs::perms::all);
  EXPECT_THAT(exposure("above/below/file"), HasSubstr("others can write to"));
  EXPECT_THAT(exposure("above/below/file"), HasSubstr("chmod go-w " + (folder / "above").string()));
  EXPECT_THAT(exposure("missing"), HasSubstr("No such file"));
}

TEST(Exposure, IsNotOfFoldersOfRootWhereAContainerShowsAnotherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  constexpr int kCannot = 77;
  const TemporaryFolder folder;
  fs::create_directory(folder / "cache");
  fs::permissions(folder.path(), fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
  ASSERT_EQ(::chown((folder / "cache").c_str(), 12345, 12345), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_user = ::setresgid(12345, 12345, 12345) == 0 && ::setresuid(12345, 12345, 12345) == 0;
    ::prctl(PR_SET_DUMPABLE, 1);  // for its own files in /proc
    if (!is_user || ::unshare(CLONE_NEWUSER) != 0) ::_exit(kCannot);
    std::ofstream("/proc/self/uid_map") << "12345 12345 1";
    if (::geteuid() != 12345) ::_exit(kCannot);
    ::_exit(real_disk().exposure_of(folder / "cache") ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kCannot) GTEST_SKIP() << "this machine gives nobody a namespace of users";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Exposure, IsOfWhatBelongsToAnotherUserOrGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TemporaryFolder folder;
  fs::create_directories(folder / "cache/tuner");
  fs::permissions(folder / "cache", fs::perms::owner_all | fs::perms::group_all);
  const auto exposure = [&](bool installed) { return real_disk().exposure_of(folder / "cache/tuner", installed); };
  EXPECT_EQ(exposure(false), std::nullopt) << "the user's own group can write to it, as with umask 002";
  ASSERT_EQ(::chown((folder / "cache").c_str(), 0, 1), 0);  // daemon
  EXPECT_THAT(exposure(false).value_or(""), HasSubstr("others can write to"));
  ASSERT_EQ(::chown((folder / "cache/tuner").c_str(), 12345, 12345), 0);
  for (const bool installed : {false, true}) EXPECT_THAT(exposure(installed).value_or(""), HasSubstr("somebody else"));
}

struct Claims : ::testing::Test {
  Claim claim(const char* what = "reduce n=1000") { return Claim("wisdom.db", what, disk); }
  MemoryDisk disk;
};

TEST_F(Claims, BelongToOneAtATimeAndAreAskedForOnceASecond) {
  std::optional<Claim> mine(std::in_place, "wisdom.db", "reduce n=1000", disk);
  EXPECT_TRUE(mine->take());
  EXPECT_TRUE(mine->take()) << "it is mine already";
  EXPECT_TRUE(claim("reduce n=2000").take()) << "another problem";
  Claim second = claim();
  EXPECT_FALSE(second.take());
  mine.reset();
  EXPECT_FALSE(second.take());
  disk.time += std::chrono::seconds(1);
  EXPECT_TRUE(second.take());
}

TEST_F(Claims, AreEverybodysWhereNoneCanBeKept) {
  disk.has_locks = false;
  Claim first = claim(), second = claim();
  EXPECT_TRUE(first.take() && second.take());
}

TEST(RealClaims, ExcludeEachOtherAndEndWithTheirProcessHoweverItEnds) {
  const TemporaryFolder folder;
  const fs::path database = folder / "wisdom.db";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = tuner::testing::start_child([&] {
    Claim claim(database, "reduce n=1000");
    const char taken = claim.take() ? 'y' : 'n';
    if (::write(ends[1], &taken, 1) != 1) return false;
    for (;;) ::pause();
  });
  char taken = 0;
  ASSERT_EQ(::read(ends[0], &taken, 1), 1);
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(taken, 'y');
  EXPECT_FALSE(Claim(database, "reduce n=1000").take());
  ::kill(child, SIGKILL);
  tuner::testing::wait_for(child);
  Claim mine(database, "reduce n=1000"), other(database, "reduce n=2000");
  EXPECT_TRUE(mine.take() && other.take());
  EXPECT_FALSE(Claim(database, "reduce n=1000").take()) << "of this process";
  EXPECT_FALSE(Claim(database, "reduce n=1000").take()) << "what another one closed gives nothing back";
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"wisdom.db.claims"});
  EXPECT_EQ(mode_of(folder / "wisdom.db.claims"), 0600u);
  EXPECT_TRUE(Claim(folder / "no such folder/wisdom.db", "reduce n=1000").take());
}

TEST(Paths, FollowTheFirstVariableThatIsSet) {
  const EnvironmentVariable home("HOME", "/home/ada");
  const EnvironmentVariable xdg("XDG_CACHE_HOME", "/xdg");
  {
    const EnvironmentVariable own("TUNER_CACHE_DIR", "/own");
    EXPECT_EQ(user_cache_dir(), "/own");
  }
  const EnvironmentVariable own("TUNER_CACHE_DIR", "");
  EXPECT_EQ(user_cache_dir(), "/xdg/tuner");
  EXPECT_EQ(user_database_file(), "/xdg/tuner/wisdom.db");
  const EnvironmentVariable relative("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(user_cache_dir(), "/home/ada/.cache/tuner");
}

TEST(Paths, AreAbsoluteWhereverTheWorkGoesOn) {
  const EnvironmentVariable own("TUNER_CACHE_DIR", "relative");
  EXPECT_EQ(user_cache_dir(), fs::current_path() / "relative");
}

TEST(Paths, OfTheInstallationFollowTheProgram) {
  const auto program = fs::read_symlink("/proc/self/exe");
  ASSERT_FALSE(installation_prefixes().empty());
  EXPECT_EQ(installation_prefixes().front(), program.parent_path().parent_path());
}

TEST(Paths, FindShippedDatabasesInOrderAndOnce) {
  const TemporaryFolder folder;
  for (const char* name : {"application/b.db", "application/a.db", "application/readme.txt", "one/c.db", "single.db",
                           "data/tuner/wisdom/d.db"}) {
    write_file(folder / name, "x");
  }
  const auto list = (folder / "application").string() + ":" + (folder / "one").string() +
                    "::" + (folder / "single.db").string() + ":" + (folder / "missing").string() + ":" +
                    (folder / "application").string();
  const EnvironmentVariable path("TUNER_DB_PATH", list);
  const EnvironmentVariable data("XDG_DATA_DIRS", (folder / "data").string());
  std::vector<fs::path> found;
  for (const auto& file : shipped_database_files()) {
    if (file.string().starts_with(fs::canonical(folder.path()).string())) found.push_back(file.filename());
  }
  EXPECT_THAT(found, ElementsAre("a.db", "b.db", "c.db", "single.db", "d.db"));
}

TEST(Paths, OfMissingFilesAreOnNoNetwork) { EXPECT_FALSE(on_network_file_system("/no/such/place")); }

/// While it lives, new files get no more permissions than it leaves.
class Umask {
 public:
  explicit Umask(::mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  ::mode_t before_;
};

TEST(Permissions, OfTheUsersDatabaseAreForTheUserAndThoseOfNamedFilesFollowTheUmask) {
  const TemporaryFolder folder;
  const EnvironmentVariable own("TUNER_CACHE_DIR", (folder / "own").string());
  for (const auto& [mask, mode, mode_of_folder, mode_of_frozen] :
       {std::tuple(0022u, 0644u, 0755u, 0444u), {0002u, 0664u, 0775u, 0444u}, {0077u, 0600u, 0700u, 0400u}}) {
    const Umask umask(mask);
    const fs::path place = folder / std::to_string(mask);
    auto users = Database::open_user(folder / "own/wisdom.db");
    EXPECT_EQ(mode_of(folder / "own/wisdom.db"), 0600u);
    EXPECT_EQ(mode_of(folder / "own"), 0700u);
    auto named = Database::open_user(place / "named.db", {.strict = true});
    store_best(named, session_key(), "block=1", 1);
    EXPECT_EQ(mode_of(place / "named.db"), mode);
    EXPECT_EQ(mode_of(place), mode_of_folder);
    write_text(place / "text.jsonl", export_wisdom(named));
    EXPECT_EQ(mode_of(place / "text.jsonl"), mode);
    freeze(named, place / "frozen.db");
    EXPECT_EQ(mode_of(place / "frozen.db"), mode_of_frozen);
  }
}

TEST(Permissions, ThatAreMissingAreNamedWithTheFileAndItsOwner) {
  const TemporaryFolder folder;
  const fs::path file = folder / "shared/named.db";
  { auto database = Database::open_user(file); }
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  Warnings warnings;
  const auto why = [&] { return error_of<CacheError>([&] { (void)Database::open_read_only(file); }); };
  for (const bool is_of_folder : {false, true}) {
    ASSERT_EQ(::chmod(file.c_str(), is_of_folder ? 0644 : 0600), 0);
    ASSERT_EQ(::chmod(file.parent_path().c_str(), is_of_folder ? 0700 : 0755), 0);
    const std::string named = (is_of_folder ? file.parent_path() : file).string() + " has mode " +
                              (is_of_folder ? "0700" : "0600") + " and belongs to root";
    ASSERT_EQ(::seteuid(65534), 0);
    EXPECT_THAT(why(), HasSubstr(named));
    EXPECT_FALSE(Database::open_shipped(file, warnings.options()));
    EXPECT_THAT(warnings.texts.back(), HasSubstr(named));
    EXPECT_THAT(error_of<CacheError>([&] { (void)read_text(file); }), HasSubstr(named));
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_EQ(::chmod(file.parent_path().c_str(), 0755), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  EXPECT_THAT(error_of<CacheError>([&] { (void)Database::open_user(file, {.strict = true}); }),
              HasSubstr("named.db has mode 0644 and belongs to root"));
  EXPECT_THAT(error_of<CacheError>([&] { write_text(file.parent_path() / "text", "x"); }),
              HasSubstr("shared has mode 0755 and belongs to root"));
  ASSERT_EQ(::seteuid(0), 0);
}

TEST(Parts, OfKilledWritersAreRemovedAndThoseOfWritersAreNot) {
  const TemporaryFolder folder;
  const std::string uuid = "01234567-89ab-cdef-0123-456789abcdef";
  const auto make = [&](const std::string& name, std::chrono::minutes age) {
    folder.write(name, "x");
    fs::last_write_time(folder / name, fs::last_write_time(folder / name) - age);
    return folder / name;
  };
  using std::chrono::minutes;
  make("job.db.part-" + uuid, minutes(1));
  make("other.part-" + uuid, minutes(1));
  make("new.part-" + uuid, minutes(0));
  make("mine.part-of-it", minutes(100));
  std::shared_ptr<void> writing;
  ASSERT_EQ(real_disk().lock(make("locked.part-" + uuid, minutes(1)), 0, writing), Disk::Lock::taken);
  write_text(folder / "text", "x");
  EXPECT_THAT(names_in(folder.path()),
              ElementsAre("locked.part-" + uuid, "mine.part-of-it", "new.part-" + uuid, "text"));
}

}  // namespace
}  // namespace tuner::cache::test
