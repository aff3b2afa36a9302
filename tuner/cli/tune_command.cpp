#include <tuner/cli/tune_command.hpp>

#include <optional>

#include <nlohmann/json.hpp>

#include <tuner/cli/interrupt.hpp>
#include <tuner/cli/kinds_tuning.hpp>
#include <tuner/cli/problem_list.hpp>
#include <tuner/cli/spread_tuning.hpp>
#include <tuner/cli/todo_tuning.hpp>
#include <tuner/cli/tune_run.hpp>
#include <tuner/session/backends.hpp>

namespace tuner::cli {
namespace {

constexpr const char* kTuneExamples =
    "  tune --kernel sumMatrix2D                       tune with all defaults\n"
    "  tune --kernel reduce --size n=2^24 --type float,int --budget 60s\n"
    "  tune --kernel ./mine.cu --device host --trials 100 --seed 7\n"
    "  tune --capture axpy-n=4096-1a2b3c4d.capture     for the inputs of a program's own launch ($TUNER_CAPTURE=axpy)\n"
    "  tune --kernel reduce --dry-run                  what would be searched\n"
    "  tune --kernel sumMatrix2D --metrics textbook    why: counters of the finalists\n"
    "  tune --kernel reduce --device all               on all GPUs of this machine at once\n"
    "  tune --problems overnight.txt                   a list of problems; with --device all several at once\n"
    "  tune --kernel reduce --json > result.json       everything, for programs\n"
    "  tune --kernel sumMatrix2D --fix \"vector=1 unroll=1\" --vary block_x,block_y --rows all\n"
    "  tune --kernel reduceClassic --by step           the best of each step, and the speed-up\n"
    "  tune --todo --budget 5m                         what programs called and nothing was known of (tune todo)\n"
    "\nOther commands: tune run, list, devices, occupancy, metrics, show, explain, report, compare, export, import,\n"
    "merge, freeze, cache, todo, replay; `tune help`.\n";

/// What is shown of one kernel while it is tuned, and of all its problems together, has one writer.
bool one_after_the_other(const TuneRequest& request) {
  return request.dry_run || !request.report.empty() || !request.sweep.csv.empty() || !request.sweep.by.empty() ||
         request.sweep.is_part() || !request.tuning.hosts.empty();
}

/// On devices of one kind.
int tune_alike(TuneRequest request, std::optional<DeviceChoice> devices, const std::atomic<bool>& stop,
               const TuneSink& sink) {
  if (!request.list.empty()) return tune_list(request, std::move(devices), stop, sink);
  TuneJob job = read_job(std::move(request), std::move(devices));
  if (job.devices.more.empty() || job.problems.list.size() < 2 || one_after_the_other(job.request))
    return run_job(std::move(job), stop, sink);
  return tune_spread(job, stop, sink);
}

}  // namespace

int tune_command(int argc, char** argv, const Join& join) {
  TuneRequest request = read_tune_request(argc, argv);
  if (request.help)
    return print_help(
        "Usage: tune --kernel NAME|FILE.cu [options]\n"
        "       tune --capture FOLDER [options]\n"
        "       tune --problems FILE [options]\n"
        "       tune --todo [options]\n"
        "Finds the fastest correct configuration of a kernel on this machine and remembers it.",
        tune_options(), kTuneExamples);
  if (join) join(request);
  if (!request.problem_file.empty()) request.list = read_problem_list(request.problem_file);
  const auto begin = [&request](const std::atomic<bool>& stop) {
    if (request.todo)
      return tune_todo(request, stop, [&stop](TuneRequest one, Json* documents) {
        return run_job(read_job(std::move(one)), stop, {.documents = documents});
      });
    std::vector<DeviceChoice> kinds = choose_devices(request.device);
    if (kinds.size() == 1) return tune_alike(request, std::move(kinds.front()), stop, {});
    return tune_kinds(request, std::move(kinds), [&stop](TuneRequest one, DeviceChoice devices, const TuneSink& sink) {
      return tune_alike(std::move(one), std::move(devices), stop, sink);
    });
  };
  if (request.dry_run) {  // nothing to keep: Ctrl-C ends it at once
    const std::atomic<bool> never{false};
    return begin(never);
  }
  const InterruptGuard interrupt;
  return begin(interrupt.flag());
}

}  // namespace tuner::cli
