#pragma once
/// The `tune` program without what only its parts need: main.cpp compiles in no time.

namespace tuner::cli {

/// The program. Returns its exit code.
int tune_main(int argc, char** argv);

}  // namespace tuner::cli
