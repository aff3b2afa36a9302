// Fails one allocation, or one system call, of a first call, an import and a tuning on the host: the first, the second,
// and so on, each in a process of its own. Nothing may crash or hang; the result is right, or an Error says why there
// is none; the next call works; and the database stays.
//   sweep [STRIDE [JOURNEY [FIRST]]]    tries every STRIDE-th of them, from FIRST on; JOURNEY: call, compile (a call
//                                       without compiled objects), import or tuning
#include "failing_calls.hpp"

#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <vector>

#include <cache/exchange/exchange.hpp>
#include <cache/file/paths.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/runtime/background/renewal.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/tuner.hpp>

#include <tests/support/stored_tuning.hpp>
#include <tests/support/temporary_folder.hpp>
#include <tests/support/wait_until.hpp>

namespace tuner::testing {
namespace {

namespace fs = std::filesystem;

/// Tells its configuration.
constexpr const char* kWhich = R"(
#pragma tuner kernel which
#pragma tuner size n
#pragma tuner parameter block = 32 64 128
#pragma tuner out y[n] : float
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
#pragma tuner arguments y, n
#pragma tuner instantiate which
#pragma tuner reference default
#pragma tuner default block=32
#pragma tuner tolerance absolute 1000
__global__ void which(float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = blockDim.x;
}
)";
constexpr const char* kBest = "block=128";
constexpr int kSize = 64, kRows = 20;

/// What is right before, during and after a failure. Each runs in a process of its own; the result is what is wrong.
using Work = std::function<std::string()>;

struct Journey {
  std::string name;
  Work prepare;  ///< before anything fails
  Work fails;
  Work again;  ///< nothing fails any more
};

std::string in_words(const Error& error) {
  return "error " + std::to_string(static_cast<int>(error.code())) + ": " + error.what();
}

/// Runs \p work. An Error is all right; for a lack of memory it must say so.
std::string right_or_error(Failing what, const Work& work) try { return work(); } catch (const Error& error) {
  const bool says_so = error.code() == ErrorCode::out_of_memory;
  return what == Failing::calls || says_so ? "" : "no out_of_memory, but " + in_words(error);
} catch (const std::bad_alloc&) {
  return what == Failing::allocations ? "" : "bad_alloc";
} catch (const std::exception& error) {
  return std::string("no Error, but: ") + error.what();
}

class Sweep {
 public:
  Sweep(long stride, long first) : stride_(stride), first_(first) {
    ::setenv("TUNER_DEVICE", "host", 1);
    ::setenv("TUNER_TUNE", "never", 1);
    ::setenv("TUNER_DB_PATH", "", 1);
    ::unsetenv("TUNER_FROZEN");
  }

  /// Returns how many failures were not survived.
  int run(const std::string& wanted) {
    keep();
    int bad = 0;
    for (const Journey& journey : {call(), compile(), import(), tuning()})
      for (const Failing what : {Failing::allocations, Failing::calls})
        if (wanted.empty() || wanted == journey.name) bad += sweep(journey, what);
    return bad;
  }

 private:
  /// Makes the cache folder that every process gets a copy of: a result, and compiled objects.
  void keep() {
    std::string wrong;
    const auto prepare = [&] {
      use(kept_);
      (void)launch(kSize);  // compiles the default
      {
        cache::Database database = cache::Database::open_user(kept_ / "wisdom.db");
        know(database, kSize, kBest);
      }
      runtime::Renewal::process().look();
      if (launch(kSize) != 128) return "the stored result is not served: " + explained(kSize);
      return std::string();
    };
    if (in_process(prepare, &wrong) != 0) throw std::runtime_error("the cache folder cannot be prepared: " + wrong);
  }

  void know(cache::Database& database, std::int64_t n, const std::string& configuration) const {
    const KernelSpec spec = read_kernel_file(kernel_.string());
    const cache::Context about = context_of(spec, complete(spec, {{{"n", n}}, {}}), choose_device("host").device, {});
    store_best(database, about, configuration, 100);
  }

  static void use(const fs::path& cache) { ::setenv("TUNER_CACHE_DIR", cache.c_str(), 1); }

  float launch(int n) const {
    std::vector<float> y(static_cast<std::size_t>(n));
    Kernel::from_file(kernel_.string()).launch(nullptr, {n}, y.data());
    return y[0];
  }

  std::string explained(int n) const { return Kernel::from_file(kernel_.string()).explain({n}); }

  Journey call() {
    const auto calls = [this] {
      const float block = launch(kSize);
      return block == 128 || block == 32 ? std::string() : "the result is " + std::to_string(block);
    };
    const auto again = [this]() -> std::string {
      if (launch(5000) <= 0) return "another call is wrong";
      const auto is_best = [&] {  // memory may stand in for the database a moment longer
        runtime::Renewal::process().look();
        return launch(kSize) == 128;
      };
      constexpr std::chrono::seconds kLongest{10};
      return wait_until(is_best, kLongest) ? "" : "later calls get " + explained(kSize);
    };
    return {"call", nullptr, calls, again};
  }

  Journey compile() {
    Journey journey = call();
    journey.name = "compile";
    journey.prepare = [] {
      const fs::path cache = *cache::user_cache_dir();
      for (const auto& entry : fs::directory_iterator(cache))
        if (entry.is_directory()) fs::remove_all(entry.path());
      return std::string();
    };
    return journey;
  }

