#pragma once
/// What programs of this command line do: find the command, turn exceptions into messages and exit codes.

#include <functional>

namespace tuner::cli {

/// The command that tunes, with the arguments of a command of its own.
using TuneCommand = std::function<int(int argc, char** argv)>;

/// As many as the system allows: a worker process takes three, on another host six, and the soft limit is often 1024.
void raise_descriptor_limit();

/// The exit code of a process that was called with \p argv.
int program(int argc, char** argv, const TuneCommand& tune);

}  // namespace tuner::cli
