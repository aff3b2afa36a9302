#pragma once
/// Shows a tuning while it runs: the plan, the progress and the best so far.

#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include <tuner/cli/print/terminal.hpp>
#include <tuner/session/batch/batch_events.hpp>

namespace tuner::cli {

/// Trials by outcome, in the order ok, compile, launch, timeout, wrong, invalid.
class OutcomeCounts {
 public:
  void add(const Outcome& outcome) { ++counts_[outcome.index()]; }
  std::size_t of(OutcomeKind kind) const { return counts_[static_cast<std::size_t>(kind)]; }
  std::size_t failures() const;
  /// `118 ok, 3 compile, 2 wrong`; kinds that did not occur are left out.
  std::string text() const;

 private:
  std::array<std::size_t, std::variant_size_v<Outcome>> counts_{};
};

/// `[####----] 124/512  8.1/s  0:48 left  best 12.3 us 4.2 TB/s  118 ok, 3 compile  lanes 62 62`, cut to \p width
/// columns. The least important parts are left out first. \p lanes: the number of trials on each; printed for several.
std::string progress_line(const Progress& progress, const OutcomeCounts& counts, const std::vector<std::size_t>& lanes,
                          std::string_view best, std::size_t width);

/// One JSON object a line for each trial, flushed as it happens, so that a log can be followed. Thread-safe.
class TrialLog {
 public:
  /// Appends to \p path; `-` is standard output. Throws Error if it cannot be opened. Warns once on \p console if a
  /// line cannot be written later.
  TrialLog(std::string path, Console& console);
  ~TrialLog();
  TrialLog(const TrialLog&) = delete;
  TrialLog& operator=(const TrialLog&) = delete;
  /// False if a line could not be written.
  bool all_written() const { return all_written_; }
  void add(const SessionPlan& plan, const Trial& trial, const Progress& progress);

 private:
  std::string path_;
  Console& console_;
  std::FILE* file_;
  std::atomic<bool> all_written_ = true;
};

/// Takes all that tunings write for people: lines on a console (stderr), and results, which are text on stdout.
class Output : public Console {
 public:
  enum class Text { printed, kept, dropped };
  explicit Output(bool quiet = false, Text as = Text::printed) : Console(stderr, quiet), as_(as) {}
  /// For work beside other work: only warnings and errors get through to \p all, with \p who in front.
  Output(Output& all, std::string who) : Console(all, std::move(who)), as_(Text::kept) {}

  void text(const std::string& text);
  /// The text so far, for Text::kept.
  const std::string& kept() const { return kept_; }

 private:
  Text as_;
  std::string kept_;
};

/// Receives all that happens in one tuning, and passes it on to whoever wants it. Without a session nothing happens.
class TuneListener final : public ProblemListener {
 public:
  explicit TuneListener(Output& to) : output(to) {}
  /// Whether any configuration ran to its end.
  bool has_measured() const { return has_measured_; }
  /// All warnings so far.
  std::vector<std::string> warnings() const {
    const std::lock_guard lock(warning_);
    return warnings_;
  }

  void on_tuning(std::string_view why, const std::optional<Budget>& limits) override;
  void on_start(const SessionPlan& plan) override;
  void on_trial(const Trial& trial, const Progress& progress) override;
  void on_finalists(std::size_t count) override;
  void on_warning(std::string_view message) override;

  Output& output;                          ///< shows the plan, the progress and the best so far
  bool verbose = false;                    ///< a line for every trial
  TrialLog* log = nullptr;                 ///< null: none
  std::function<void()> after_trial = {};  ///< may be empty

 private:
  mutable std::mutex warning_;  // warnings come from several threads
  std::vector<std::string> warnings_;
  bool has_measured_ = false;
  OutcomeCounts counts_;
  std::vector<std::size_t> lanes_;
  SessionPlan plan_;
};

}  // namespace tuner::cli
