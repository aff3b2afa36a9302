#pragma once
/// Shows a tuning while it runs: the plan, the progress and the best so far.

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/cli/terminal.hpp>
#include <tuner/session/observer.hpp>

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

/// The number of trials on each of several lanes: `lanes 62 58 0 61`.
class LaneCounts {
 public:
  LaneCounts() = default;
  explicit LaneCounts(std::size_t lanes) : trials_(lanes > 1 ? lanes : 0) {}
  /// \p lane: Trial::lane.
  void add(int lane);
  /// Empty unless there are several.
  std::string text() const;

 private:
  std::vector<std::size_t> trials_;
};

/// `[####----] 124/512  8.1/s  0:48 left  best 12.3 us 4.2 TB/s  118 ok, 3 compile  lanes 62 62`, cut to \p width
/// columns. The least important parts are left out first.
std::string progress_line(const Progress& progress, const OutcomeCounts& counts, const LaneCounts& lanes,
                          std::string_view best, std::size_t width);

/// Reports a session on a console.
class ProgressObserver : public Observer {
 public:
  explicit ProgressObserver(Console& console) : console_(console) {}
  /// Also prints a line for every trial.
  void set_verbose(bool verbose) { verbose_ = verbose; }
  /// The number of trials so far.
  std::size_t trials() const { return trials_; }

  void on_start(const SessionPlan& plan) override;
  void on_trial(const Trial& trial, const Progress& progress) override;
  void on_finalists(std::size_t count) override;
  void on_warning(std::string_view message) override;

 private:
  Console& console_;
  bool verbose_ = false;
  std::size_t trials_ = 0;
  OutcomeCounts counts_;
  LaneCounts lanes_;
  SessionPlan plan_;
};

/// One JSON object a line for each trial, flushed as it happens, so that a log can be followed.
class TrialLog : public Observer {
 public:
  /// Appends to \p path; `-` is standard output. Throws Error if it cannot be opened. Warns once on \p console if a
  /// line cannot be written later.
  TrialLog(std::string path, Console& console);
  ~TrialLog() override;
  /// False if a line could not be written.
  bool all_written() const { return all_written_; }
  void on_start(const SessionPlan& plan) override;
  void on_trial(const Trial& trial, const Progress& progress) override;

 private:
  std::string path_;
  Console& console_;
  std::FILE* file_;
  bool all_written_ = true;
  SessionPlan plan_;
};

/// Passes everything on to several observers.
class Observers : public Observer {
 public:
  explicit Observers(std::vector<Observer*> all) : all_(std::move(all)) {}
  void on_start(const SessionPlan& plan) override {
    for (Observer* one : all_) one->on_start(plan);
  }
  void on_trial(const Trial& trial, const Progress& progress) override {
    for (Observer* one : all_) one->on_trial(trial, progress);
  }
  void on_finalists(std::size_t count) override {
    for (Observer* one : all_) one->on_finalists(count);
  }
  void on_warning(std::string_view message) override {
    for (Observer* one : all_) one->on_warning(message);
  }

 private:
  std::vector<Observer*> all_;
};

}  // namespace tuner::cli
