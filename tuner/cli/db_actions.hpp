#pragma once
/// The parts of `tune db`. All return the exit code and throw UsageError, Error and cache::CacheError.

#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/options.hpp>

namespace tuner::cli {

/// One of several jobs of a command, and the options that have an effect on it.
struct Action {
  std::string_view name;
  int (*run)(const Given& given);
  std::vector<std::string_view> uses;
};
/// Runs the one of \p actions that is called \p name. Throws UsageError for an unknown name, and for an option of
/// `tune db` that has no effect on it. \p before: what stands before the name on the command line.
int run_action(const Given& given, const std::vector<Action>& actions, const std::string& name,
               std::string_view before);

/// Writes results as text, or as `--as` says for other programs.
int db_export(const Given& given);
/// `--as header`: writes the header of one kernel, and reports its contents on stderr.
int export_header(const Given& given);
/// `--as images`: compiles the best configurations of the databases, and each kernel's default, for each of `--arch`.
/// The images go beside the wisdom in a folder, for an installation without a compiler. Keeps files that exist already.
/// Needs NVRTC and no GPU.
int export_images(const Given& given);

/// Removes compiled images, results, quarantine or misses.
int db_clear(const Given& given);

}  // namespace tuner::cli
