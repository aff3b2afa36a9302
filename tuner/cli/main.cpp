// The `tune` program.
#include <tuner/cli/program.hpp>
#include <tuner/cli/tune_command.hpp>

int main(int argc, char** argv) {
  using namespace tuner::cli;
  return program(argc, argv, [](const Texts& words) { return tune_command(words); });
}
