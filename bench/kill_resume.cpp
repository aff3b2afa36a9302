// Kills `tune` (SIGKILL) at random moments of many tunings and starts it again. Its workers must notice by themselves.
// After every kill it checks:
//   - The database is sound (all checks of `tune db check`) and opens without a warning.
//   - Every trial that a reader of the database has ever seen is still there, unchanged.
//   - The next run repeats no stored trial.
//   - No worker outlives its session for long.
// At the end of every tuning it checks that each valid configuration was tried and one of them is stored as the best.
// Prints the ratio of the time of this best to that of an undisturbed tuning. The ratio depends on the other work of
// the machine. After the end of a tuning, the next one is for another problem in the same database.
//
//   kill_resume [--kills 200] [--seed 1] [--longest MS] [--tune PROGRAM] [--kernel FILE] [--keep]
//
// Runs on the host backend in a scratch folder. Exit status 0 when all checks hold.

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bench/options.hpp>
#include <bench/processes.hpp>

#include <cache/query/browse.hpp>
#include <cache/query/database.hpp>
#include <cache/query/session.hpp>

#include <tuner/core/kernel_file/kernel_file.hpp>

extern char** environ;

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tuner::cache::Database;

struct Options {
  std::size_t kills = 200;
  std::uint64_t seed = 1;
  int longest_ms = 1200;  ///< kills come at most this long after the start
  fs::path tune = fs::path(TUNER_BINARY_DIR) / "bin" / "tune";
  fs::path kernel = fs::path(TUNER_SOURCE_DIR) / "bench/data/steps.cu";
  bool keep = false;  ///< keep the scratch folder
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv,
               {{"--kills", bench::into(options.kills)},
                {"--seed", bench::into(options.seed)},
                {"--longest", bench::into(options.longest_ms, 1, 1'000'000)},
                {"--tune", bench::into(options.tune)},
                {"--kernel", bench::into(options.kernel)}},
               {{"--keep", &options.keep}});
  options.kernel = fs::absolute(options.kernel);
  return options;
}

bool has_text(const fs::path& file) {
  std::error_code missing;
  const auto bytes = fs::file_size(file, missing);
  return !missing && bytes > 0;
}

/// Whether \p child, which is not reaped, has ended. One that finds nothing left to try writes no log.
bool has_ended(pid_t child) {
  siginfo_t ended{};
  return ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0;
}

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Identifies a trial.
struct Row {
  std::string configuration, kind;
  double median_ns = 0;
  std::int64_t created_ms = 0;
  friend bool operator==(const Row&, const Row&) = default;
};
using Place = std::pair<std::string, std::size_t>;  // session's uuid, position in it
using Rows = std::map<Place, Row>;

/// The trials of problem n = \p size.
Rows rows_of(Database& database, std::int64_t size) {
  Rows rows;
  for (const auto& session : tuner::cache::sessions(database)) {
    const auto n = session.key.problem.sizes.find("n");
    if (n == session.key.problem.sizes.end() || n->second != size) continue;
    const auto trials = tuner::cache::session_trials(database, session.uuid);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const auto& trial = trials[i];
      rows[{session.uuid, i}] = {trial.configuration, trial.kind, trial.median_ns, trial.created_ms};
    }
  }
  return rows;
}

std::set<std::string> configurations(const Rows& rows) {
  std::set<std::string> all;
  for (const auto& [place, row] : rows) all.insert(row.configuration);
  return all;
}

/// Configurations in a --log file, in order. Ignores a line that the kill cut short.
std::vector<std::string> logged(const fs::path& file) {
  std::vector<std::string> all;
  std::ifstream log(file);
  for (std::string line; std::getline(log, line);) {
    const auto trial = nlohmann::json::parse(line, nullptr, false);
    if (!trial.is_discarded()) all.push_back(trial.at("configuration_text"));
  }
  return all;
}

