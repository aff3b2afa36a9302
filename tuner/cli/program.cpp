#include <tuner/cli/program.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>

#include <tuner/cli/cache_command.hpp>
#include <tuner/cli/compare_command.hpp>
#include <tuner/cli/convert_command.hpp>
#include <tuner/cli/devices_command.hpp>
#include <tuner/cli/explain_command.hpp>
#include <tuner/cli/export_command.hpp>
#include <tuner/cli/freeze_command.hpp>
#include <tuner/cli/import_command.hpp>
#include <tuner/cli/list_command.hpp>
#include <tuner/cli/merge_command.hpp>
#include <tuner/cli/options.hpp>
#include <tuner/cli/replay_command.hpp>
#include <tuner/cli/report_command.hpp>
#include <tuner/cli/run_command.hpp>
#include <tuner/cli/show_command.hpp>
#include <tuner/cli/todo_command.hpp>
#include <tuner/version.hpp>
#ifdef TUNER_HAS_CUDA
#include <tuner/cli/metrics_command.hpp>
#include <tuner/cli/occupancy_command.hpp>
#endif

namespace tuner::cli {
namespace {

#ifndef TUNER_HAS_CUDA
int occupancy_command(int, char**) {
  std::fputs("tune: this program was built without the CUDA headers: occupancy needs them\n", stderr);
  return kFailed;
}
int metrics_command(int, char**) {
  std::fputs("tune: this program was built without the CUDA headers: hardware counters need them\n", stderr);
  return kFailed;
}
#endif

struct Command {
  const char* name;
  const char* summary;
  int (*run)(int argc, char** argv);  ///< null: program()'s own
};

int help_command(int argc, char** argv);

constexpr Command kCommands[] = {
    {"tune", "find the best configuration of a kernel; the default command", nullptr},
    {"run", "one configuration by itself: launches, resources, time, results", run_command},
    {"list", "the kernels that are known by name", list_command},
    {"devices", "what can run kernels here, with its limits", devices_command},
    {"occupancy", "registers, shared memory and occupancy of a configuration, for any architecture", occupancy_command},
    {"metrics", "what can be counted on a GPU: hardware counters and energy", metrics_command},
    {"show", "the best known configurations", show_command},
    {"report", "one HTML file that shows what was found and why", report_command},
    {"compare", "what became faster or slower between two databases or devices", compare_command},
    {"explain", "which configuration a call would be served with, and why", explain_command},
    {"export", "write results as reviewable text", export_command},
    {"import", "take over results from text", import_command},
    {"convert", "a kernel file from another tuner's description or script", convert_command},
    {"merge", "unite databases", merge_command},
    {"freeze", "a database that every process of a job is answered from, the same everywhere", freeze_command},
    {"cache", "what the cache holds; check or clear it", cache_command},
    {"todo", "what was called without a result of its own, and how much time it took", todo_command},
    {"replay", "score search strategies on recorded spaces", replay_command},
    {"help", "this text", help_command},
};

int help_command(int, char**) {
  std::printf(
      "tuner %s: makes CUDA kernels fast on whatever GPU they land on.\n\n"
      "Usage: tune --kernel NAME|FILE.cu [options]\n"
      "       tune COMMAND [options]\n\n",
      kVersion);
  for (const Command& command : kCommands) std::printf("  %-10s %s\n", command.name, command.summary);
  std::printf("\n`tune COMMAND --help` says more; `tune --help` lists the options of tuning.\n");
  return kDone;
}

const Command& find_command(const char* name) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (std::strcmp(command.name, name) == 0) return command;
    names.emplace_back(command.name);
  }
  throw UsageError(unknown_name("command", name, names) + " A kernel is tuned with `tune --kernel " + name + "`.");
}

int dispatch(int argc, char** argv, const TuneCommand& tune) {
  if (argc < 2) {
    help_command(argc, argv);
    return kUsage;
  }
  for (char* argument : std::span(argv + 1, static_cast<std::size_t>(argc - 1))) {
    if (std::strcmp(argument, "--version") != 0) continue;
    std::printf("tuner %s\n", kVersion);
    return kDone;
  }
  if (argv[1][0] == '-') return tune(argc, argv);
  const Command& command = find_command(argv[1]);
  if (command.run == help_command && argc > 2) {
    if (argc > 3) throw UsageError("help is of one command: tune help COMMAND");
    std::string name = find_command(argv[2]).name, option = "--help";
    char* of_command[] = {argv[0], name.data(), option.data()};
    return dispatch(3, of_command, tune);
  }
  return command.run == nullptr ? tune(argc - 1, argv + 1) : command.run(argc - 1, argv + 1);
}

/// A closed standard stream's number would be given to the next file that is opened: messages would go into it.
void occupy_closed_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) (void)::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

int complain(const std::exception& error, int code) {
  std::fprintf(stderr, "tune: %s\n", printable_lines(error.what()).c_str());
  return code;
}

/// A full disk shows only when the text is flushed.
int flushed(int code) {
  if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
  std::fputs("tune: the output could not be written: is it closed, or the disk full?\n", stderr);
  return std::max(code, kFailed);
}

}  // namespace

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

int program(int argc, char** argv, const TuneCommand& tune) {
  occupy_closed_streams();
  raise_descriptor_limit();
  std::signal(SIGXFSZ, SIG_IGN);  // what passes `ulimit -f` is an error of its write
  try {
    return flushed(dispatch(argc, argv, tune));
  } catch (const UsageError& error) {
    return flushed(complain(error, kUsage));
  } catch (const std::exception& error) {
    return flushed(complain(error, kFailed));
  }
}

}  // namespace tuner::cli
