// Starts the processes of a job on one machine, on the host backend in a scratch folder. Each calls all problems in its
// own order.
//   1. Nothing is known and all share one cache folder: the processes tune. Random ones are killed (SIGKILL) and
//      started again. Exactly one tuning of each problem must end with a result.
//   2. These results are frozen, and each process has its own cache folder with other results. All must choose alike.
// Prints the counts and the longest calls. A process that tunes takes the tuning time plus its last trial, which may be
// long while all cores compile. A process that waits takes the tuning time and a second, and then compiles.
//
//   agreement [--processes 8] [--kills 10] [--time SECONDS] [--seed 1] [--keep]
//
// Exit status 0 when all checks hold.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <bench/options.hpp>
#include <bench/processes.hpp>

#include <cache/exchange/exchange.hpp>
#include <cache/exchange/shipping.hpp>
#include <cache/query/browse.hpp>
#include <cache/query/session.hpp>
#include <cache/query/shipped.hpp>

#include <tuner/kernel.hpp>

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tuner::cache::Database;

/// Doubles its input. For the input -1, which never occurs in random inputs, returns its configuration.
constexpr const char* kKernel = R"(
#pragma tuner kernel telling
#pragma tuner size nx ny
#pragma tuner parameter block = 32 64 96 128
#pragma tuner in x[nx * ny] : float
#pragma tuner out y[nx * ny] : float
#pragma tuner grid max(1, ceil_div(nx * ny, block))
#pragma tuner block block
#pragma tuner arguments x, y, nx * ny
#pragma tuner instantiate telling<block>
#pragma tuner reference telling<32>
#pragma tuner grid max(1, ceil_div(nx * ny, 32))
#pragma tuner block 32
#pragma tuner default block=32
template <int block> __global__ void telling(const float* x, float* y, int n) {
  const int i = blockIdx.x * block + threadIdx.x;
  if (i < n) y[i] = x[i] == -1.0f ? block : 2 * x[i];
}
)";

using Problem = std::array<int, 2>;

/// Sizes so far apart that no result serves two of them.
std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const int nx : {100, 300, 900, 2700})
    for (const int ny : {1, 3, 9, 27, 81}) all.push_back({nx, ny});
  return all;
}

std::string name(Problem problem) { return fmt::format("nx={} ny={}", problem[0], problem[1]); }

/// One process: calls every problem, and prints the configuration that it got and how long that took.
int be_one(const char* kernel_file, std::uint64_t seed) {
  const tuner::Kernel kernel = tuner::Kernel::from_file(kernel_file);
  std::vector<Problem> all = problems();
  std::shuffle(all.begin(), all.end(), std::mt19937_64(seed));
  for (const Problem problem : all) {
    const std::vector<float> x(static_cast<std::size_t>(problem[0]) * static_cast<std::size_t>(problem[1]), -1.0f);
    std::vector<float> y(x.size());
    const auto start = Clock::now();
    kernel.launch(nullptr, {problem[0], problem[1]}, x.data(), y.data());
    fmt::print("{} {} {} {}\n", problem[0], problem[1], static_cast<int>(y[0]),
               std::chrono::duration<double>(Clock::now() - start).count());
  }
  return 0;
}

struct Options {
  std::size_t processes = 8, kills = 10;
  double seconds = 4;
  std::uint64_t seed = 1;
  bool keep = false;
};

class Job {
 public:
  explicit Job(Options options) : options_(options), random_(options.seed) {
    std::ofstream(folder_ / "telling.cu") << kKernel;
  }

