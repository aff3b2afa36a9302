// Processes of one job agree on configurations: by a frozen database, and on who tunes where nothing is known.

#include <signal.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include <cache/exchange/shipping.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/session.hpp>
#include <cache/query/shipped.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>

#include <tests/support/child_process.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/wait_until.hpp>

#include <tests/runtime/serving_environment.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

/// Doubles, and answers -1 with its configuration; random inputs are never -1.
constexpr const char* kTelling = R"(
#pragma tuner kernel telling
#pragma tuner size n
#pragma tuner parameter block = 32 64 96 128
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
#pragma tuner arguments x, y, n
#pragma tuner instantiate telling
#pragma tuner reference telling
#pragma tuner default block=32
__global__ void telling(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] == -1.0f ? blockDim.x : 2 * x[i];
}
)";

using Environment = std::map<std::string, std::string>;

/// A program of the job; killed when it is still there in the end.
class Process {
 public:
  /// \p command: variables, program and arguments.
  Process(const std::string& command, const fs::path& out)
      : pid_(testing::start_child([&] {
          const std::string line = "exec env " + command + " >" + out.string() + " 2>" + out.string() + ".err";
          return ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr) == 0;
        })),
        out_(out) {}
  ~Process() {
    if (pid_ <= 0) return;
    signal(SIGKILL);
    (void)wait();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) { ::kill(pid_, number); }
  /// Exit code; 128 + signal when it was killed.
  int wait() {
    const int status = testing::wait_for(std::exchange(pid_, -1));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  /// What it printed, sorted by lines.
  std::set<std::string> picks() const {
    std::set<std::string> lines;
    std::ifstream text(out_);
    for (std::string line; std::getline(text, line);) lines.insert(line);
    return lines;
  }
  std::string err() const { return testing::read_file(out_.string() + ".err"); }

 private:
  pid_t pid_;
  const fs::path out_;
};

class Agreement : public ::testing::Test {
 protected:
  /// One with \p cache for its cache folder and \p more in its environment.
  std::unique_ptr<Process> start(const std::string& cache, std::vector<std::string> arguments, Environment more = {}) {
    Environment environment{{"TUNER_CACHE_DIR", (folder_ / cache).string()},
                            {"TUNER_DB_PATH", ""},
                            {"TUNER_FROZEN", ""},
                            {"TUNER_DEVICE", "host"},
                            {"TUNER_TUNE", "on_first_use"},
                            {"TUNER_TUNE_TIME", "120"}};  // the space ends long before, on any machine
    for (const auto& [name, value] : more) environment[name] = value;
    std::string command;
    for (const auto& [name, value] : environment) command += name + "='" + value + "' ";
    const bool explains = !arguments.empty() && arguments[0] == "--explain";
    arguments.insert(arguments.begin() + (explains ? 1 : 0), kernel_.string());
    command += PICKS_PROGRAM;
    for (const std::string& argument : arguments) command += ' ' + argument;
    return std::make_unique<Process>(command, folder_ / ("out" + std::to_string(++started_)));
  }

  /// One that is stopped while it tunes for size 1000. \p cache becomes its cache folder: one that ended its tuning
  /// before is forgotten.
  std::unique_ptr<Process> start_and_stop(std::string& cache);

  /// The environment of a job whose frozen database holds \p source.
  Environment frozen(cache::Database& source) {
    cache::freeze(source, folder_ / "job.db");
    return {{"TUNER_FROZEN", (folder_ / "job.db").string()}};
  }

  /// The picks of two processes of such a job, which call \p sizes forth and back and must agree.
  std::set<std::string> picks_in_either_order(cache::Database& source, const std::vector<std::string>& sizes) {
    const auto forth = start("forth", sizes, frozen(source));
    const auto back = start("back", {sizes.rbegin(), sizes.rend()}, frozen(source));
    EXPECT_EQ(forth->wait(), 0) << forth->err();
    EXPECT_EQ(back->wait(), 0) << back->err();
    EXPECT_EQ(forth->picks(), back->picks());
    return forth->picks();
  }

  cache::Database database(const std::string& cache) {
    return cache::Database::open_user(folder_ / cache / "wisdom.db");
  }

  cache::Context problem_of(std::int64_t n) {
    static const Device device = choose_device("host").device;
    const KernelSpec spec = read_kernel_file(kernel_.string());
    return context_of(spec, complete(spec, {{{"n", n}}, {}}), device, {});
  }

