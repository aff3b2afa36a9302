#include <tests/cli/commands/program.hpp>
#include <tests/support/wait_until.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include <tuner/cli/input/options.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#endif

extern char** environ;

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

/// Whether `tune` measures with \p arguments, and runs no other command.
bool tunes(const std::vector<std::string>& arguments) {
  static const std::set<std::string> what = {"--kernel", "--recording", "--problems", "--missed"};
  if (arguments.empty() || arguments.front().ends_with(".cu")) return !arguments.empty();
  return arguments.front().starts_with('-') &&
         std::any_of(arguments.begin(), arguments.end(), [](const std::string& one) { return what.contains(one); });
}

bool compiles(const std::vector<std::string>& arguments) {
  return tunes(arguments) || (!arguments.empty() && (arguments.front() == "run" || arguments.front() == "check"));
}

/// Copies the compiled kernels that \p to lacks. Several processes may do so at once.
void copy_images(const fs::path& from, const fs::path& to) {
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(from, none)) {
    const fs::path target = to / entry.path().lexically_relative(from);
    if (!entry.is_regular_file(none) || fs::exists(target, none)) continue;
    fs::create_directories(target.parent_path(), none);
    const fs::path part = target.string() + ".part" + std::to_string(::getpid());
    if (fs::copy_file(entry.path(), part, none)) fs::rename(part, target, none);
  }
}

fs::path shared_images() { return fs::path(TUNER_BINARY_DIR) / "tests/cli/images"; }

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Started::Started(pid_t pid, fs::path out, fs::path err) : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}

Started::Started(Started&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      status_(other.status_),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

Started::~Started() {
  if (pid_ > 0 && running()) {
    signal_group(SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
}

bool Started::running() {
  if (pid_ <= 0) return false;
  if (::waitpid(pid_, &status_, WNOHANG) == 0) return true;
  pid_ = -1;
  return false;
}

void Started::signal_group(int signal) {
  if (pid_ > 0) ::kill(-pid_, signal);
}

std::string Started::err() const { return contents(err_); }

Finished Started::finish() {
  if (!testing::wait_until([&] { return !running(); })) {
    ADD_FAILURE() << "it does not end; stderr:\n" << err();
    signal_group(SIGKILL);
    ::waitpid(pid_, &status_, 0);
    pid_ = -1;
  }
  return {exit_code(status_), contents(out_), contents(err_)};
}

ProgramTest::ProgramTest() {
  environment_ = {{"TUNER_CACHE_DIR", cache().string()},
                  {"TUNER_DEVICE", "host"},
                  {"TUNE", TUNE_PROGRAM},
                  {"TERM", "dumb"},
                  {"TUNER_DB_PATH", ""},
                  {"TUNER_FROZEN", ""},
                  {"TUNER_TEMPLATE_PATH", ""}};
  small_kernel();
}

ProgramTest::~ProgramTest() {
  if (!shares_compiled_) return;
  constexpr std::ptrdiff_t most = 2000;
  std::error_code none;
  if (std::distance(fs::recursive_directory_iterator(shared_images(), none), {}) > most)
    fs::remove_all(shared_images(), none);
  copy_images(cache() / "images" / "host", shared_images());
}

Started ProgramTest::launch(const std::string& program, const std::vector<std::string>& arguments) {
  const fs::path out = folder_ / ("out" + std::to_string(runs_)), err = folder_ / ("err" + std::to_string(runs_));
  ++runs_;
  std::vector<std::string> texts{program};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    if (environment_.count(text.substr(0, text.find('='))) == 0) variables.push_back(text);
  }
  for (const auto& [name, value] : environment_) variables.push_back(name + '=' + value);
  std::vector<char*> argv, envp;
  for (std::string& text : texts) argv.push_back(text.data());
  for (std::string& text : variables) envp.push_back(text.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setpgid(0, 0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);  // whatever the tests were started by
    ::chdir(folder_.path().c_str());
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    ::execve(program.c_str(), argv.data(), envp.data());
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // here too: whoever comes first
  return Started(pid, out, err);
}

Started ProgramTest::start(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = arguments;
  // No test is about how well a median is known, and while two of them share two cores none is known well.
  if (tunes(arguments)) {
    all.insert(all.begin(), {"--measure-for", "50ms"});
    if (!measures_ceilings_) all.insert(all.begin(), "--no-ceilings");
  }
  if (shares_compiled_ && compiles(arguments)) copy_images(shared_images(), cache() / "images" / "host");
  return launch(TUNE_PROGRAM, all);
}

Finished ProgramTest::tune(const std::vector<std::string>& arguments) { return start(arguments).finish(); }

Finished ProgramTest::call(const std::string& line) { return tune(split_words(line, "the test")); }

std::string ProgramTest::out_of(const std::string& line, int code) {
  const Finished run = call(line);
  EXPECT_EQ(run.code, code) << line << '\n' << run.err;
  return run.out;
}

std::string ProgramTest::err_of(const std::string& line, int code) {
  const Finished run = call(line);
  EXPECT_EQ(run.code, code) << line << '\n' << run.err;
  return run.err;
}

nlohmann::json ProgramTest::document(const std::string& line) { return nlohmann::json::parse(out_of(line)); }

void ProgramTest::expect_failures(int code, const std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) EXPECT_THAT(err_of(line, code), HasSubstr(text)) << line;
}

bool ProgramTest::has_nvrtc() {
#ifdef TUNER_HAS_CUDA
  return cuda::find_nvrtc() != nullptr;
#else
  return false;
#endif
}

Started ProgramTest::start_shell(const std::string& command) { return launch("/bin/sh", {"-c", command}); }

Finished ProgramTest::shell(const std::string& command) { return start_shell(command).finish(); }

std::string ProgramTest::file(const std::string& name, const std::string& text) {
  std::ofstream(folder_ / name) << text;
  return (folder_ / name).string();
}

std::string ProgramTest::small_kernel() {
  return file("scale.cu", R"(// y = 2 x
#pragma tuner kernel      scale
#pragma tuner type        T = float int
#pragma tuner size        n = 1000
#pragma tuner parameter   block = 32 64 128
#pragma tuner parameter   unroll = 1 2 4
#pragma tuner constraint  small: block * unroll <= 256
#pragma tuner in          x[n]
#pragma tuner out         y[n]
#pragma tuner block       block
#pragma tuner grid        max(1, ceil_div(n, block * unroll))
#pragma tuner arguments   x, y, n
#pragma tuner instantiate scale<T, block, unroll>
#pragma tuner reference   scaleReference<T>
#pragma tuner grid        max(1, ceil_div(n, 256))
#pragma tuner block       256
#pragma tuner arguments   x, y, n
#pragma tuner verify      n=33
#pragma tuner bytes       2 * n * sizeof(T)
#pragma tuner default     block=32 unroll=1
template <typename T, int block, int unroll>
__global__ void scale(const T* x, T* y, int n) {
  for (int k = 0; k < unroll; ++k) {
    const int i = (blockIdx.x * unroll + k) * block + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
  }
}
template <typename T>
__global__ void scaleReference(const T* x, T* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
)");
}

}  // namespace tuner::cli
