// The `tune` program.
#include <tuner/cli/program.hpp>
#include <tuner/cli/tune_command.hpp>

int main(int argc, char** argv) {
  return tuner::cli::program(argc, argv,
                             [](int count, char** arguments) { return tuner::cli::tune_command(count, arguments); });
}
