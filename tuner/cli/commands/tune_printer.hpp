#pragma once
/// The one listener of a tuning from the command line: progress, log, results, report and JSON.

#include <mutex>

#include <tuner/cli/commands/tune_result.hpp>

namespace tuner::cli {

/// The outcome of a command.
struct TuneOutcome {
  int code = 0;        ///< the worst of all problems
  Json document = {};  ///< with --json
};

/// Prints each result at once and, for several kernels or devices, a table of all.
class TunePrinter final : public BatchListener {
 public:
  /// Prints what will be tuned. Throws Error and UsageError for outputs that cannot be written. Both must outlive it.
  TunePrinter(const TuneJobs& jobs, Output& output);

  /// `--dry-run`: prints the spaces of all problems.
  void describe_spaces();
  ProblemListener& on_begin(std::size_t problem, const std::vector<int>& devices) override;
  void on_end(std::size_t problem, ProblemResult result) override;
  void on_results(Wisdom& wisdom) override;
  void on_warning(std::string_view message) override { output_.warning(message); }
  /// Prints what all problems have in common. \p interrupted: the rest did not begin.
  TuneOutcome finish(bool interrupted);

 private:
  /// A problem and what has been printed about it.
  struct Entry {
    PrintedResult printed = {};
    Device device = {};
    bool running = false, ended = false;
    std::unique_ptr<Output> beside_others = nullptr;  // null: output_ shows it
    std::unique_ptr<TuneListener> listener = nullptr;
  };

  bool prints_tables() const { return !jobs_.arguments.dry_run; }
  void open_outputs();
  void introduce_all();
  void introduce_one(std::size_t problem, const std::vector<int>& devices);
  void show_status();
  std::string reason(const Entry& entry) const;
  Json json_failure(std::size_t problem) const;
  Json document(std::size_t problem, bool interrupted, Json results) const;
  Json json_results(bool interrupted) const;
  std::vector<Sweep> sweeps() const;
  void print_table(bool interrupted);
  void print_sweeps();

  const TuneJobs& jobs_;
  Output& output_;
  const Spread how_;
  std::unique_ptr<TrialLog> log_;
  bool all_written_ = true;

  std::mutex mutex_;  // guards the members below
  std::vector<Entry> entries_;
  std::size_t begun_ = 0, ended_ = 0, trials_ = 0;
};

}  // namespace tuner::cli
