// The real `tune-mpi` under mpirun: ranks on this host, on the host backend.

#include <unistd.h>

#include <csignal>
#include <filesystem>

#include <tests/cli/commands/program.hpp>
#include <tests/support/wait_until.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

class MpiProgram : public ProgramTest {
 protected:
  MpiProgram() {
    compile_anew();
    // In a container the tests are root, and have fewer cores than ranks.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe", "PRTE_ALLOW_RUN_AS_ROOT"})
      set(name, "1");
  }
  void SetUp() override {
    if (shell("command -v mpirun").code != 0) GTEST_SKIP() << "needs mpirun";
  }

  Started start_job(const std::string& arguments) {
    return start_shell("exec mpirun -n 2 \"${TUNE}-mpi\" " + arguments);
  }
  Finished job(const std::string& arguments) { return start_job(arguments).finish(); }

  /// The process that is \p rank of this test's job; 0 while there is none.
  pid_t process_of_rank(int rank) const {
    const std::string ours = "TUNER_CACHE_DIR=" + cache().string();
    const std::string number = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename().string();
      if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
      if (contents(entry.path() / "comm") != "tune-mpi\n") continue;
      const std::string environment = '\0' + contents(entry.path() / "environ");
      const auto has = [&](const std::string& what) {
        return environment.find('\0' + what + '\0') != std::string::npos;
      };
      if (has(ours) && has(number)) return std::stoi(pid);
    }
    return 0;
  }
};

std::size_t lines_of(const fs::path& file) {
  const std::string text = contents(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(MpiProgram, TunesOnTheDevicesOfAllRanksAndSpeaksWithOneVoice) {
  const Finished run = job("--kernel " + small_kernel() + " --strategy exhaustive --budget 100% --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto document = nlohmann::json::parse(run.out);
  const auto& result = document.at("results").at(0);
  EXPECT_EQ(result.at("outcomes").at("ok"), 8);
  ASSERT_EQ(result.at("lanes").size(), 2u);
  EXPECT_THAT(result["lanes"][1].at("name").get<std::string>(), HasSubstr("rank 1 ("));
  EXPECT_GE(result["lanes"][1].at("offset").get<double>(), 0.0);
  EXPECT_EQ(result.at("best").at("lane"), 1);

  const Finished again = job("--kernel " + small_kernel() + " --json");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(nlohmann::json::parse(again.out).at("results").at(0).at("from_cache").get<bool>());
  set("TERM", "xterm");
  const Finished answer = job("--kernel " + small_kernel());  // into a file, though mpirun gives it a terminal
  EXPECT_THAT(answer.out, HasSubstr("best  block="));
  EXPECT_THAT(answer.out, Not(HasSubstr("\x1b")));
}

TEST_F(MpiProgram, LeavesCommandsThatMeasureNothingToTheFirstRank) {
  const Finished list = job("list");
  EXPECT_EQ(list.code, 0) << list.err;
  const std::size_t at = list.out.find("sumMatrix2D");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(list.out.find("sumMatrix2D", at + 1), std::string::npos) << "said twice";
}

TEST_F(MpiProgram, EndsAllRanksWithTheErrorOfTheFirst) {
  const Finished run = job("--kernel nosuch");
  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, HasSubstr("nosuch"));
}

TEST_F(MpiProgram, NamesARankWithoutAWorkerProgram) {
  const std::string job = "exec mpirun -n 1 \"${TUNE}-mpi\" --kernel " + small_kernel() +
                          " : -n 1 -x TUNER_WORKER=/nosuch/worker \"${TUNE}-mpi\" --kernel x";
  const Finished run = start_shell(job).finish();
  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, Holds("rank 1 on ", "/nosuch/worker"));
}

TEST_F(MpiProgram, RefusesDevicesByTheirNumbers) {
  const Finished run = job("--kernel " + small_kernel() + " --device 0,1");
  EXPECT_NE(run.code, 0);
  EXPECT_THAT(run.err, HasSubstr("each rank of a job has its own device"));
}

TEST_F(MpiProgram, KeepsWhatWasMeasuredWhenARankIsKilledAndContinuesFromThere) {
  const fs::path log = folder() / "log.jsonl";
  const std::string what = "--kernel sumMatrix2D --size nx=64,ny=64 --strategy random --seed 3 ";
  Started killed = start_job(what + "--budget 200s --log " + log.string());
  ASSERT_TRUE(testing::wait_until([&] { return lines_of(log) >= 6; })) << killed.err();
  const pid_t rank = process_of_rank(1);
  ASSERT_GT(rank, 0);
  ::kill(rank, SIGKILL);
  EXPECT_NE(killed.finish().code, 0);

  const Finished run = job(what + "--trials 40 --json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto result = nlohmann::json::parse(run.out).at("results").at(0);
  EXPECT_GE(result.at("resumed").get<std::size_t>(), 5u);
  EXPECT_FALSE(result.at("best").is_null());
}

}  // namespace
}  // namespace tuner::cli
