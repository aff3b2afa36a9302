#include <tuner/cli/commands/tune_command.hpp>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

#include <tuner/cli/commands/program.hpp>
#include <tuner/cli/commands/tune_together_command.hpp>

namespace tuner::cli {

TuneOutcome tune_jobs(const TuneJobs& jobs, const std::atomic<bool>& stop, Output& output, const TuneProblem& tune) {
  TunePrinter printer(jobs, output);
  if (jobs.arguments.dry_run)
    printer.describe_spaces();
  else
    tune_batch(jobs.request, stop, printer, tune);
  return printer.finish(stop);
}

int tune_command(const Texts& words, const Join& join) {
  TuneArguments request = read_tune_arguments(words);
  if (request.help) {
    print(tune_options().help());
    return kDone;
  }
  if (join) join(request);
  if (!request.what.problem_file.empty())
    request.what.list =
        read_problem_list(request.what.problem_file, request.tuning.session.objective, request.what.kernel);
  const std::atomic<bool> never{false};  // a dry run keeps nothing: Ctrl-C ends it at once
  const std::atomic<bool>& stop = request.dry_run ? never : catch_interrupts();
  if (request.parent != 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != request.parent) throw Error("the process of --parent has ended, or did not start this one");
  }
  const DeviceChoice devices = choose_devices(request.device);
  const bool prints = request.dry_run || !request.fills_stdout();
  Output output(request.quiet, prints ? Output::Text::printed : Output::Text::dropped);
  const TuneJobs jobs = make_jobs(request, devices, output);
  const bool is_joint = request.together && !request.dry_run;
  const TuneOutcome outcome = is_joint ? tune_jobs_together(jobs, stop, output) : tune_jobs(jobs, stop, output);
  if (request.json) print_json(outcome.document);
  return outcome.code;
}

int tune_main(int argc, char** argv) {
  return program(argc, argv, [](const Texts& words) { return tune_command(words); });
}

}  // namespace tuner::cli
