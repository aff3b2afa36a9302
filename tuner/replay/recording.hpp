#pragma once
/// A recording: what became of every configuration of a space on some device, so that search strategies can be run
/// against it in milliseconds. Read from files (read_recording.hpp) or made from the trials of a database.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/core/configuration.hpp>
#include <tuner/core/enumerated_space.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner::replay {

/// What became of one configuration.
struct RecordedRow {
  std::optional<double> objective;  ///< smaller is better, in the recording's own unit; nothing: it failed
  double eval_seconds = 0;          ///< what trying it cost: compiling, verifying, measuring and overhead
  OutcomeKind kind = OutcomeKind::ok;
  std::optional<Resources> resources = {};  ///< what the compiler told; known for tuner's own databases only
};

struct RecordedTrial : RecordedRow {
  Configuration configuration;
};

struct Recording {
  std::string name;         ///< for tables: the file's name without its endings
  std::string unit = "ms";  ///< of the objectives
  EnumeratedSpace space;    ///< index i is row i
  std::vector<RecordedRow> rows;

  std::size_t valid_count() const;
  /// The smallest objective; nothing when every row failed.
  std::optional<double> optimum() const;
};

/// A file that is not a recording. what() names the file, the line where one is known, and what was expected.
class RecordingError : public Error {
 public:
  using Error::Error;
};

/// From trials in any order, such as those of a database; of a configuration given twice the last trial counts.
/// Throws RecordingError when the trials do not assign the same parameters, or when there are none.
Recording make_recording(std::string name, std::span<const RecordedTrial> trials, std::string unit = "ms");

}  // namespace tuner::replay
