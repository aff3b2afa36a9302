// How good are the first trials of a tuning without any stored result, and what are estimates worth? Tunes kernels of
// templates/ and examples/gallery/ twice, with the times of ExpectedTimes and without. Prints shares of the optimum: of
// the default, of the first trial after it, and of the best of eight and twenty trials. The best of both tunings is the
// optimum.
//
//   first_trials [--device cuda] [--seconds 6] [--seed 1] [--kernel NAME]... [--plan]
//   first_trials --recorded [--repeats 20] [--ahead 16]
//
// --seconds: of each tuning. --plan prints the problems and the time that they take, and measures nothing. --recorded
// needs no GPU: searches run on the spaces in cache/recordings, whose kernel files are in the source tree.

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bench/job.hpp>

#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/replay/replay_run.hpp>
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/expected_times.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace {

using namespace tuner;

constexpr const char* kKernels[] = {"reduce",     "prefixSum", "histogram",  "compact",        "sumMatrix2D",
                                    "attention",  "coulomb",   "gemm",       "longRowSoftmax", "nbody",
                                    "rowSoftmax", "stencil3D", "tensorGemm", "transpose",      "warpReduce"};

struct Recorded {
  const char* file;
  const char* kernel;
  std::map<std::string, std::int64_t> sizes;
};

struct Options {
  std::string device = "cuda";
  std::uint64_t seconds = 6, seed = 1, repeats = 20, ahead = 16;
  std::vector<std::string> kernels;
  bool plan = false, recorded = false;
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv,
               {{"--device", bench::into(options.device)},
                {"--seconds", bench::into(options.seconds, 1)},
                {"--seed", bench::into(options.seed)},
                {"--repeats", bench::into(options.repeats, 1)},
                {"--ahead", bench::into(options.ahead, 1)},
                {"--kernel", [&](const std::string& text) { options.kernels.push_back(text); }}},
               {{"--plan", &options.plan}, {"--recorded", &options.recorded}});
  if (options.kernels.empty()) options.kernels.assign(std::begin(kKernels), std::end(kKernels));
  return options;
}

KernelSpec kernel(const std::string& name) {
  for (const char* const folder : {"templates/", "examples/gallery/"})
    if (const auto file = bench::source_file(folder + name + ".cu"); std::filesystem::exists(file))
      return read_kernel_file(file.string());
  throw Error("no kernel " + name + " in templates/ and examples/gallery/");
}

/// Keeps the times of a tuning's trials in their order; infinite: it failed. It ends the tuning when its time is over,
/// so that no finalists are measured.
class Listener final : public Observer {
 public:
  explicit Listener(double seconds) : seconds_(seconds) {}
  void on_trial(const Trial& trial, const Progress& progress) override {
    const Measurement* const measured = trial.verified ? trial.measurement() : nullptr;
    times.push_back(measured ? measured->median_ns : HUGE_VAL);
    configurations.push_back(trial.configuration);
    if (progress.elapsed.count() >= seconds_) stop = true;
  }
  std::vector<double> times;
  std::vector<Configuration> configurations;
  std::atomic<bool> stop{false};

 private:
  double seconds_;
};

/// Shares of the optimum.
struct Shares {
  double first = 0;  ///< of the first trial after the default
  double eight = 0, twenty = 0;
};

Shares shares(const Listener& heard, const KernelSpec& spec, double optimum) {
  if (heard.times.empty()) return {};  // the device was lost
  const auto best_of = [&](std::size_t count) {
    const auto end = heard.times.begin() + static_cast<std::ptrdiff_t>(std::min(count, heard.times.size()));
    return optimum / *std::min_element(heard.times.begin(), end);
  };
  const std::size_t first = heard.configurations.front() == spec.default_configuration ? 1 : 0;
  return {first < heard.times.size() ? optimum / heard.times[first] : 0, best_of(8), best_of(20)};
}

void tune(const KernelSpec& spec, const ProblemSize& size, const Device& device, const Options& options, bool estimate,
          Listener& heard) {
  IsolatedOptions workers = workers_on(device);
  workers.images = {};
  IsolatedEvaluator evaluator(spec, size, {}, workers);
  SessionOptions session;
  session.seed = options.seed;
  session.budget.wall_time = std::chrono::seconds(10 * options.seconds);  // the listener ends it before
  session.estimate = estimate;
  session.stop = &heard.stop;
  run_session(spec, size, device, evaluator, nullptr, session, &heard);
}

