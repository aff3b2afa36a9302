// The `tune` program.
#include <tuner/cli/tune_command.hpp>

int main(int argc, char** argv) { return tuner::cli::tune_main(argc, argv); }
