#include <tuner/cli/commands/tune_command.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <future>

#include <tuner/cli/commands/program.hpp>
#include <tuner/version.hpp>

namespace tuner::cli {

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
  std::deque<Output> outputs;  // the first shows its progress
  std::vector<std::future<TuneOutcome>> kinds;
  for (const DeviceChoice& one : devices) {
    TuneRequest its = request;
    its.quiet = request.quiet || !outputs.empty();
    Output& output = outputs.emplace_back(its.quiet, Output::Text::kept);
    kinds.push_back(std::async(kOnAThread, [&tune, &one, &output, its] { return tune(its, one, output); }));
  }
  for (const auto& one : kinds) one.wait();

  Json documents = Json::array();
  int code = kDone;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::string& name = devices[i].device.name;
    TuneOutcome outcome{kFailed};
    std::string error;
    try {
      outcome = kinds[i].get();
    } catch (const UsageError& wrong) {
      error = wrong.what();
      outcome.code = kUsage;
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    if (!outcome.document.is_null()) documents.push_back(std::move(outcome.document));
    if (!request.json) print(fmt::format("\n{}\n{}", name, outputs[i].kept()));
    if (!error.empty()) outputs[i].error(name + ": " + error);
    code = std::max(code, outcome.code);
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
