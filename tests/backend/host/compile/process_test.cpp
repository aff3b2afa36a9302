// Programs that the backend starts, and its folders: what becomes of them when anybody is killed.

#include <signal.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include <tests/support/child_process.hpp>
#include <tests/support/environment_variable.hpp>
#include <tests/support/wait_until.hpp>
#include <tuner/backend/host/compile/process.hpp>

#include <tests/backend/host/host_fixture.hpp>

namespace tuner::host_test {
namespace {

using testing::is_alive;
using testing::start_child;
using testing::wait_for;
using testing::wait_until;

/// The number in \p file, once there is a whole line.
pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  EXPECT_TRUE(wait_until([&] {
    std::ifstream text(file);
    std::string line;
    return std::getline(text, line) && !text.eof() && (pid = std::stoi(line)) > 0;
  }));
  return pid;
}

TEST(HostProcess, CollectsOutputAndExitCode) {
  const host::ProcessResult result =
      host::run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"}, {.timeout_s = 10});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.output, AllOf(HasSubstr("out"), HasSubstr("err")));
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.error, "");
}

TEST(HostProcess, AsksForMessagesInEnglish) {
  const testing::EnvironmentVariable variable("LC_ALL", "de_DE.UTF-8");
  EXPECT_EQ(host::run_process({"/bin/sh", "-c", "echo $LC_ALL"}, {.timeout_s = 10}).output, "C\n");
}

TEST(HostProcess, GivesWayToOthersOnlyInTheBackground) {
  const int here = ::getpriority(PRIO_PROCESS, 0);
  if (here > 0) GTEST_SKIP() << "this process gives way already";
  EXPECT_EQ(std::stoi(host::run_process({"nice"}, {}).output), here);
  EXPECT_EQ(std::stoi(host::run_process({"nice"}, {.in_background = true}).output), 10);
}

TEST(HostProcess, RunsAProgramWithFewDescriptors) {
  const int status = wait_for(start_child([] {
    const rlimit few{16, 16};
    return ::setrlimit(RLIMIT_NOFILE, &few) == 0 && host::run_process({"true"}, {}).exit_code == 0;
  }));
  EXPECT_EQ(status, 0);
}

TEST(HostProcess, SaysWhyAProgramCannotBeStarted) {
  EXPECT_THAT(host::run_process({"/no/such/program"}, {}).error, HasSubstr("No such file"));
  const TemporaryFolder folder;
  const std::filesystem::path script = folder.write("script", "#!/no/such/interpreter\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  EXPECT_THAT(host::run_process({script.string()}, {}).error, HasSubstr("No such file"));
}

TEST(HostProcess, TellsAProgramWhereItsTemporaryFilesGo) {
  EXPECT_EQ(host::run_process({"/bin/sh", "-c", "echo $TMPDIR"}, {.temporary_directory = "/some/where"}).output,
            "/some/where\n");
}

TEST(HostProcess, EndsWhatAProgramLeavesRunning) {
  const host::ProcessResult result =
      host::run_process({"/bin/sh", "-c", "sleep 600 > /dev/null 2>&1 & echo $!"}, {.timeout_s = 60});
  EXPECT_EQ(result.exit_code, 0);
  const pid_t left = std::stoi(result.output);
  EXPECT_TRUE(wait_until([left] { return !is_alive(left); }));
}

TEST(HostProcess, TellsTheExitCodeAlsoToACallerThatIgnoresItsChildren) {
  const auto before = ::signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(host::run_process({"/bin/sh", "-c", "exit 3"}, {}).exit_code, 3);
  EXPECT_EQ(host::run_process({"/bin/true"}, {}).exit_code, 0);
  EXPECT_EQ(host::run_process({"/bin/sh", "-c", "kill -11 $$"}, {}).exit_code, 128 + SIGSEGV);
  ::signal(SIGCHLD, before);
}

TEST(HostProcess, EndsAProgramWhenItIsToldToStop) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  std::atomic<bool> stop = false;
  host::ProcessResult result;
  std::thread caller([&] {
    result = host::run_process({"/bin/sh", "-c", "sleep 600 & echo $! > " + file + "; wait"}, {.stop = &stop});
  });
  const pid_t started = pid_in(file);
  stop = true;
  caller.join();
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(wait_until([started] { return !is_alive(started); }));
}

