// Does a short tuning ever choose a configuration that is slower than the kernel's default? Tunes the kernels of
// templates/ and examples/gallery/ for several types, choices, sizes and seeds, each with a few trials and no earlier
// results. Then measures the chosen configuration beside the default, interleaved, many times.
//
//   never_worse [--device cuda|host] [--tunings 100] [--trials 12] [--rounds 50] [--megabytes 64] [--folder DIR]...
//
// Skips problems for which a kernel's default is not valid.
//
// --megabytes: the most that one run may move. Sizes are halved from the kernel's defaults until they fit; each kernel
// is tuned at that size, a 16th and a 256th of it. Exit status 0 when no result is slower beyond the 95% interval of
// the median ratio.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/job.hpp>

#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace {

using namespace tuner;
namespace fs = std::filesystem;

struct Options {
  std::string device = "cuda";
  std::size_t tunings = 100;
  std::size_t trials = 12;
  std::size_t rounds = 50;  ///< two samples each
  std::size_t megabytes = 64;
  std::vector<fs::path> folders;
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv,
               {{"--device", bench::into(options.device)},
                {"--tunings", bench::into(options.tunings, 1)},
                {"--trials", bench::into(options.trials, 1)},
                {"--rounds", bench::into(options.rounds, 3)},
                {"--megabytes", bench::into(options.megabytes, 1)},
                {"--folder", [&](const std::string& text) { options.folders.emplace_back(text); }}});
  if (options.folders.empty())
    options.folders = {bench::source_file("templates"), bench::source_file("examples/gallery")};
  return options;
}

std::vector<KernelSpec> kernels(const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders)
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".cu") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<KernelSpec> specs;
  for (const fs::path& file : files) {
    KernelSpec spec = read_kernel_file(file.string());
    if (spec.default_configuration) specs.push_back(std::move(spec));
  }
  if (specs.empty()) throw Error("no kernel with a default configuration in the folders");
  return specs;
}

/// The \p turn-th problem of \p spec: cycles through all choices, at three sizes.
ProblemSize problem(const KernelSpec& spec, std::size_t turn, double most_bytes, const DeviceLimits& limits) {
  ProblemSize size;
  most_bytes /= turn % 3 == 0 ? 1 : turn % 3 == 1 ? 16 : 256;
  for (const ChoiceSpec& choice : spec.choices) {
    size.choices[choice.name] = choice.values[turn % choice.values.size()];
    turn /= choice.values.size();
  }
  size = complete(spec, std::move(size));
  for (bool smaller = spec.work.bytes.has_value(); smaller;) {
    if (static_cast<double>(spec.work.bytes->evaluate_integer(bindings(spec, size, limits))) <= most_bytes) break;
    smaller = false;
    for (auto& [name, value] : size.sizes)
      if (value >= 64) value /= 2, smaller = true;
  }
  return size;
}

/// The choice of a tuning, and its measured time relative to the default.
struct Named {
  Configuration configuration;
  double believed = 1;
};

/// The time of the choice relative to the default, from samples taken in pairs.
struct Ratio {
  double median = 1;
  MedianInterval interval{1, 1};
};

class NeverWorse {
 public:
  explicit NeverWorse(Options options)
      : options_(std::move(options)), backend_(open_backend(choose_device(options_.device).device)) {}

  int run() {
    const std::vector<KernelSpec> specs = kernels(options_.folders);
    fmt::print("{}, {} trials each\n\n", backend_->device().name, options_.trials);
    fmt::print(
        "| kernel | problem | named / default | 95% interval | believed | named |\n"
        "| --- | --- | ---: | --- | ---: | --- |\n");
    std::size_t slower = 0, faster = 0, done = 0;
    for (std::size_t turn = 0; done < options_.tunings; ++turn) {
      const KernelSpec& spec = specs[turn % specs.size()];
      const DeviceLimits& limits = backend_->device().limits;
      const ProblemSize size =
          problem(spec, turn / specs.size(), static_cast<double>(options_.megabytes) * 1e6, limits);
      // A default may be invalid for this problem, for example if it is meant for narrower types. Then skips it.
      if (!enumerate(spec, size, limits).find(*spec.default_configuration)) continue;
      const Named named = tune(spec, size, ++done);
      const Ratio ratio = compare(spec, size, named.configuration);
      slower += ratio.interval.low > 1 ? 1 : 0;
      faster += ratio.interval.high < 1 ? 1 : 0;
      fmt::print("| {} | {} | {:.3f} | {:.3f} to {:.3f} | {:.3f} | {} |\n", spec.name, size.text(), ratio.median,
                 ratio.interval.low, ratio.interval.high, named.believed,
                 named.configuration == *spec.default_configuration ? "the default" : named.configuration.text());
      std::fflush(stdout);
    }
    fmt::print("\nof {} tunings {} ended faster than the default, {} slower, beyond the interval\n", options_.tunings,
               faster, slower);
    return slower == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

 private:
  Named tune(const KernelSpec& spec, const ProblemSize& size, std::uint64_t seed) {
    IsolatedEvaluator evaluator(spec, size, {}, {.here = backend_.get()});
    SessionOptions session;
    session.seed = seed;
    session.budget.trials = options_.trials;
    const SessionResult result = run_session(spec, size, backend_->device(), evaluator, nullptr, session, nullptr);
    if (!result.best) throw Error(spec.name + ", " + size.text() + ": the tuning found nothing");
    Named named{result.best->configuration};
    const double best_ns = result.best->measurement()->median_ns;
    // The last trial of each configuration counts: finalists are measured again at the end.
    for (const Trial& trial : result.trials)
      if (trial.configuration == *spec.default_configuration && trial.measurement())
        named.believed = best_ns / trial.measurement()->median_ns;
    return named;
  }

  Ratio compare(const KernelSpec& spec, const ProblemSize& size, const Configuration& named) {
    const std::vector<Configuration> pair{named, *spec.default_configuration};
    if (pair[0] == pair[1]) return {};
    MeasureOptions measure;
    measure.finalist_rounds = options_.rounds;
    IsolatedEvaluator evaluator(spec, size, measure, {.here = backend_.get()});
    for (const Configuration& configuration : pair) evaluator.submit(configuration, 0);
    while (evaluator.in_flight() > 0) evaluator.next();
    const std::vector<Trial> trials = evaluator.remeasure(pair);
    const Measurement* const ours = trials.at(0).measurement();
    const Measurement* const defaults = trials.at(1).measurement();
    if (!ours) throw Error(spec.name + ", " + size.text() + ": " + std::string(message(trials[0].outcome)));
    if (!defaults) return {0, {0, 0}};  // the default does not run here
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(ours->samples_ns.size(), defaults->samples_ns.size()); ++i)
      ratios.push_back(ours->samples_ns[i] / defaults->samples_ns[i]);
    return {median(ratios), median_interval(ratios)};
  }

  Options options_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return NeverWorse(parse(argc, argv)).run();
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "never_worse: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
