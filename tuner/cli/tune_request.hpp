#pragma once
/// What a `tune` command line asks for.

#include <filesystem>
#include <string>
#include <vector>

#include <tuner/cli/options.hpp>
#include <tuner/cli/problems.hpp>
#include <tuner/session/tuning.hpp>

namespace tuner::cli {

struct TuneRequest {
  std::string kernel;  ///< a name or a file
  std::vector<std::filesystem::path> template_path;
  ProblemOptions problems;
  std::string device = "auto";
  std::filesystem::path database;  ///< empty: the default place
  TuningOptions tuning;            ///< budget empty: the command's default
  std::string log;                 ///< empty: none
  bool json = false, quiet = false, verbose = false, dry_run = false, force = false, help = false;
};

/// The options of `tune`, for parsing and for `--help`.
po::options_description tune_options();
/// Throws UsageError.
TuneRequest read_tune_request(int argc, char** argv);

/// `--device` from the environment when it was not given: $TUNER_DEVICE, else "auto".
std::string default_device();

}  // namespace tuner::cli