class Ordeal {
 public:
  explicit Ordeal(Options options) : options_(std::move(options)), random_(options_.seed) {
    ::setenv("TUNER_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    ::setenv("TUNER_DB_PATH", "", 1);
    // Orphaned workers become children of this process, so it learns when they end.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }

  int run() {
    undisturbed();
    while (kills_ < options_.kills) {
      ++tunings_;
      while (kills_ < options_.kills && !killed_run()) continue;
      finish_tuning();
      ++size_;
    }
    report();
    return failures_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  template <typename... Arguments>
  void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    ++failures_;
    fmt::print("kill {}, n={}: {}\n", kills_, size_, fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  fs::path log() const { return folder_ / fmt::format("run{}.jsonl", runs_); }
  fs::path output() const { return folder_ / fmt::format("run{}.txt", runs_); }

  pid_t start(const fs::path& database) {
    ++runs_;
    std::vector<std::string> texts{
        options_.tune, "--kernel",   options_.kernel, "--device", "host", "--size", fmt::format("n={}", size_),
        "--strategy",  "exhaustive", "--budget",      "1h",       "--as", "hot",    "--quiet",
        "--db",        database,     "--log",         log()};
    std::vector<char*> arguments;
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 1, output().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::posix_spawn_file_actions_adddup2(&files, 1, 2);
    pid_t child = -1;
    const int error = ::posix_spawn(&child, options_.tune.c_str(), &files, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) throw std::system_error(error, std::generic_category(), options_.tune.string());
    return child;
  }

  /// The exit status, as waitpid() returns it, of a run that is not killed.
  int wait_for(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status;
  }

  std::string said() const {
    std::ifstream file(output());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// The user's database as the next process opens it. A warning means that something is broken.
  Database open() {
    tuner::cache::OpenOptions options;
    options.warn = [this](const std::string& warning) { fail("the database warns: {}", warning); };
    return Database::open_user(database_, options);
  }

  /// The best known configuration of the present problem; empty when there is none.
  std::string best(const fs::path& file) {
    Database database = Database::open_user(file);
    for (const auto& row : tuner::cache::best_rows(database))
      if (row.problem.sizes.at("n") == size_) return row.configuration;
    return {};
  }

  void undisturbed() {
    const fs::path database = folder_ / "undisturbed.db";
    const auto begin = Clock::now();
    const int status = wait_for(start(database));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("tune fails by itself: " + said());
    expected_ = best(database);
    {
      Database reader = Database::open_user(database);
      for (const auto& [place, row] : rows_of(reader, size_))
        if (row.kind == "ok") undisturbed_ns_[row.configuration] = row.median_ns;
    }
    valid_ = undisturbed_ns_.size();
    fmt::print("undisturbed: {:.1f} s, {} configurations, best {}\n", milliseconds_since(begin) / 1e3, valid_,
               expected_);
    if (expected_.empty() || valid_ == 0) throw std::runtime_error("an undisturbed tuning found nothing: " + said());
  }

  /// One run that is killed after a random time. Returns true if it ended before.
  bool killed_run() {
    const std::chrono::milliseconds delay(std::uniform_int_distribution<int>(0, options_.longest_ms)(random_));
    const std::set<std::string> stored = configurations(acknowledged_[size_]);
    const auto begin = Clock::now();
    const pid_t child = start(database_);
    // Half of the kills count from the start, half from the run's first trial, so that slow machines also get further.
    const bool from_first_trial = std::bernoulli_distribution(0.5)(random_);
    // A separate thread, so that the moment does not depend on when the reader gets the database.
    std::atomic<bool> killed = false;
    std::thread killer([&] {
      while (from_first_trial && !has_text(log()) && !has_ended(child)) std::this_thread::sleep_for(2ms);
      std::this_thread::sleep_until(from_first_trial ? Clock::now() + delay / 2 : begin + delay);
      ::kill(child, SIGKILL);  // not reaped yet, so the id is still valid
      killed = true;
    });
    while (!killed) {
      std::this_thread::sleep_for(30ms);
      acknowledge();
    }
    killer.join();
    const int status = wait_for(child);
    const bool ended = WIFEXITED(status);
    if (ended && WEXITSTATUS(status) != 0) fail("tune ended with {}: {}", WEXITSTATUS(status), said());
    if (!ended) ++kills_;
    check_repeats(stored);
    check_database(!ended);
    await_workers();
    return ended;
  }

  /// Remembers what a reader sees now.
  void acknowledge() {
    if (!fs::exists(database_)) return;
    Database database = open();
    check_kept(rows_of(database, size_));
  }

  /// \p rows, the present ones, must contain all that were seen before.
  void check_kept(Rows rows) {
    for (const auto& [place, row] : acknowledged_[size_]) {
      const auto found = rows.find(place);
      if (found == rows.end())
        fail("lost: {} of session {}", row.configuration, place.first);
      else if (!(found->second == row))
        fail("changed: {} of session {}", row.configuration, place.first);
    }
    acknowledged_[size_] = std::move(rows);
  }

  void check_repeats(const std::set<std::string>& stored) {
    for (const std::string& configuration : logged(log())) {
      ++trials_run_;
      if (stored.contains(configuration)) fail("repeated, although it was stored: {}", configuration);
    }
  }

  void check_database(bool killed) {
    if (!fs::exists(database_)) return;
    Database database = open();
    for (const std::string& finding : tuner::cache::doctor(database)) fail("doctor: {}", finding);
    for (auto& [size, rows] : acknowledged_)
      if (size != size_ && rows_of(database, size) != rows) fail("trials of n={} changed", size);
    check_kept(rows_of(database, size_));
    if (!killed) return;
    const std::set<std::string> stored = configurations(acknowledged_[size_]);
    std::size_t lost = 0;
    for (const std::string& configuration : logged(log())) lost += stored.contains(configuration) ? 0 : 1;
    lost_ += lost;
    most_lost_ = std::max(most_lost_, lost);
  }

  /// Reaps orphans until there are none.
  void await_workers() {
    const auto begin = Clock::now();
    for (;;) {
      const pid_t one = ::waitpid(-1, nullptr, WNOHANG);
      if (one < 0) break;
      if (one > 0) continue;
      if (Clock::now() - begin > 20min) return fail("workers live on for more than 20 minutes");
      std::this_thread::sleep_for(2ms);
    }
    longest_wait_ms_ = std::max(longest_wait_ms_, milliseconds_since(begin));
  }

  /// Lets the tuning end and checks all of it.
  void finish_tuning() {
    const std::set<std::string> stored = configurations(acknowledged_[size_]);
    const int status = wait_for(start(database_));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("the last run failed: {}", said());
    check_repeats(stored);
    check_database(false);
    await_workers();
    const Rows& rows = acknowledged_[size_];
    if (configurations(rows).size() != valid_)
      fail("{} configurations tried of {}", configurations(rows).size(), valid_);
    for (const auto& [place, row] : rows)
      if (row.kind != "ok") fail("a kill became a trial: {} {}", row.configuration, row.kind);
    judge_best(best(database_));
  }

  void judge_best(const std::string& found) {
    const auto known = undisturbed_ns_.find(found);
    if (known == undisturbed_ns_.end()) return fail("the best is '{}', which no tuning tried", found);
    worst_best_ = std::max(worst_best_, known->second / undisturbed_ns_.at(expected_));
  }

  void report() {
    std::size_t rows = 0, distinct = 0;
    for (const auto& [size, one] : acknowledged_) {
      rows += one.size();
      distinct += configurations(one).size();
    }
    fmt::print("{} kills in {} tunings, {} trials run, {} stored ({} configurations, {} finalists measured again)\n",
               kills_, tunings_, trials_run_, rows, distinct, rows - distinct);
    fmt::print("finished but not yet stored when killed: {} trials, at most {} at once\n", lost_, most_lost_);
    fmt::print("the last worker was gone {:.0f} ms after its session at the latest\n", longest_wait_ms_);
    fmt::print("slowest of {} winners: {:.2f} times the best of the undisturbed tuning\n", tunings_, worst_best_);
    fmt::print("{}\n", failures_ == 0 ? std::string("all held") : fmt::format("{} failures", failures_));
    if (options_.keep) fmt::print("kept: {}\n", folder_.string());
  }

  Options options_;
  std::mt19937_64 random_;
  const bench::ScratchFolder scratch_{"kills", options_.keep};
  const fs::path folder_ = scratch_.path();
  const fs::path database_ = folder_ / "killed.db";
  std::int64_t size_ = 256;
  std::string expected_;
  std::size_t valid_ = 0;
  std::map<std::string, double> undisturbed_ns_;  // by configuration
  std::map<std::int64_t, Rows> acknowledged_;     // by problem
  std::size_t kills_ = 0, tunings_ = 0, runs_ = 0, trials_run_ = 0, failures_ = 0;
  std::size_t lost_ = 0, most_lost_ = 0;
  double longest_wait_ms_ = 0, worst_best_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return Ordeal(parse(argc, argv)).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "kill_resume: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