TEST(HostProcess, IsOutlivedByNothingWhenItsCallerIsKilled) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "pid").string();
  const pid_t caller = start_child([&] {
    return host::run_process({"/bin/sh", "-c", "sleep 600 & echo $! > " + file + "; wait"}, {}).exit_code == 0;
  });
  const pid_t started = pid_in(file);
  EXPECT_TRUE(is_alive(started));
  kill(caller, SIGKILL);
  wait_for(caller);
  EXPECT_TRUE(wait_until([started] { return !is_alive(started); }));
}

class HostPrivateDirectory : public ::testing::Test {
 protected:
  const TemporaryFolder folder_;
  const testing::EnvironmentVariable variable_{"TMPDIR", folder_.path().string()};
};

TEST_F(HostPrivateDirectory, IsRemovedWithItsOwner) {
  std::filesystem::path path;
  {
    const host::PrivateDirectory directory;
    path = directory.path();
    EXPECT_EQ(path.parent_path(), folder_.path());
    testing::write_file(path / "file", "text");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(HostPrivateDirectory, IsRemovedByOthersOnlyOnceItsOwnerIsDead) {
  const host::PrivateDirectory alive;
  wait_for(start_child([] {
    testing::write_file((new host::PrivateDirectory)->path() / "file", "text");
    return raise(SIGKILL) == 0;
  }));
  const auto folders = [this] {
    return std::distance(std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator());
  };
  EXPECT_EQ(folders(), 2);
  host::PrivateDirectory::remove_abandoned(folder_.path());
  EXPECT_EQ(folders(), 1);
  EXPECT_TRUE(std::filesystem::exists(alive.path() / "tuner.lock"));
}

TEST_F(HostPrivateDirectory, IsRemovedByOthersIfItIsOldAndNothingIsInIt) {
  const std::filesystem::path young = folder_.path() / "tuner-host-young", old = folder_.path() / "tuner-host-aged00",
                              full = folder_.path() / "tuner-host-full00";
  for (const std::filesystem::path& one : {young, old, full}) std::filesystem::create_directory(one);
  testing::write_file(full / "file", "text");
  const auto hours_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(2);
  for (const std::filesystem::path& one : {old, full}) std::filesystem::last_write_time(one, hours_ago);
  host::PrivateDirectory::remove_abandoned(folder_.path());
  EXPECT_TRUE(std::filesystem::exists(young));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(full / "file"));
}

TEST_F(HostPrivateDirectory, IsNotRemovedByAForkedChildThatDestroysIt) {
  std::optional<host::PrivateDirectory> directory(std::in_place);
  const std::filesystem::path path = directory->path();
  EXPECT_EQ(wait_for(start_child([&] { return directory.reset(), true; })), 0);
  EXPECT_TRUE(std::filesystem::exists(path / "tuner.lock"));
}

TEST_F(HostPrivateDirectory, IsRemovedWhenItsProcessExitsWithoutDestroyingIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // another process, whose folders are in this one's
  EXPECT_EXIT(
      {
        (void)new host::PrivateDirectory;
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("tuner-host-")) << entry.path();
}

TEST_F(HostPrivateDirectory, LeavesAloneWhatIsNotMarkedAsOurs) {
  const std::filesystem::path users = folder_.path() / "tuner-host-99999999-notes",
                              file = folder_.path() / "tuner-host-1";
  testing::write_file(users / "notes.txt", "keep me");
  testing::write_file(users / "tuner.lock", "another text");
  testing::write_file(file, "a file");
  const host::PrivateDirectory abandoned;
  std::filesystem::create_directory_symlink(users, folder_.path() / "tuner-host-link");
  host::PrivateDirectory::remove_abandoned(folder_.path());
  EXPECT_TRUE(std::filesystem::exists(users / "notes.txt"));
  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.path() / "tuner-host-link"));
}

}  // namespace
}  // namespace tuner::host_test