  int run() {
    fmt::print("{} processes, {} problems\n", options_.processes, problems().size());
    find_out();
    freeze();
    serve_frozen();
    if (options_.keep) fmt::print("kept: {}\n", folder_.string());
    fmt::print("{}\n", failures_ == 0 ? std::string("all held") : fmt::format("{} failures", failures_));
    return failures_ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  template <class... Arguments>
  void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    ++failures_;
    fmt::print("FAILED: {}\n", fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  fs::path output(std::size_t rank) const { return folder_ / fmt::format("out{}", rank); }

  pid_t start(std::size_t rank, const fs::path& cache, const fs::path& frozen) {
    const std::string seed = std::to_string(random_()), time = std::to_string(options_.seconds);
    const fs::path kernel = folder_ / "telling.cu";
    const pid_t child = ::fork();
    if (child != 0) return child;
    for (const auto& [variable, value] : std::map<std::string, std::string>{{"TUNER_CACHE_DIR", cache.string()},
                                                                            {"TUNER_FROZEN", frozen.string()},
                                                                            {"TUNER_DB_PATH", ""},
                                                                            {"TUNER_DEVICE", "host"},
                                                                            {"TUNER_TUNE", "on_first_use"},
                                                                            {"TUNER_TUNE_TIME", time}})
      ::setenv(variable.c_str(), value.c_str(), 1);
    ::dup2(::open(output(rank).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    ::execl("/proc/self/exe", "agreement", "--one", kernel.c_str(), seed.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }

  /// Runs all processes to their end. Kills \p kills of them at random moments and starts them again.
  template <class Cache>
  void run_all(const Cache& cache_of, const fs::path& frozen, std::size_t kills) {
    std::map<pid_t, std::size_t> running;
    for (std::size_t rank = 0; rank < options_.processes; ++rank) running[start(rank, cache_of(rank), frozen)] = rank;
    auto next = Clock::now() + 500ms;
    while (!running.empty()) {
      int status = 0;
      const pid_t ended = ::waitpid(-1, &status, WNOHANG);
      if (const auto one = running.find(ended); one != running.end()) {
        const std::size_t rank = one->second;
        running.erase(one);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
          running[start(rank, cache_of(rank), frozen)] = rank;
        else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
          fail("process {} ended with status {}", rank, status);
      } else if (kills > 0 && Clock::now() > next) {
        auto victim = running.begin();
        std::advance(victim, std::uniform_int_distribution<std::size_t>(0, running.size() - 1)(random_));
        ::kill(victim->first, SIGKILL);  // not reaped yet, so the id is still valid
        --kills;
        ++killed_;
        next = Clock::now() + std::chrono::milliseconds(std::uniform_int_distribution<int>(50, 3000)(random_));
      } else {
        std::this_thread::sleep_for(5ms);
      }
    }
  }

  struct Pick {
    int block = 0;
    double seconds = 0;  ///< of the call
  };

  /// What each process got, by problem.
  std::map<std::string, std::vector<Pick>> picks() const {
    std::map<std::string, std::vector<Pick>> all;
    for (std::size_t rank = 0; rank < options_.processes; ++rank) {
      std::ifstream text(output(rank));
      Problem problem{};
      for (Pick pick; text >> problem[0] >> problem[1] >> pick.block >> pick.seconds;)
        all[name(problem)].push_back(pick);
    }
    return all;
  }

  void find_out() {
    const auto start = Clock::now();
    run_all([&](std::size_t) { return folder_ / "shared"; }, {}, options_.kills);
    Database database = Database::open_user(folder_ / "shared/wisdom.db");
    std::map<std::string, int> finished, begun;
    for (const auto& session : tuner::cache::sessions(database)) {
      const std::string problem = tuner::cache::sizes_text(session.key.problem.sizes);
      ++begun[problem];
      const auto trials = tuner::cache::session_trials(database, session.uuid);
      const bool found =
          std::any_of(trials.begin(), trials.end(), [](const auto& trial) { return trial.kind == "ok"; });
      if (session.finished_ms && found) ++finished[problem];
    }
    std::size_t once = 0, again = 0;
    for (const Problem problem : problems()) {
      const int times = finished[name(problem)];
      once += times == 1;
      again += static_cast<std::size_t>(begun[name(problem)] - times);
      if (times != 1) fail("{} was tuned {} times", name(problem), times);
    }
    for (const std::string& finding : tuner::cache::doctor(database)) fail("doctor: {}", finding);
    std::map<std::string, int> known;
    for (const auto& row : tuner::cache::best_rows(database))
      known[tuner::cache::sizes_text(row.problem.sizes)] = std::atoi(row.configuration.c_str() + std::strlen("block="));
    std::size_t total = 0, best = 0;
    double longest = 0, longest_in_vain = 0;
    for (const auto& [problem, all] : picks())
      for (const Pick& pick : all) {
        const bool is_best = pick.block == known[problem];
        ++total;
        best += is_best;
        longest = std::max(longest, pick.seconds);
        if (!is_best) longest_in_vain = std::max(longest_in_vain, pick.seconds);
      }
    fmt::print(
        "nothing known: {} processes killed; {} problems have one tuning with a result, {} tunings ended before any;\n"
        "  {} picks, {} of them the result, the others the default for now; {:.0f} s in all\n"
        "  longest call {:.1f} s, of those that waited in vain {:.1f} s: limit {:.1f} s and compiling the default\n",
        killed_, once, again, total, best, std::chrono::duration<double>(Clock::now() - start).count(), longest,
        longest_in_vain, options_.seconds + 1);
    if (total != options_.processes * problems().size()) fail("{} picks", total);
  }

  void freeze() {
    Database database = Database::open_user(folder_ / "shared/wisdom.db");
    tuner::cache::freeze(database, folder_ / "job.db");
    // The results of each machine contradict those of all others.
    for (std::size_t rank = 0; rank < options_.processes; ++rank) {
      std::string text = tuner::cache::export_wisdom(database);
      const std::string other = fmt::format("\"block={}\"", 32 * (1 + rank % 4));
      for (const char* block : {"\"block=32\"", "\"block=64\"", "\"block=96\"", "\"block=128\""})
        for (std::size_t at = 0; (at = text.find(block, at)) != std::string::npos; at += other.size())
          text.replace(at, std::strlen(block), other);
      Database own = Database::open_user(folder_ / fmt::format("own{}", rank) / "wisdom.db");
      tuner::cache::import_text(own, text);
    }
  }

  void serve_frozen() {
    run_all([&](std::size_t rank) { return folder_ / fmt::format("own{}", rank); }, folder_ / "job.db", 0);
    std::size_t total = 0, agreed = 0;
    for (const auto& [problem, all] : picks()) {
      total += all.size();
      const bool same =
          std::all_of(all.begin(), all.end(), [&](const Pick& pick) { return pick.block == all[0].block; });
      agreed += same;
      if (!same) fail("{}: processes differ", problem);
    }
    fmt::print("frozen: {} picks, all processes agree on {} of {} problems\n", total, agreed, problems().size());
    if (total != options_.processes * problems().size()) fail("{} picks", total);
  }

  const Options options_;
  std::mt19937_64 random_;
  const bench::ScratchFolder scratch_{"agreement", options_.keep};
  const fs::path folder_ = scratch_.path();
  std::size_t failures_ = 0, killed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 4 && std::strcmp(argv[1], "--one") == 0) return be_one(argv[2], std::strtoull(argv[3], nullptr, 10));
    Options options;
    bench::parse(argc, argv,
                 {{"--processes", bench::into(options.processes, 1, 1000)},
                  {"--kills", bench::into(options.kills)},
                  {"--time", bench::into(options.seconds, 1, 1000)},
                  {"--seed", bench::into(options.seed)}},
                 {{"--keep", &options.keep}});
    return Job(options).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "agreement: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
