#include <tuner/cli/print/terminal.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <tuner/core/values/message_text.hpp>

namespace tuner::cli {
namespace {

bool is_capable_terminal(std::FILE* stream) {
  const char* const kind = std::getenv("TERM");
  return ::isatty(::fileno(stream)) == 1 && (kind == nullptr || std::strcmp(kind, "dumb") != 0);
}

std::atomic<bool> stop_is_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");

void on_signal(int) {
  if (stop_is_asked.exchange(true)) ::_exit(kInterrupted);
  constexpr char message[] = "\nstopping after the launches that run now; once more stops at once\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message, sizeof(message) - 1);
}

}  // namespace

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Style Style::of(std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  return Style((no_color == nullptr || *no_color == '\0') && is_capable_terminal(stream));
}

std::string Style::wrap(std::string_view code, std::string_view text) const {
  if (!on_ || text.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + 'm' + std::string(text) + "\x1b[0m";
}

Console::Console(std::FILE* stream, bool quiet)
    : stream_(stream),
      quiet_(quiet),
      is_terminal_(is_capable_terminal(stream)),
      style_(Style::of(stream)),
      // A pipe's first status comes after a while: short runs need none.
      next_status_(Clock::now() + (is_terminal_ ? std::chrono::seconds(0) : std::chrono::seconds(3))) {}

Console::Console(Console& onto, std::string who) : Console(onto.stream_, true) {
  onto_ = &onto;
  who_ = std::move(who);
}

Console::~Console() { end_status(); }

void Console::put(const std::string& before, std::string_view text) {
  const std::lock_guard lock(mutex_);
  erase_status();
  std::fprintf(stream_, "%s%s\n", before.c_str(), printable_lines(text).c_str());
}

void Console::line(std::string_view text) {
  if (!quiet_) put("", text);
}

void Console::warning(std::string_view text) {
  if (onto_) return onto_->warning(who_ + ": " + std::string(text));
  put(style_.yellow("warning:") + ' ', text);
}

void Console::error(std::string_view text) {
  if (onto_) return onto_->error(who_ + ": " + std::string(text));
  put("tune: ", text);
}

void Console::status(const std::function<std::string(std::size_t)>& make) {
  const auto now = Clock::now();
  if (quiet_ || now < next_status_) return;
  next_status_ = now + std::chrono::milliseconds(is_terminal_ ? 100 : 5000);
  const std::string text = printable(make(width()));
  const std::lock_guard lock(mutex_);
  std::fprintf(stream_, is_terminal_ ? "\r\x1b[K%s" : "%s\n", text.c_str());
  std::fflush(stream_);
  has_status_ = is_terminal_;
}

void Console::end_status() {
  const std::lock_guard lock(mutex_);
  erase_status();
}

void Console::erase_status() {
  if (!has_status_) return;
  std::fprintf(stream_, "\r\x1b[K");
  std::fflush(stream_);
  has_status_ = false;
}

std::size_t Console::width() const {
  winsize size{};
  if (is_terminal_ && ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col - 1u;
  return is_terminal_ ? 79 : 200;
}

KernelOutput::KernelOutput(Keep keep) : keep_(keep) {
  std::fflush(stdout);
  before_ = ::dup(STDOUT_FILENO);
  target_ = keep == Keep::text ? ::memfd_create("printed by kernels", MFD_CLOEXEC)
                               : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (before_ >= 0 && target_ >= 0) ::dup2(target_, STDOUT_FILENO);
}

KernelOutput::~KernelOutput() {
  std::fflush(stdout);
  if (before_ >= 0) {
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
  }
  if (target_ >= 0) ::close(target_);
}

std::string KernelOutput::text() const {
  std::fflush(stdout);
  if (keep_ == Keep::nothing || target_ < 0) return {};
  std::string all(1 << 20, '\0');
  const ssize_t bytes = ::pread(target_, all.data(), all.size(), 0);
  all.resize(static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
  return all;
}

const std::atomic<bool>& catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;  // trials in flight talk over pipes
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);
  }
  return stop_is_asked;
}

}  // namespace tuner::cli
