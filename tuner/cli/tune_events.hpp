#pragma once
/// The results of a tuning as they come, and their receivers: the terminal, or a list that prints them later.

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
  std::string configuration;         ///< empty: none was found, or the kernel has no parameters
  double median_ns = 0;              ///< of it; 0: none was found
  std::optional<double> default_ns;  ///< of the kernel's own configuration, where it was measured too
  bool known = false;                ///< from the cache; nothing was measured
  std::vector<std::size_t> lost;     ///< the job's devices that were given up, by position

  bool is_found() const { return median_ns > 0; }
};

/// Receives results; receives trials as any observer does.
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
  explicit TerminalEvents(bool quiet = false) : console_(stderr, quiet) {}
  Console& console() override { return console_; }
  void on_text(const std::string& text) override {
    console_.end_status();
    print(text);
    std::fflush(stdout);
  }
  void on_document(Json document) override { print_json(document); }

 private:
  Console console_;
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
