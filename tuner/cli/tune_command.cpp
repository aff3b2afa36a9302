#include <tuner/cli/tune_command.hpp>

#include <optional>

#include <tuner/cli/interrupt.hpp>
#include <tuner/cli/kinds_tuning.hpp>
#include <tuner/cli/problem_list.hpp>
#include <tuner/cli/spread_tuning.hpp>
#include <tuner/cli/missed_tuning.hpp>
#include <tuner/cli/tune_run.hpp>
#include <tuner/session/backends.hpp>

namespace tuner::cli {
namespace {

/// Output about one kernel while it is tuned, or about all its problems together, has one writer.
bool one_after_the_other(const TuneRequest& request) {
  return request.dry_run || !request.report.empty() || !request.sweep.csv.empty() || !request.sweep.by.empty() ||
         request.sweep.is_part() || !request.tuning.hosts.empty();
}

/// Tunes on devices of one kind.
int tune_alike(TuneRequest request, std::optional<DeviceChoice> devices, const std::atomic<bool>& stop,
               TuneEvents& events) {
  if (!request.list.empty()) return tune_list(request, std::move(devices), stop, events);
  TuneJob job = read_job(std::move(request), std::move(devices));
  if (job.devices.more.empty() || job.problems.list.size() < 2 || one_after_the_other(job.request))
    return run_job(std::move(job), stop, events);
  return tune_spread(job, stop, events);
}

}  // namespace

int tune_command(int argc, char** argv, const Join& join) {
  TuneRequest request = read_tune_request(argc, argv);
  if (request.help) {
    print(tune_options().help());
    return kDone;
  }
  if (join) join(request);
  if (!request.problem_file.empty()) request.list = read_problem_list(request.problem_file);
  const auto begin = [&request](const std::atomic<bool>& stop) {
    TerminalEvents events(request.quiet, request.dry_run || !request.fills_stdout());
    if (request.missed) return tune_missed(request, stop, events);
    std::vector<DeviceChoice> kinds = choose_devices(request.device);
    if (kinds.size() == 1) return tune_alike(request, std::move(kinds.front()), stop, events);
    return tune_kinds(request, std::move(kinds), [&stop](TuneRequest one, DeviceChoice devices, TuneEvents& kept) {
      return tune_alike(std::move(one), std::move(devices), stop, kept);
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
