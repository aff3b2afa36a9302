#include <tuner/cli/tune_command.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <system_error>
#include <thread>

#include <tuner/cli/program.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {
namespace {

/// The work on the devices of one kind, beside other kinds.
struct Kind {
  Kind(const DeviceChoice& its_devices, bool quiet) : devices(its_devices), output(quiet, Output::Text::kept) {}

  const DeviceChoice devices;
  Output output;
  TuneOutcome outcome = {kFailed};
  std::string error = {};

  void tune(const TuneRequest& request, const TuneKind& with) try {
    outcome = with(request, devices, output);
  } catch (const UsageError& wrong) {
    error = wrong.what();
    outcome.code = kUsage;
  } catch (const std::exception& failure) {
    error = failure.what();
  }
};

}  // namespace

int tune_kinds(const TuneRequest& request, const std::vector<DeviceChoice>& devices, const TuneKind& tune) {
  for (const auto& [option, asked] : {std::pair{"--log", !request.log.empty()},
                                      {"--report", !request.report.empty()},
                                      {"--csv", !request.sweep.csv.empty()}})
    if (asked)
      throw UsageError(
          "{} is of one kind of device, and --device {} names {} kinds ({}); give each kind its "
          "own command",
          option, request.device, devices.size(),
          difference(devices[0].device.key.text(), devices[1].device.key.text()));
  std::deque<Kind> kinds;  // the first shows its progress
  std::vector<std::thread> threads;
  for (const DeviceChoice& one : devices) {
    TuneRequest its = request;
    its.quiet = request.quiet || !kinds.empty();
    Kind& kind = kinds.emplace_back(one, its.quiet);
    try {
      threads.emplace_back([&kind, &tune, its] { kind.tune(its, tune); });
    } catch (const std::system_error& failure) {
      kind.error = fmt::format("no thread can be started for it: {}", failure.what());
    }
  }
  for (std::thread& thread : threads) thread.join();

  Json documents = Json::array();
  int code = kDone;
  for (Kind& kind : kinds) {
    const std::string& name = kind.devices.device.name;
    if (!kind.outcome.document.is_null()) documents.push_back(std::move(kind.outcome.document));
    if (!request.json) std::fputs(fmt::format("\n{}\n{}", name, kind.output.kept()).c_str(), stdout);
    if (!kind.error.empty()) kind.output.error(name + ": " + kind.error);
    code = std::max(code, kind.outcome.code);
  }
  if (request.json) print_json({{"tuner", kVersion}, {"kinds", std::move(documents)}});
  return code;
}

int tune_command(const Texts& words, const Join& join) {
  TuneRequest request = read_tune_request(words);
  if (request.help) {
    print(tune_options().help());
    return kDone;
  }
  if (join) join(request);
  if (!request.what.problem_file.empty())
    request.what.list = read_problem_list(request.what.problem_file, request.tuning.session.objective);
  const std::atomic<bool> never{false};  // a dry run keeps nothing: Ctrl-C ends it at once
  const std::atomic<bool>& stop = request.dry_run ? never : catch_interrupts();
  if (request.parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != request.parent) throw Error("the process of --parent has ended, or did not start this one");
  }
  const auto tune = [&stop](const TuneRequest& one, const DeviceChoice& devices, Output& output) {
    return tune_all(read_jobs(one, devices, output), stop, output);
  };
  const std::vector<DeviceChoice> kinds = choose_devices(request.device);
  if (kinds.size() > 1) return tune_kinds(request, kinds, tune);
  const bool prints = request.dry_run || !request.fills_stdout();
  Output output(request.quiet, prints ? Output::Text::printed : Output::Text::dropped);
  const TuneOutcome outcome = tune(request, kinds.front(), output);
  if (request.json) print_json(outcome.document);
  return outcome.code;
}

int tune_main(int argc, char** argv) {
  return program(argc, argv, [](const Texts& words) { return tune_command(words); });
}

}  // namespace tuner::cli
