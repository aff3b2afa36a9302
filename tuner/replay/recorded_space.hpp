#pragma once
/// A recorded space: the outcome of every configuration of a space on one device. Search strategies can be run against
/// it in milliseconds. Read from files (read_recorded_space.hpp) or made from the trials of a database.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/configuration.hpp>
#include <tuner/error.hpp>

namespace tuner {
class EnumeratedSpace;
}

namespace tuner::replay {

/// The outcome of one configuration.
struct RecordedRow {
  std::optional<double> objective;  ///< smaller is better, in the space's own unit; nothing: it failed
  double eval_seconds = 0;          ///< time for compiling, verifying, measuring and overhead
  OutcomeKind kind = OutcomeKind::ok;
  std::optional<Resources> resources = {};  ///< reported by the compiler; only tuner's own databases have them
};

struct RecordedTrial : RecordedRow {
  Configuration configuration;
};

struct RecordedSpace {
  std::string name;                              ///< for tables: the file's name without its endings
  std::string unit = "ms";                       ///< of the objectives
  std::shared_ptr<const EnumeratedSpace> space;  ///< index i is row i
  std::vector<RecordedRow> rows;

  std::size_t valid_count() const;
};

/// A file is not a recorded space. what() names the file, the line if it is known, and the mistake.
class RecordedSpaceError : public Error {
 public:
  using Error::Error;
};

/// Makes a recorded space of trials in any order, such as those of a database. If a configuration is given twice, its
/// last trial counts. Throws RecordedSpaceError when the trials do not assign the same parameters, or when there are
/// none.
RecordedSpace make_recorded_space(std::string name, std::span<const RecordedTrial> trials, std::string unit = "ms");

}  // namespace tuner::replay
