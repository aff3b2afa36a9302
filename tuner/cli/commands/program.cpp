#include <tuner/cli/commands/program.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>

#include <fcntl.h>
#include <sys/resource.h>

#include <tuner/cli/input/tune_arguments.hpp>
#include <tuner/cli/print/manual.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {

#ifndef TUNER_HAS_CUDA
Command occupancy_command() { throw Error("this program was built without the CUDA headers: occupancy needs them"); }
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
    {"check", "what is wrong with a kernel file: read, run once, compiled for GPUs", check_command},
    {"init", "a kernel file for a kernel that has none", init_command},
    {"list", "the kernels that have a name", list_command},
    {"devices", "the devices that run kernels here, and what they count", devices_command},
    {"occupancy", "registers and occupancy of a configuration, for any architecture", occupancy_command},
    {"show", "the best known configurations, why a call gets one, missed calls", show_command},
    {"report", "one HTML file that shows what was found and why", report_command},
    {"compare", "what became faster or slower between databases or devices", compare_command},
    {"db", "import, export, merge, freeze, clear and check databases", db_command},
    {"replay", "score search strategies on recorded spaces", replay_command},
    {"help", "this text, or the page of a command", nullptr},
};

void print_help() {
  std::printf(
      "tuner %s: makes CUDA kernels fast on the GPU they run on.\n\n"
      "Usage: tune KERNEL [options]\n"
      "       tune COMMAND [options]\n\n"
      "KERNEL is a name (`tune list`) or a file: FILE.cu or a path with a slash.\n\n",
      kVersion);
  for (const Entry& entry : kCommands) std::printf("  %-10s %s\n", entry.name, entry.summary);
  std::printf(
      "\n`tune help COMMAND` explains one of them, and `tune help tune` tuning.\n%s\n"
      "Exit status: 0 done, 1 failed, 2 not understood, 3 something became slower,\n"
      "130 stopped by Ctrl-C.\n",
      Options::common_help().c_str());
}

bool is_kernel(const std::string& name) {
  if (KernelLibrary::is_path(name)) return true;
  const std::vector<KernelLibrary::Entry> known = KernelLibrary().list();
  return find_named(known, name) != nullptr;
}

/// \p what: "command", or "command or kernel" where \p known holds kernels too.
[[noreturn]] void unknown_word(std::string_view what, const std::string& word, const std::vector<std::string>& known) {
  throw UsageError("unknown {} {}{} `tune help` lists commands, `tune list` kernels{}", what, in_quotes(word),
                   nearest_name(word, known) ? suggestion(word, known) : ".",
                   what == "command" ? "" : ". " + KernelLibrary::how_to_give_a_file(word));
}

std::string manual_of_all(const std::string& as) {
  std::vector<CommandPage> pages;
  for (const Entry& entry : kCommands) try {
      const bool tunes = std::string_view(entry.name) == "tune";
      if (tunes || entry.command)
        pages.push_back({entry.name, entry.summary, tunes ? tune_options() : entry.command().options});
    } catch (const Error&) {
      // This program was built without what the command needs.
    }
  return manual(as, pages);
}

int run(const Command& command, const Texts& words) {
  const Given given = command.options.read(words);
  if (!given.has("help")) return command.run(given);
  print(command.options.help());
  return kDone;
}

int dispatch(const Texts& words, const TuneCommand& tune) {
  if (words.empty()) {
    print_help();
    return kUsage;
  }
  if (contains(words, "--version")) {
    std::printf("tuner %s\n", kVersion);
    return kDone;
  }
  if (const auto tuning = words_of_tuning(words)) return tune(*tuning);
  const Entry* const entry = find_named(kCommands, words[0]);
  if (entry == nullptr) unknown_word("command or kernel", words[0], names_of(kCommands, KernelLibrary().list()));
  if (entry->command) return run(entry->command(), {words.begin() + 1, words.end()});
  if (words.size() == 3 && words[1] == "--as") {  // for the build: it installs what this prints
    print(manual_of_all(words[2]));
    return kDone;
  }
  if (words.size() > 2) throw UsageError("help is of one command: tune help COMMAND");
  if (words.size() == 2 && words[1] != "--help") {
    if (find_named(kCommands, words[1]) == nullptr) unknown_word("command", words[1], names_of(kCommands));
    return dispatch({words[1], "--help"}, tune);
  }
  print_help();
  return kDone;
}

/// Opens /dev/null for each closed standard stream. Otherwise the next file that is opened would get its number, and
/// messages would go into that file.
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

std::optional<Texts> words_of_tuning(const Texts& words) {
  if (words.empty()) return std::nullopt;
  const std::string& first = words[0];
  if (first == "tune") return Texts(words.begin() + 1, words.end());
  return first.starts_with('-') || (find_named(kCommands, first) == nullptr && is_kernel(first)) ? std::optional(words)
                                                                                                 : std::nullopt;
}

int program(int argc, char** argv, const TuneCommand& tune) {
  occupy_closed_streams();
  raise_descriptor_limit();
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond `ulimit -f` returns an error instead
  try {
    return flushed(dispatch({argv + std::min(argc, 1), argv + argc}, tune));
  } catch (const UsageError& error) {
    return flushed(complain(error, kUsage));
  } catch (const std::exception& error) {
    return flushed(complain(error, kFailed));
  }
}

}  // namespace tuner::cli
