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

}  // namespace tuner::cli