  Journey import() {
    const auto imports = [this](bool all) {
      cache::OpenOptions options;
      options.strict = true;
      cache::Database database = cache::Database::open_user(*cache::user_database_file(), options);
      cache::import_text(database, text_);
      return all && rows() != kRows + 1 ? "rows: " + std::to_string(rows()) : std::string();
    };
    const auto prepare = [this] {
      cache::Database other = cache::Database::in_memory();
      for (int i = 1; i <= kRows; ++i) know(other, 1000 * i, "block=64");
      text_ = cache::export_wisdom(other);
      return std::string();
    };
    const auto again = [imports] {
      const std::int64_t before = rows();
      if (before != 1 && before != kRows + 1) return "rows after the failure: " + std::to_string(before);
      return imports(true);
    };
    return {"import", prepare, [imports] { return imports(false); }, again};
  }

  Journey tuning() {
    const auto tunes = [this] {
      TuneOptions options;
      options.trials = 2;
      options.force = true;
      const TuneResult result = tune(Kernel::from_file(kernel_.string()), {kSize}, {}, options);
      return result.configuration.starts_with("block=") ? std::string() : "best is " + result.configuration;
    };
    const auto again = [this] { return launch(kSize) > 0 ? std::string() : std::string("the next call is wrong"); };
    return {"tuning", nullptr, tunes, again};
  }

  static std::int64_t rows() {
    cache::Database database = cache::Database::open_read_only(*cache::user_database_file());
    return cache::statistics(database).best;
  }

  /// The exit status of a process that runs \p work; -1: it crashed or hung.
  static int in_process(const Work& work, std::string* wrong = nullptr) {
    int report[2];
    if (::pipe(report) != 0) throw std::runtime_error("pipe");
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(report[0]);
      ::alarm(120);
      std::signal(SIGABRT, [](int) {
        void* frames[64];
        ::backtrace_symbols_fd(frames, ::backtrace(frames, 64), 2);
        ::_exit(134);
      });
      std::string text;
      try {
        text = work();
      } catch (const std::exception& error) {
        text = std::string("it ends with: ") + error.what();
      }
      (void)!::write(report[1], text.data(), text.size());
      std::exit(text.empty() ? 0 : 1);
    }
    ::close(report[1]);
    char buffer[512];
    for (ssize_t count; (count = ::read(report[0], buffer, sizeof buffer)) > 0;)
      if (wrong != nullptr) wrong->append(buffer, static_cast<std::size_t>(count));
    ::close(report[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    if (wrong != nullptr) *wrong += " (signal " + std::to_string(WTERMSIG(status)) + ')';
    return -1;
  }

  /// Lets the \p nth fail. Returns what is wrong, and puts into \p happened whether there were so many.
  std::string try_one(const Journey& journey, Failing what, long nth, bool& happened) {
    const TemporaryFolder folder;
    const fs::path cache = folder / "c", done = folder / "done";
    fs::copy(kept_, cache, fs::copy_options::recursive);
    std::string wrong;
    const int status = in_process(
        [&] {
          use(cache);
          Settings settings;
          settings.on_warning = [](std::string_view) {};
          configure(settings);
          std::string found = journey.prepare ? journey.prepare() : "";
          begin_to_fail(what, nth);
          if (found.empty()) found = right_or_error(what, journey.fails);
          if (end_to_fail() >= nth) fs::create_directory(done);
          return found.empty() ? journey.again() : found;
        },
        &wrong);
    happened = fs::exists(done) || (status != 0 && status != 1);
    for (const auto& entry : fs::directory_iterator(cache))
      for (const char* const aside : {".corrupt", ".foreign"})
        if (entry.path().filename().string().find(aside) != std::string::npos)
          wrong += " (put aside: " + entry.path().filename().string() + ')';
    return wrong.empty() && status != 0 ? "exit status " + std::to_string(status) : wrong;
  }

  int sweep(const Journey& journey, Failing what) {
    std::map<std::string, std::vector<long>> failures;
    long nth = first_;
    for (bool happened = true; happened; nth += stride_) {
      const std::string wrong = try_one(journey, what, nth, happened);
      if (!wrong.empty()) failures[wrong].push_back(nth);
    }
    std::printf("%s: the last of %ld %s\n", journey.name.c_str(), nth - stride_,
                what == Failing::allocations ? "allocations" : "system calls");
    for (const auto& [wrong, numbers] : failures) {
      std::printf("  %zu times, first at %ld: %s\n", numbers.size(), numbers.front(), wrong.c_str());
    }
    std::fflush(stdout);
    int bad = 0;
    for (const auto& one : failures) bad += static_cast<int>(one.second.size());
    return bad;
  }

  const long stride_, first_;
  const TemporaryFolder folder_;
  const fs::path kernel_ = folder_.write("which.cu", kWhich), kept_ = folder_ / "kept";
  std::string text_;
};

}  // namespace
}  // namespace tuner::testing

int main(int argc, char** argv) {
  const auto number = [&](int i) { return argc > i ? std::max(std::strtol(argv[i], nullptr, 10), 1L) : 1; };
  const int bad = tuner::testing::Sweep(number(1), number(3)).run(argc > 2 ? argv[2] : "");
  std::printf(bad == 0 ? "all were survived\n" : "%d were not survived\n", bad);
  return bad == 0 ? 0 : 1;
}
