#pragma once
/// The frame of the programs `tune` and `tune-mpi`: finds the command, turns exceptions into messages and exit codes.

#include <functional>
#include <optional>

namespace tuner::cli {

/// The command that tunes. argv[0] is not read.
using TuneCommand = std::function<int(int argc, char** argv)>;

/// Raises the limit of open files as far as the system allows. A worker process takes three, on another host six, and
/// the soft limit is often 1024.
void raise_descriptor_limit();

/// The number of arguments after argv[0] that only say that this is a tuning: 1 for `tune tune KERNEL`, 0 for `tune
/// KERNEL` and for options alone. Nothing if another command or no kernel is named.
std::optional<int> skipped_by_tuning(int argc, char** argv);

/// The exit code of a process that was called with \p argv.
int program(int argc, char** argv, const TuneCommand& tune);

}  // namespace tuner::cli
