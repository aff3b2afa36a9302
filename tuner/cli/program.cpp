#include <tuner/cli/program.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/resource.h>

#include <tuner/cli/commands.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {

#ifndef TUNER_HAS_CUDA
Command occupancy_command() { throw Error("this program was built without the CUDA headers: occupancy needs them"); }
Command metrics_command() {
  throw Error("this program was built without the CUDA headers: hardware counters need them");
}
#endif

namespace {

struct Entry {
  const char* name;
  const char* summary;
  Command (*command)();  ///< null: program() knows it
};

constexpr Entry kCommands[] = {
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
    {"help", "this text", nullptr},
};

void print_help() {
  std::printf(
      "tuner %s: makes CUDA kernels fast on whatever GPU they land on.\n\n"
      "Usage: tune --kernel NAME|FILE.cu [options]\n"
      "       tune COMMAND [options]\n\n",
      kVersion);
  for (const Entry& entry : kCommands) std::printf("  %-10s %s\n", entry.name, entry.summary);
  std::printf("\n`tune COMMAND --help` says more; `tune --help` lists the options of tuning.\n");
}

const Entry& find_command(const char* name) {
  const auto at = std::find_if(std::begin(kCommands), std::end(kCommands),
                               [&](const Entry& entry) { return std::strcmp(entry.name, name) == 0; });
  if (at != std::end(kCommands)) return *at;
  throw UsageError(unknown_name("command", name, names_of(kCommands)) + " A kernel is tuned with `tune --kernel " +
                   name + "`.");
}

int run(const Command& command, int argc, char** argv) {
  const Given given = command.options.read(argc, argv);
  if (!given.has("help")) return command.run(given);
  print(command.options.help());
  return kDone;
}

int dispatch(int argc, char** argv, const TuneCommand& tune) {
  if (argc < 2) {
    print_help();
    return kUsage;
  }
  for (char* argument : std::span(argv + 1, static_cast<std::size_t>(argc - 1))) {
    if (std::strcmp(argument, "--version") != 0) continue;
    std::printf("tuner %s\n", kVersion);
    return kDone;
  }
  if (argv[1][0] == '-') return tune(argc, argv);
  const Entry& entry = find_command(argv[1]);
  if (entry.name == std::string_view("tune")) return tune(argc - 1, argv + 1);
  if (entry.command) return run(entry.command(), argc - 1, argv + 1);
  if (argc > 3) throw UsageError("help is of one command: tune help COMMAND");
  if (argc == 3) {
    std::string name = find_command(argv[2]).name, option = "--help";
    char* of_command[] = {argv[0], name.data(), option.data()};
    return dispatch(3, of_command, tune);
  }
  print_help();
  return kDone;
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
