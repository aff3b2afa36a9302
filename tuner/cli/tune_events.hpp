#pragma once
/// Receivers of a tuning's results: the terminal, or a list that is printed later.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <tuner/cli/json.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/session/observer.hpp>

namespace tuner::cli {

/// The outcome for one problem, in a line of a table.
struct ProblemResult {
  std::string configuration;         ///< empty: not found, or without parameters
  double median_ns = 0;              ///< 0: not found
  std::optional<double> default_ns;  ///< of the default configuration, if it was measured
  bool known = false;                ///< from the cache, not measured now
  std::vector<std::size_t> lost;     ///< devices of the job that were given up, by position

  bool is_found() const { return median_ns > 0; }
};

/// Receives results, and trials as any observer does.
class TuneEvents : public Observer {
 public:
  /// Takes progress, warnings and errors.
  virtual Console& console() = 0;
  /// Tables and winners, for people.
  virtual void on_text(const std::string& text) = 0;
  /// With --json.
  virtual void on_document(Json document) = 0;
  /// Each problem has one.
  virtual void on_result(ProblemResult) {}
};

/// Prints to stdout and stderr.
class TerminalEvents final : public TuneEvents {
 public:
  /// \p prints: false leaves text out, because stdout is for something else.
  explicit TerminalEvents(bool quiet = false, bool prints = true) : console_(stderr, quiet), prints_(prints) {}
  Console& console() override { return console_; }
  void on_text(const std::string& text) override {
    if (!prints_) return;
    console_.end_status();
    print(text);
    std::fflush(stdout);
  }
  void on_document(Json document) override { print_json(document); }

 private:
  Console console_;
  bool prints_;
};

/// Keeps results until they are asked for.
class KeptEvents : public TuneEvents {
 public:
  void on_text(const std::string& more) override { text += more; }
  void on_document(Json document) override { documents.push_back(std::move(document)); }

  std::string text;
  Json documents = Json::array();
};

}  // namespace tuner::cli
