#pragma once
/// What programs of this command line do: find the command, turn exceptions into messages and exit codes.

#include <functional>

namespace tuner::cli {

/// The command that tunes, with the arguments of a command of its own.
using TuneCommand = std::function<int(int argc, char** argv)>;

/// The exit code of a process that was called with \p argv.
int program(int argc, char** argv, const TuneCommand& tune);

}  // namespace tuner::cli
