// Does the stated 95% interval contain the long-run median? Measures one configuration in many independent trials, as a
// tuning does (verified, warmed up, adaptive sample count). A block of long-run samples comes before each trial and
// after the last, so that slow drift shifts both alike. The long-run median is that of all blocks, which use the same
// buffers as the trials.
//
//   interval_coverage [--device cuda|host] [--kernel FILE] [--size NAME=N]... [--hot] [--configuration TEXT]
//                     [--trials 100] [--block 50]
//
// Exit status 0 when the interval contains the long-run median in at least 90% of the trials.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/job.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/session/tuning/device_choice.hpp>

namespace {

using namespace tuner;

constexpr double kWanted = 0.9;

struct Options {
  bench::Job job;
  std::string configuration;  ///< empty: the kernel's default
  std::size_t trials = 100;
  std::size_t block = 50;  ///< long-run samples beside each trial
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv, options.job,
               {{"--configuration", bench::into(options.configuration)},
                {"--trials", bench::into(options.trials, 1)},
                {"--block", bench::into(options.block, 10)}});
  return options;
}

Image compile(Backend& backend, const CompileRequest& request) {
  CompileResult result = backend.compiler().compile(request);
  if (const auto* error = std::get_if<CompileError>(&result)) throw Error(error->message + '\n' + error->log);
  return std::get<Image>(std::move(result));
}

const Measurement& measurement_of(const Trial& trial) {
  if (const Measurement* measured = trial.measurement()) return *measured;
  throw Error(fmt::format("{}: {}: {}", trial.configuration.text(), kind(trial.outcome), message(trial.outcome)));
}

int run(const Options& options) {
  const std::unique_ptr<Backend> backend = open_backend(choose_device(options.job.device).device);
  const KernelSpec spec = read_kernel_file(options.job.kernel.string());
  const ProblemSize size = complete(spec, {options.job.sizes, {}});
  const DeviceLimits& limits = backend->device().limits;
  if (options.configuration.empty() && !spec.default_configuration)
    throw Error("the kernel has no default configuration: give --configuration");
  const Configuration configuration =
      options.configuration.empty() ? *spec.default_configuration : Configuration::parse(options.configuration);

  MeasureOptions measure;
  measure.use = options.job.hot ? Use::hot : Use::single;
  measure.finalist_samples = 10;  // measured together, as many as a trial starts with
  measure.finalist_rounds = (options.block + 9) / 10;
  Runner runner(*backend, spec, size, measure);
  const std::string architecture = backend->architecture();
  const bool verified = !spec.verification.reference.empty();
  const Image reference = verified ? compile(*backend, reference_request(spec, size, limits, architecture)) : Image{};
  runner.prepare(verified ? &reference : nullptr);
  const Image image = compile(*backend, compile_request(spec, size, limits, architecture, configuration));
  const Runner::Finalist finalist{configuration, &image};

  std::vector<double> long_run;
  std::vector<double> block_medians;
  const auto take_block = [&] {
    const std::vector<Trial> again = runner.remeasure({&finalist, 1});
    const Measurement& block = measurement_of(again.front());
    long_run.insert(long_run.end(), block.samples_ns.begin(), block.samples_ns.end());
    block_medians.push_back(block.median_ns);
  };
  (void)measurement_of(runner.evaluate(configuration, image, 0));  // lets clocks and caches settle
  std::vector<Measurement> trials;
  std::size_t samples = 0;
  for (std::size_t i = 0; i < options.trials; ++i) {
    take_block();
    trials.push_back(measurement_of(runner.evaluate(configuration, image, 0)));
    samples += trials.back().samples_ns.size();
  }
  take_block();

  const double truth = median(long_run);
  const auto contains = [](const Measurement& m, double value) { return m.low_ns <= value && value <= m.high_ns; };
  std::size_t hits = 0, local_hits = 0, below = 0, above = 0;
  std::vector<double> widths;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    hits += contains(trials[i], truth) ? 1 : 0;
    below += trials[i].high_ns < truth ? 1 : 0;
    above += trials[i].low_ns > truth ? 1 : 0;
    local_hits += contains(trials[i], (block_medians[i] + block_medians[i + 1]) / 2) ? 1 : 0;
    widths.push_back((trials[i].high_ns - trials[i].low_ns) / trials[i].median_ns);
  }
  const auto [lowest, highest] = std::minmax_element(block_medians.begin(), block_medians.end());
  fmt::print("{} {} on {}, {}\n", spec.name, configuration.text(), backend->device().name, size.text());
  fmt::print("long run: {} samples, median {:.3f} us, noise {:.2f}%, blocks between {:.3f} and {:.3f} us\n",
             long_run.size(), truth / 1e3, 100 * scaled_mad(long_run) / truth, *lowest / 1e3, *highest / 1e3);
  fmt::print("trials: {} with {:.1f} samples on average, intervals {:.2f}% wide (median)\n", trials.size(),
             double(samples) / double(trials.size()), 100 * median(widths));
  fmt::print("intervals wholly below the long-run median: {}, above: {}\n", below, above);
  fmt::print("containing the median of the blocks beside them (shows drift): {}\n", local_hits);
  fmt::print("containing the long-run median: {} of {}\n", hits, trials.size());
  return double(hits) >= kWanted * double(trials.size()) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "interval_coverage: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
