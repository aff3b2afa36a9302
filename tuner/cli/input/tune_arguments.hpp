#pragma once
/// A `tune` command line, read.

#include <filesystem>
#include <limits>
#include <optional>

#include <tuner/cli/input/options.hpp>
#include <tuner/cli/input/problems.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tuning.hpp>

namespace tuner::cli {

/// A part of the space, and how it is shown.
struct SweepRequest {
  Configuration fix;
  std::vector<std::string> vary;
  std::size_t rows = 10;
  std::filesystem::path csv;  ///< empty: none
  std::vector<std::string> by;

  /// Whether only part of the space is searched.
  bool is_part() const { return !fix.empty() || !vary.empty(); }
  /// Whether trials are printed, and not only the best configuration.
  bool needs_trials() const { return is_part() || !csv.empty() || !by.empty(); }
  bool all_rows() const { return rows == std::numeric_limits<std::size_t>::max(); }
};

/// A line of a list of problems. Its options replace those of the command line.
struct ListedRequest {
  std::string place;  ///< "overnight.txt:3"
  std::string kernel;
  ProblemOptions problems;
  std::optional<Effort> effort;        ///< nothing: the command line's, unless there is a budget
  std::optional<Budget> budget;        ///< nothing: the command line's, unless there is an effort
  std::optional<Isolation> isolation;  ///< nothing: the command line's
};

/// The subject of a tuning: a kernel's problems, a recorded launch, a list, or what calls missed.
struct TuneSubject {
  std::string kernel;  ///< a name or a file. Empty for a recording; with `missed`, empty means all kernels.
  ProblemOptions problems;
  std::filesystem::path recording;       ///< in place of kernel and problems; empty: none
  bool missed = false;                   ///< what `tune show --missed` lists
  std::string problem_file;              ///< of --problems; "-": standard input; empty: none
  std::vector<ListedRequest> list = {};  ///< what that file holds
};

struct TuneArguments {
  TuneSubject what;
  std::string device;              ///< --device, else $TUNER_DEVICE, else that of the recording, else auto
  std::filesystem::path database;  ///< empty: the default place
  TuningOptions tuning;
  std::vector<std::string> trade_off;  ///< objectives whose front is printed; empty: none
  std::string log;                     ///< empty: none
  std::string report;                  ///< empty: none
  SweepRequest sweep;
  int parent = 0;  ///< the process to end with; 0: none
  bool without_ceilings = false;
  bool together = false;  ///< one rule for all sizes
  bool json = false, quiet = false, verbose = false, dry_run = false, force = false, help = false;

  /// Whether an output file is `-`.
  bool fills_stdout() const { return sweep.csv == "-" || log == "-" || report == "-"; }
};

/// The environment's wish to measure nothing, for messages.
inline constexpr const char* kNoEffort = "TUNER_EFFORT=none";

/// The options of `tune`, for parsing and for `--help`.
Options tune_options();
/// Throws UsageError, and Error for a recording that cannot be read.
TuneArguments read_tune_arguments(const Texts& words);

/// `--problems FILE`: each line has options that name a kernel and its problems, and limits for them. Reads the lines
/// of \p file ("-": standard input), without blank ones and comments. Throws UsageError, with file and line, for a line
/// that cannot be understood, and for a file without any. \p objective: that of `--target`. \p kernel: that of lines
/// that name none; empty: each has to.
std::vector<ListedRequest> read_problem_list(const std::string& file, const Objective& objective = {},
                                             const std::string& kernel = {});
/// The same for \p text, the contents of \p file.
std::vector<ListedRequest> parse_problem_list(std::string_view text, const std::string& file,
                                              const Objective& objective = {}, const std::string& kernel = {});

}  // namespace tuner::cli
