#include <tuner/cli/todo_tuning.hpp>

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cache/misses.hpp>
#include <cache/paths.hpp>

#include <tuner/cli/database_options.hpp>
#include <tuner/cli/interrupt.hpp>
#include <tuner/cli/terminal.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/format.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/kernel_library.hpp>
#include <tuner/session/records.hpp>
#include <tuner/session/wisdom.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

std::string problem_text(const cache::MissRecord& miss) {
  std::string text = miss.kernel.name;
  for (const std::string& part : {miss.problem.choices, cache::sizes_text(miss.problem.sizes)})
    if (!part.empty()) text += ' ' + part;
  return text;
}

TuneRequest request_for(const TuneRequest& all, const cache::MissRecord& miss) {
  TuneRequest one = all;
  one.kernel = miss.file;
  const ProblemSize size = from_record(miss.problem);
  std::string sizes;
  for (const auto& [name, value] : size.sizes) sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ",", name, value);
  if (!sizes.empty()) one.problems.sizes = {sizes};
  for (const auto& [name, value] : size.choices) one.problems.choices.push_back(name + '=' + value);
  return one;
}

/// Throws Error where the kernel that was called is not there any more.
void check_kernel(const TuneRequest& request, const cache::MissRecord& miss, Console& console) {
  if (miss.file.empty())
    throw Error("kernel '" + miss.kernel.name +
                "' is described in the program that called it: tune it there (tuner::tune), or give the program a "
                "kernel file");
  const KernelSpec spec = KernelLibrary(request.template_path).find(miss.file);
  if (spec.name != miss.kernel.name)
    throw Error(fmt::format("{} holds the kernel '{}' by now, not '{}'; `tune todo --clear --kernel {}` forgets it",
                            spec.file, spec.name, miss.kernel.name, miss.kernel.name));
  if (to_record(spec, {}).source_hash != miss.kernel.source_hash)
    console.line("note      the kernel has changed since it was called");
}

}  // namespace

int tune_todo(const TuneRequest& request, const std::atomic<bool>& stop, const TuneOne& tune) {
  if (!request.dry_run && request.database.empty() && cache::frozen_database_file())
    Wisdom(WisdomOptions{}).require_not_frozen("tune what is listed");
  Console console(stderr, request.quiet);
  const DeviceChoice choice = choose_alike(request.device);
  const auto file = request.database.empty() ? cache::user_database_file() : std::optional(request.database);
  std::vector<cache::MissRecord> misses;
  std::error_code error;
  if (file && fs::exists(*file, error)) {
    cache::Database database = open_for_reading(*file);
    misses = cache::misses(database, {.kernel = request.kernel, .device_key = choice.device.key.text()});
  }
  if (misses.empty()) console.line("todo      nothing is listed for " + choice.device.name);

  Json documents = Json::array();
  int code = kDone;
  std::size_t done = 0, number = 0;
  for (const cache::MissRecord& miss : misses) {
    if (stop) break;
    console.line(fmt::format("{}todo      {} of {}: {}, {}{}", number > 0 ? "\n" : "", number + 1, misses.size(),
                             problem_text(miss), plural(miss.calls, "call"),
                             miss.spent_ns() > 0 ? ", about " + format_ns(miss.spent_ns()) + " in them" : ""));
    ++number;
    int finished = kFailed;
    try {
      check_kernel(request, miss, console);
      finished = tune(request_for(request, miss), request.json ? &documents : nullptr);
      if (finished == kDone && !request.dry_run) {
        cache::Database database = open_for_writing(*file);
        cache::forget_miss(database, miss);
      }
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "tune: %s\n", printable_lines(failure.what()).c_str());
    }
    if (stop) break;
    finished == kDone ? void(++done) : void(code = kFailed);
  }
  if (request.json) print_json({{"tuner", kVersion}, {"todo", std::move(documents)}});
  if (!misses.empty() && !request.dry_run)
    console.line(fmt::format("\ntodo      {} of {} done{}", done, misses.size(),
                             done < misses.size() ? "; the others stay on the list (tune todo)" : ""));
  return stop ? kInterrupted : code;
}

}  // namespace tuner::cli
