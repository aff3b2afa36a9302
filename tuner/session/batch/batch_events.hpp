#pragma once
/// The events of a batch, for whoever shows or stores them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/session/batch/stored_answer.hpp>
#include <tuner/session/batch/tune_request.hpp>

namespace tuner {

/// The outcome for one problem.
struct ProblemResult {
  TuneAnswer answer;
  std::string reference;  ///< StoredResult::reference of a stored answer
  /// Whether the next request finds the answer in a database: it did before, or the tuning stored it.
  bool is_stored = false;
  bool is_interrupted = false;  ///< the batch was stopped while the problem was tuned

  std::string database;     ///< Where results are stored; empty: in memory.
  std::string error;        ///< why there is no answer; empty: there is one, or no configuration worked
  bool ends_batch = false;  ///< tune_batch() throws the error: no other problem can be tuned either

  Device device;  ///< the first of those that it was tuned on, with its ceilings as far as known
};

/// Receives the events of one problem. Except for on_warning(), one thread calls all functions.
class ProblemListener : public Observer {
 public:
  /// No stored result is enough, so the problem is tuned. \p why: for people; empty if that is obvious. \p limits:
  /// those of the request's effort, if it has one.
  virtual void on_tuning(std::string_view why, const std::optional<Budget>& limits) { (void)why, (void)limits; }
};

/// Receives the events of a batch. Several threads may call its functions at once.
class BatchListener {
 public:
  virtual ~BatchListener() = default;
  /// A problem, by its position, begins on the devices with the ordinals \p devices. May be called again for a problem
  /// that lost its devices. The result must live until on_end(), or until the next call for the problem.
  virtual ProblemListener& on_begin(std::size_t problem, const std::vector<int>& devices) = 0;
  virtual void on_end(std::size_t problem, ProblemResult result) = 0;
  /// The batch has ended, and \p wisdom holds the results. Not called if no database was opened.
  virtual void on_results(Wisdom& wisdom) { (void)wisdom; }
  /// A message for people about databases or devices.
  virtual void on_warning(std::string_view message) = 0;
};

}  // namespace tuner
