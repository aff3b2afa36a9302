#pragma once
/// Text for people: colours on a terminal, and one status line that is rewritten in place there and printed now and
/// then into a pipe or file. Ctrl-C.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace tuner::cli {

/// Writes \p text to stdout.
void print(std::string_view text);

/// Marks text with ANSI attributes, or leaves it as it is.
class Style {
 public:
  explicit Style(bool on) : on_(on) {}
  /// On only for a terminal that can do it; never with NO_COLOR set (no-color.org).
  static Style of(std::FILE* stream);

  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string red(std::string_view text) const { return wrap("31", text); }
  std::string green(std::string_view text) const { return wrap("32", text); }
  std::string yellow(std::string_view text) const { return wrap("33", text); }
  /// The one number that matters.
  std::string loud(std::string_view text) const { return wrap("1;32", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
  bool on_;
};

/// Messages and progress on one stream (stderr), printable. Lines and warnings may come from any thread.
class Console {
 public:
  /// \p quiet: only warnings and errors get through.
  Console(std::FILE* stream, bool quiet);
  /// Quiet: passes warnings and errors on to \p onto, which must outlive it, with \p who in front.
  Console(Console& onto, std::string who);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// A line that stays. Empty ones too.
  void line(std::string_view text);
  template <typename First, typename... More>
  void line(fmt::format_string<First, More...> form, First&& first, More&&... more) {
    line(std::string_view(fmt::format(form, std::forward<First>(first), std::forward<More>(more)...)));
  }
  void warning(std::string_view text);
  template <typename First, typename... More>
  void warning(fmt::format_string<First, More...> form, First&& first, More&&... more) {
    warning(std::string_view(fmt::format(form, std::forward<First>(first), std::forward<More>(more)...)));
  }
  /// `tune: TEXT`
  void error(std::string_view text);
  /// Replaces the status line; shown at most ten times a second on a terminal, every five seconds elsewhere.
  /// \p make is called only when it will be shown, with the width of a line. From one thread.
  void status(const std::function<std::string(std::size_t)>& make);
  /// Ends the status line: a terminal's is erased.
  void end_status();

 private:
  using Clock = std::chrono::steady_clock;
  void put(const std::string& before, std::string_view text);
  void erase_status();  // with the lock held
  std::size_t width() const;

  std::FILE* stream_;
  bool quiet_;
  bool is_terminal_;
  Style style_;
  std::mutex mutex_;  // guards the stream and has_status_
  bool has_status_ = false;
  Clock::time_point next_status_;
  Console* onto_ = nullptr;  // null: the stream
  std::string who_;
};

/// Redirects standard output for its lifetime, to catch the output of kernels. They write to the process's standard
/// output directly, not through a stream object. One object at a time.
class KernelOutput {
 public:
  enum class Keep { nothing, text };
  explicit KernelOutput(Keep keep);
  ~KernelOutput();  ///< restores standard output
  KernelOutput(const KernelOutput&) = delete;
  KernelOutput& operator=(const KernelOutput&) = delete;

  /// The output so far, at most its first MiB; empty for Keep::nothing.
  std::string text() const;

 private:
  int before_ = -1;  // standard output as it was
  int target_ = -1;
  Keep keep_;
};

/// Exit code after an interruption, as shells use it for SIGINT.
inline constexpr int kInterrupted = 130;

/// Handles SIGINT, SIGTERM and SIGHUP from now on: the first asks a session to end after the trials in flight, the
/// second ends the process at once. Signals that are ignored (nohup, `trap ''`) stay ignored. Returns a flag for
/// SessionOptions::stop, which is true once interrupted.
const std::atomic<bool>& catch_interrupts();

}  // namespace tuner::cli
