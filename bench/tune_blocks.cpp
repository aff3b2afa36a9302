// Tunes C = A + B on floats over the shapes of its thread block, verifies every trial, and starts new worker processes.
// This is the job by which tuners are compared (docs: how fast a tuning is). Prints where the time went.
//
//   tune_blocks [--device cuda|host] [--size N] [--kernel FILE] [--seed N] [--finalists N] [--samples N] [--all]
//
// Does not use the image cache, so that everything is compiled. Exit status 0 when a verified best was found.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/job.hpp>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/measure/numbers/throughput.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace {

using namespace tuner;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string device = "cuda";
  std::int64_t size = 8192;
  std::string kernel = bench::source_file("bench/data/sum_blocks.cu").string();
  std::uint64_t seed = 1;
  std::size_t finalists = 4;
  std::size_t samples = 10;
  bool all = false;  // print every trial
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv,
               {{"--device", bench::into(options.device)},
                {"--size", bench::into(options.size, 1)},
                {"--kernel", bench::into(options.kernel)},
                {"--seed", bench::into(options.seed)},
                {"--finalists", bench::into(options.finalists)},
                {"--samples", bench::into(options.samples)}},
               {{"--all", &options.all}});
  return options;
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Verified measurements, fastest first.
std::vector<const Trial*> ranking(const std::vector<Trial>& trials) {
  std::vector<const Trial*> ranked;
  for (const Trial& trial : trials)
    if (trial.verified && trial.measurement() != nullptr) ranked.push_back(&trial);
  std::sort(ranked.begin(), ranked.end(),
            [](const Trial* a, const Trial* b) { return a->measurement()->median_ns < b->measurement()->median_ns; });
  return ranked;
}

void print(const Trial& trial, const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  if (const Measurement* m = trial.measurement()) {
    const Throughput speed = throughput(spec, size, device, m->median_ns);
    fmt::print("  {:<28} {:9.2f} us  [{:.2f}, {:.2f}]  {:7.1f} GB/s  {} samples{}{}\n", trial.configuration.text(),
               m->median_ns / 1e3, m->low_ns / 1e3, m->high_ns / 1e3, speed.bytes_per_second.value_or(0) / 1e9,
               m->samples_ns.size(), m->abandoned ? ", abandoned" : "", m->throttled ? ", throttled" : "");
  } else {
    fmt::print("  {:<28} {}: {}\n", trial.configuration.text(), kind(trial.outcome), message(trial.outcome));
  }
}

int run(const Options& options, Clock::time_point start) {
  const KernelSpec spec = read_kernel_file(options.kernel);
  const ProblemSize size = complete(spec, {{{"nx", options.size}, {"ny", options.size}}, {}});
  MeasureOptions measure;
  measure.min_samples = options.samples;
  measure.abandon_samples = options.samples;  // full samples for every configuration
  measure.max_samples = std::max<std::size_t>(measure.max_samples, options.samples);
  IsolatedOptions isolation;
  isolation.backend = options.device;
  IsolatedEvaluator evaluator(spec, size, measure, isolation);
  const Device device = evaluator.device();
  const double device_s = seconds_since(start);

  const EnumeratedSpace space = enumerate(spec, size, device.limits);
  std::vector<EnumeratedSpace::Index> order(space.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<EnumeratedSpace::Index>(i);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(options.seed));

  std::vector<Trial> trials;
  double best_ns = 0, first_s = 0;
  std::size_t next = 0;
  while (trials.size() < order.size()) {
    while (next < order.size() && evaluator.in_flight() < evaluator.capacity())
      evaluator.submit(space.configuration(order[next++]), best_ns);
    trials.push_back(evaluator.next());
    if (trials.size() == 1) first_s = seconds_since(start);
    const Trial& trial = trials.back();
    if (trial.verified && trial.measurement() != nullptr)
      best_ns = best_ns > 0 ? std::min(best_ns, trial.measurement()->median_ns) : trial.measurement()->median_ns;
  }
  const double searched_s = seconds_since(start);

  std::vector<const Trial*> ranked = ranking(trials);
  if (ranked.empty()) {
    for (const Trial& trial : trials) print(trial, spec, size, device);
    fmt::print(stderr, "tune_blocks: nothing worked\n");
    return EXIT_FAILURE;
  }
  std::vector<Configuration> finalists;
  for (std::size_t i = 0; i < std::min(options.finalists, ranked.size()); ++i)
    finalists.push_back(ranked[i]->configuration);
  std::vector<Trial> again = evaluator.remeasure(finalists);
  again.erase(std::remove_if(again.begin(), again.end(), [](const Trial& t) { return t.measurement() == nullptr; }),
              again.end());
  const std::vector<Trial>& decisive = again.empty() ? trials : again;
  const Standings standings =
      again.empty() ? Standings{static_cast<std::size_t>(ranked.front() - trials.data()), 0, {}} : decide(again);
  const double wall_s = seconds_since(start);

  std::map<std::string, std::size_t> counts;
  std::size_t samples = 0, fewest = ~std::size_t{0};
  for (const Trial& trial : trials) {
    ++counts[std::string(kind(trial.outcome))];
    if (const Measurement* m = trial.measurement()) {
      samples += m->samples_ns.size();
      fewest = std::min(fewest, m->samples_ns.size());
    }
  }
  if (options.all)
    for (const Trial* trial : ranked) print(*trial, spec, size, device);
  for (const Trial& trial : trials)
    if (trial.measurement() == nullptr) print(trial, spec, size, device);
  TrialTimes spent;
  for (const std::vector<Trial>* const some : {&trials, &again})
    for (const Trial& trial : *some) spent += trial.times;
  fmt::print("{} on {} ({}), {}\n", spec.name, device.name, device.key.text(), size.text());
  fmt::print("{} configurations:", trials.size());
  for (const auto& [name, count] : counts) fmt::print(" {} {}", count, name);
  fmt::print("; {} samples, at least {} each\n", samples, fewest);
  fmt::print("finalists, interleaved:\n");
  for (const Trial& trial : again) print(trial, spec, size, device);
  fmt::print("device known {:.3f} s, first trial {:.3f} s, searched {:.3f} s\n", device_s, first_s, searched_s);
  fmt::print("run worker: wait {:.3f} s, load {:.3f}, verify {:.3f}, measure {:.3f}\n", spent.wait, spent.load,
             spent.verify, spent.measure);
  fmt::print("compile workers: {:.3f} s summed\n", spent.compile);
  fmt::print("best: {} at {:.2f} us{}\n", decisive[standings.winner].configuration.text(),
             decisive[standings.winner].measurement()->median_ns / 1e3,
             standings.ties.empty() ? "" : fmt::format(" ({} tied)", standings.ties.size()));
  fmt::print("wall time: {:.3f} s\n", wall_s);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const auto start = Clock::now();
  try {
    return run(parse(argc, argv), start);
  } catch (const std::exception& error) {
    fmt::print(stderr, "tune_blocks: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
