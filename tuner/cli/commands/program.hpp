#pragma once
/// The frame of the programs `tune` and `tune-mpi`: finds the command, turns exceptions into messages and exit codes.
/// Each command is in a file by its name. With the headers that every command needs.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/input/options.hpp>
#include <tuner/cli/print/table.hpp>
#include <tuner/core/values/format.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner::cli {

/// The command that tunes.
using TuneCommand = std::function<int(const Texts& words)>;

/// Raises the limit of open files as far as the system allows. A worker process takes three, on another host six, and
/// the soft limit is often 1024.
void raise_descriptor_limit();

/// The words after the program's name without those that only say that this is a tuning: `KERNEL` of `tune tune
/// KERNEL`, of `tune KERNEL`, and options alone. Nothing if another command or no kernel is named.
std::optional<Texts> words_of_tuning(const Texts& words);

/// The exit code of a process that was called with \p argv.
int program(int argc, char** argv, const TuneCommand& tune);

Command check_command();
Command compare_command();
Command db_command();
Command devices_command();
Command init_command();
Command list_command();
Command occupancy_command();
Command replay_command();
Command report_command();
Command run_command();
Command show_command();

/// One of several jobs of `tune db`, and the options that have an effect on it.
struct Action {
  std::string_view name;
  int (*run)(const Given& given);
  std::vector<std::string_view> uses;
};
/// Runs the one of \p actions that is called \p name. Throws UsageError for an unknown name, and for an option of
/// `tune db` that has no effect on it. \p before: what stands before the name on the command line.
int run_action(const Given& given, const std::vector<Action>& actions, const std::string& name,
               std::string_view before);

/// `tune db export`: results as text, or as `--as` says for other programs.
int db_export(const Given& given);
/// `--as images`: compiles the best configurations of the databases, and each kernel's default, for each of `--arch`.
/// The images go beside the wisdom in a folder, for an installation without a compiler. Keeps files that exist already.
/// Needs NVRTC and no GPU.
int export_images(const Given& given);

}  // namespace tuner::cli
