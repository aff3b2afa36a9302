// The `tune` program.
#include <tuner/cli/commands/tune_command.hpp>

int main(int argc, char** argv) { return tuner::cli::tune_main(argc, argv); }