  /// Stores that \p block is best for \p n on this machine.
  void know(cache::Database& database, std::int64_t n, int block) {
    testing::store_best(database, problem_of(n), "block=" + std::to_string(block));
  }

  /// Stores that \p block killed its process for \p n on this machine.
  void quarantine(cache::Database& database, std::int64_t n, int block) {
    const cache::Context about = problem_of(n);
    database.quarantine(about.device, about.kernel, about.problem, "block=" + std::to_string(block), "it hung");
  }

  const testing::TemporaryFolder folder_;
  const fs::path kernel_ = folder_.write("telling.cu", kTelling);
  int started_ = 0;
};

TEST_F(Agreement, OfEightProcessesByAFrozenDatabaseWhateverTheirMachinesKnow) {
  auto source = cache::Database::in_memory();
  const std::vector<std::int64_t> sizes{100, 1000, 1001, 1500, 30'000, 1'000'000};
  know(source, 1000, 64);
  know(source, 1001, 96);
  know(source, 30'000, 128);
  Environment environment = frozen(source);
  std::vector<std::unique_ptr<Process>> job;
  for (int rank = 0; rank < 8; ++rank) {
    const std::string cache = "machine" + std::to_string(rank);
    {
      auto own = database(cache);
      for (const std::int64_t n : sizes) know(own, n, 32 * (1 + rank % 4));
    }
    std::vector<std::string> arguments{"--explain"};
    for (const std::int64_t n : sizes) arguments.push_back(std::to_string(n));
    environment["TUNER_DB_PATH"] = (folder_ / cache).string();
    job.push_back(start(cache, arguments, environment));
  }
  for (const auto& one : job) ASSERT_EQ(one->wait(), 0) << one->err();
  EXPECT_EQ(job[0]->picks().size(), sizes.size());
  EXPECT_THAT(job[0]->picks(), IsSupersetOf({StartsWith("1000 block=64 "), StartsWith("1001 block=96 "),
                                             StartsWith("30000 block=128 ")}));
  for (const auto& one : job) EXPECT_EQ(one->picks(), job[0]->picks());
}

TEST_F(Agreement, ByAFrozenDatabaseDoesNotDependOnWhichSizeWasCalledFirst) {
  auto source = cache::Database::in_memory();
  know(source, 1000, 64);  // of one size class, with 1001
  know(source, 1001, 96);
  EXPECT_THAT(picks_in_either_order(source, {"1000", "1001", "1010", "960"}),
              IsSupersetOf({"1000 block=64", "1001 block=96"}));
}

TEST_F(Agreement, ByAFrozenDatabaseServesNothingThatIsInQuarantineForPartOfASizeClass) {
  auto source = cache::Database::in_memory();
  know(source, 980, 64);
  quarantine(source, 2010, 64);  // and so from 1005 on, which is of the class of 980
  EXPECT_EQ(picks_in_either_order(source, {"970", "1020"}), (std::set<std::string>{"1020 block=32", "970 block=64"}));
}

TEST_F(Agreement, ByAFrozenDatabaseTunesAndRemembersNothing) {
  auto source = cache::Database::in_memory();
  know(source, 1000, 64);
  const auto one = start("machine", {"100000"}, frozen(source));
  ASSERT_EQ(one->wait(), 0) << one->err();
  EXPECT_EQ(one->picks(), std::set<std::string>{"100000 block=64"}) << "the best anywhere";
  EXPECT_FALSE(fs::exists(folder_ / "machine" / "wisdom.db"));
}

TEST_F(Agreement, OfEightProcessesOnWhoTunesWhatNobodyKnows) {
  std::vector<std::unique_ptr<Process>> job;
  for (int rank = 0; rank < 8; ++rank) job.push_back(start("shared", {"1000", "30000"}));
  for (const auto& one : job) EXPECT_EQ(one->wait(), 0) << one->err();
  auto shared = database("shared");
  const auto sessions = cache::sessions(shared);
  EXPECT_EQ(sessions.size(), 2u) << "one for each problem";
  for (const cache::SessionRecord& one : sessions) {
    EXPECT_TRUE(one.finished_ms.has_value());
    EXPECT_EQ(one.origin, "first use");
  }
  std::set<std::string> best;
  for (const cache::BestRecord& one : cache::best_rows(shared))
    best.insert(std::to_string(one.problem.sizes.at("n")) + ' ' + one.configuration);
  EXPECT_EQ(best.size(), 2u);
  for (const auto& one : job) EXPECT_EQ(one->picks(), best);
}

/// Waits until the file \p name is opened, if only for a moment.
class Opened {
 public:
  explicit Opened(const fs::path& name) { ::inotify_add_watch(events_, name.c_str(), IN_OPEN); }
  ~Opened() { ::close(events_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  bool wait() const {
    return testing::wait_until([&] {
      char event[sizeof(inotify_event) + NAME_MAX + 1];
      return ::read(events_, event, sizeof event) > 0;
    });
  }

 private:
  const int events_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
};

/// Stops \p one while it tunes: after its first trial, and not in the middle of a commit, which others wait for.
/// Returns false if it has ended its tuning before.
bool stop_while_it_tunes(Process& one, const fs::path& file) {
  bool tunes = false;
  EXPECT_TRUE(testing::wait_until([&] {
    if (!fs::exists(file)) return false;
    one.signal(SIGSTOP);
    try {
      SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
      db.exec("BEGIN IMMEDIATE");
      const bool begun = db.execAndGet("SELECT count(*) FROM trial").getInt() > 0;
      tunes = begun && db.execAndGet("SELECT count(*) FROM best").getInt() == 0;
      db.exec("ROLLBACK");
      if (tunes) return true;
      if (begun) return one.signal(SIGCONT), true;
    } catch (const SQLite::Exception&) {
    }
    one.signal(SIGCONT);
    return false;
  })) << one.err();
  return tunes;
}

std::unique_ptr<Process> Agreement::start_and_stop(std::string& cache) {
  std::unique_ptr<Process> tuner;
  do {
    cache = "shared" + std::to_string(++started_);
    tuner = start(cache, {"1000"});
  } while (!stop_while_it_tunes(*tuner, folder_ / cache / "wisdom.db") && !HasFailure());
  return tuner;
}

TEST_F(Agreement, OutlivesTheProcessThatTunes) {
  std::string cache;
  const auto tuner = start_and_stop(cache);
  std::vector<std::unique_ptr<Process>> others;
  for (int i = 0; i < 2; ++i) {
    const Opened claims(folder_ / cache / "wisdom.db.claims");
    others.push_back(start(cache, {"1000"}));
    ASSERT_TRUE(claims.wait()) << others.back()->err();  // it asks for the claim, or the other one asks again
  }
  {
    auto shared = database(cache);
    ASSERT_TRUE(cache::best_rows(shared).empty());
    ASSERT_EQ(cache::sessions(shared).size(), 1u) << "they wait";
  }
  tuner->signal(SIGKILL);
  EXPECT_EQ(tuner->wait(), 128 + SIGKILL);
  for (const auto& one : others) EXPECT_EQ(one->wait(), 0) << one->err();
  auto shared = database(cache);
  const auto sessions = cache::sessions(shared);
  ASSERT_EQ(sessions.size(), 2u) << "one took over";
  EXPECT_EQ(sessions[0].finished_ms.has_value() + sessions[1].finished_ms.has_value(), 1);
  ASSERT_EQ(cache::best_rows(shared).size(), 1u);
  for (const auto& one : others)
    EXPECT_EQ(one->picks(), std::set<std::string>{"1000 " + cache::best_rows(shared)[0].configuration});
}

TEST_F(Agreement, IsNotWaitedForWithoutEnd) {
  std::string cache;
  const auto tuner = start_and_stop(cache);
  const auto other = start(cache, {"1000", "1000"}, {{"TUNER_TUNE_TIME", "0.1"}});
  EXPECT_EQ(other->wait(), 0) << other->err();
  EXPECT_EQ(other->picks(), std::set<std::string>{"1000 block=32"}) << "the default";
  auto shared = database(cache);
  EXPECT_EQ(cache::sessions(shared).size(), 1u);
}

TEST_F(Agreement, IsEachProcesssOwnWhereNothingCanBeShared) {
  folder_.write("blocked", "a file where the cache folder should be");
  const auto one = start("blocked", {"1000"}, {{"TUNER_TUNE_TIME", "0.1"}});
  EXPECT_EQ(one->wait(), 0) << one->err();
  EXPECT_EQ(one->picks().size(), 1u);
}

}  // namespace
}  // namespace tuner