int measure(const Options& options) {
  fmt::print("{} problems, two tunings of {} s each: {} s, and 1 to 2 s for each start of the workers\n\n",
             options.kernels.size(), options.seconds, 2 * options.seconds * options.kernels.size());
  if (options.plan) {
    for (const std::string& name : options.kernels) {
      const KernelSpec spec = kernel(name);
      fmt::print("{}: {}\n", name, complete(spec, {}).text());
    }
    return EXIT_SUCCESS;
  }
  const Device device = choose_device(options.device).device;
  fmt::print("{}; shares of the optimum; with: from estimates\n\n", device.name);
  std::array<std::vector<double>, 6> columns;
  fmt::print("| kernel | default | first | with | of 8 | with | of 20 | with | trials | with |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
  for (const std::string& name : options.kernels) {
    const KernelSpec spec = kernel(name);
    const ProblemSize size = complete(spec, {});
    std::array<Listener, 2> heard{Listener(static_cast<double>(options.seconds)),
                                  Listener(static_cast<double>(options.seconds))};
    for (const bool estimate : {false, true}) tune(spec, size, device, options, estimate, heard[estimate ? 1 : 0]);
    double optimum = HUGE_VAL, common = HUGE_VAL;
    for (const Listener& one : heard)
      for (std::size_t i = 0; i < one.times.size(); ++i) {
        optimum = std::min(optimum, one.times[i]);
        if (one.configurations[i] == spec.default_configuration) common = std::min(common, one.times[i]);
      }
    if (!std::isfinite(optimum)) throw Error(name + ": no configuration worked");
    const Shares without = shares(heard[0], spec, optimum), with = shares(heard[1], spec, optimum);
    const std::array<double, 6> row{without.first, with.first, without.eight, with.eight, without.twenty, with.twenty};
    for (std::size_t i = 0; i < row.size(); ++i) columns[i].push_back(row[i]);
    fmt::print("| {} | {:.3f} | {:.3f} | {} | {} |\n", name, optimum / common, fmt::join(row, " | "),
               heard[0].times.size(), heard[1].times.size());
    std::fflush(stdout);
  }
  for (auto& column : columns) column = {median(column)};
  fmt::print("| median | | {:.3f} | | |\n", fmt::join(std::array{columns[0][0], columns[1][0], columns[2][0],
                                                                 columns[3][0], columns[4][0], columns[5][0]},
                                                      " | "));
  return EXIT_SUCCESS;
}

/// The expected time of each configuration of \p recorded, as results known beforehand.
replay::RecordedSpace expected(const replay::RecordedSpace& recorded, const KernelSpec& spec, const ProblemSize& size,
                               const DeviceLimits& limits, std::uint64_t seed) {
  replay::RecordedSpace known = recorded;
  for (replay::RecordedRow& row : known.rows) row.objective.reset();
  const auto all = ExpectedTimes(spec, size, limits, *recorded.space).all(seed);
  if (all.empty()) throw Error(recorded.name + ": nothing is expected of its configurations");
  for (const search::Observation& one : all) known.rows[one.index].objective = one.objective;
  return known;
}

int replay_recorded(const Options& options) {
  const Recorded all[] = {{"reduce_float_2e24", "reduce", {}},
                          {"gemm_float_2048", "gemm", {}},
                          {"nbody_float_16384", "nbody", {{"n", 16384}}},
                          {"rowSoftmax_float_32768x1024", "rowSoftmax", {}},
                          {"stencil3D_float_384", "stencil3D", {}},
                          {"transpose_float_8192", "transpose", {}}};
  const DeviceLimits limits = cuda::limits_of_architecture("sm_90");
  fmt::print(
      "H200, recorded; mean shares of the optimum after {} trials, the default first, without estimates and from "
      "them\n\n",
      fmt::join(replay::kShareTrials, ", "));
  fmt::print("| kernel | without | with |\n| --- | --- | --- |\n");
  replay::Shares sums[2]{};
  for (const Recorded& one : all) {
    const auto file = bench::source_file(fmt::format("cache/recordings/{}_h200.jsonl.gz", one.file));
    const std::vector<replay::RecordedSpace> spaces = replay::read_recorded_spaces(file);
    const KernelSpec spec = kernel(one.kernel);
    const replay::RecordedSpace known =
        expected(spaces.at(0), spec, complete(spec, {one.sizes, {}}), limits, options.seed);
    replay::ReplayOptions replayed;
    replayed.repeats = options.repeats;
    replayed.seed = options.seed;
    replayed.ahead = options.ahead;
    replayed.budget.trials = replay::kShareTrials.back();
    if (spec.default_configuration) replayed.first = {*spec.default_configuration};
    fmt::print("| {} |", one.kernel);
    for (const bool with : {false, true}) {
      replayed.prior = with ? &known : nullptr;
      const replay::Shares found = replay::run_replay({spaces.at(0)}, replayed).spaces.at(0).results.at(0).shares;
      fmt::print(" {:.3f} |", fmt::join(found, " "));
      for (std::size_t i = 0; i < found.size(); ++i) sums[with ? 1 : 0][i] += found[i] / std::size(all);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
  fmt::print("| mean | {:.3f} | {:.3f} |\n", fmt::join(sums[0], " "), fmt::join(sums[1], " "));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse(argc, argv);
    return options.recorded ? replay_recorded(options) : measure(options);
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "first_trials: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
