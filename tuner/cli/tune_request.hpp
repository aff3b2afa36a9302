#pragma once
/// What a `tune` command line asks for.

#include <filesystem>
#include <string>
#include <vector>

#include <tuner/cli/json.hpp>
#include <tuner/cli/options.hpp>
#include <tuner/cli/problems.hpp>
#include <tuner/session/tuning.hpp>

namespace tuner::cli {

/// A part of the space, and how it is shown.
struct SweepRequest {
  Configuration fix;
  std::vector<std::string> vary;
  std::size_t rows = 10;
  std::filesystem::path csv;  ///< empty: none
  std::vector<std::string> by;

  /// Whether only part of the space is asked for.
  bool is_part() const { return !fix.empty() || !vary.empty(); }
};

struct TuneRequest {
  std::string kernel;             ///< a name or a file; empty with a capture; with todo: of the list, empty: all
  std::filesystem::path capture;  ///< in place of kernel and problems; empty: none
  bool todo = false;              ///< tune what `tune todo` lists
  std::vector<std::filesystem::path> template_path;
  ProblemOptions problems;
  std::string device;                  ///< empty: nothing was said, only with a capture
  std::filesystem::path database;      ///< empty: the default place
  TuningOptions tuning;                ///< budget empty: the command's default
  std::vector<std::string> trade_off;  ///< objectives whose front is printed; empty: none
  std::string log;                     ///< empty: none
  std::string report;                  ///< empty: none
  SweepRequest sweep;
  bool json = false, quiet = false, verbose = false, dry_run = false, force = false, help = false;
};

/// Where a tuning's results go in place of stdout; null: there.
struct TuneSink {
  Json* documents = nullptr;    ///< of --json: takes one more
  std::string* text = nullptr;  ///< takes tables and winners
};

/// The options of `tune`, for parsing and for `--help`.
po::options_description tune_options();
/// Throws UsageError.
TuneRequest read_tune_request(int argc, char** argv);

/// `--device` from the environment when it was not given: $TUNER_DEVICE, else "auto".
std::string default_device();

}  // namespace tuner::cli
