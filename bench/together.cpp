// How good are sizes that are tuned together, and how many trials does it take? SizeRace runs against spaces whose
// times are known at all sizes, so this needs no GPU and takes seconds. It prints, for each space, the share of sizes
// within 3% of the optimum there, the largest regret, and the trials in terms of those of one size. Beside it stands
// what a search for each size by itself finds, with the trials of one size each.
//
//   together [--recorded FOLDER] [--trials 100] [--sizes 30] [--repeats 20] [--seed 1]
//
// The first space is a model of a reduction that is bound by launches, latency and memory in turn, with one size, and
// the second is the same with two. --recorded adds one for each kernel that was recorded on several devices
// (KERNEL_*.csv.gz in FOLDER). The devices then take the place of far-apart sizes, and between them, times are
// geometric means.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <bench/options.hpp>

#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/measure/numbers/statistics.hpp>
#include <tuner/replay/read_recorded_space.hpp>
#include <tuner/search/strategy.hpp>
#include <tuner/session/batch/size_race.hpp>

namespace {

using namespace tuner;
using Index = EnumeratedSpace::Index;

constexpr double kTolerance = 0.03, kNoise = 0.003;
/// In the searches after the first, of what is expected.
constexpr double kTrust = 0.7;

struct Options {
  std::string recorded;
  std::size_t trials = 100, sizes = 30, repeats = 20;
  std::uint64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv,
               {{"--recorded", bench::into(options.recorded)},
                {"--trials", bench::into(options.trials, 4)},
                {"--sizes", bench::into(options.sizes, 1)},
                {"--repeats", bench::into(options.repeats, 1)},
                {"--seed", bench::into(options.seed)}});
  return options;
}

/// A kernel whose times are known.
struct Kernel {
  std::string name;
  std::shared_ptr<const EnumeratedSpace> space;
  std::vector<JointSize> sizes;
  /// Without noise; nothing: it fails.
  std::function<std::optional<double>(Index, std::size_t size)> time;
};

/// A number from 0 to 1 that looks random.
double chance(std::uint64_t a, std::uint64_t b = 0, std::uint64_t c = 0) {
  std::uint64_t x = a * 0x9E3779B97F4A7C15u ^ (b + 1) * 0xBF58476D1CE4E5B9u ^ (c + 1) * 0x94D049BB133111EBu;
  for (int i = 0; i < 3; ++i) x = (x ^ (x >> 31)) * 0xD6E8FEB86659FD93u;
  return static_cast<double>(x >> 11) * 0x1.0p-53;
}

/// The sizes from 2^first to 2^last, evenly spread in their logarithm.
std::vector<std::int64_t> spread(double first, double last, std::size_t count) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < count; ++i) {
    const double part = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0;
    all.push_back(std::llround(std::exp2(first + part * (last - first))));
  }
  return all;
}

std::shared_ptr<const EnumeratedSpace> reduction_space() {
  std::vector<TuningParameter> parameters{{"block", {32, 64, 128, 256, 512, 1024}},
                                          {"blocks_per_sm", {1, 2, 4, 8, 16}},
                                          {"items", {1, 2, 4, 8, 16, 32}},
                                          {"staged", {0, 1}},
                                          {"unroll", {1, 2, 4, 8}},
                                          {"vector", {1, 2, 4}}};
  std::vector<std::uint64_t> codes(MixedRadix(parameters).product());
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = i;
  return std::make_shared<const EnumeratedSpace>(EnumeratedSpace::from_codes(std::move(parameters), std::move(codes)));
}

/// Of \p rows sums of \p n numbers each, in ns. No real kernel: its best configurations change with the sizes as those
/// of real ones do, and each configuration has its own character.
double reduction_time(const Configuration& c, Index index, double rows, double n) {
  const auto value = [&](const char* name) { return static_cast<double>(c.find(name)->integer()); };
  const double block = value("block"), items = value("items"), vector = value("vector"), unroll = value("unroll");
  const bool staged = c.find("staged")->integer() != 0;
  const double registers = 18 + items * vector / 3 + 3 * unroll;
  const double resident = std::floor(std::min({2048 / block, 65536 / (registers * block), 32.0}));
  const double tile = block * items * vector;
  const double per_row = std::min(std::ceil(n / tile), std::max(1.0, std::ceil(132 * value("blocks_per_sm") / rows)));
  const double grid = rows * per_row;
  const double waves = std::max(1.0, grid / (132 * std::max(resident, 0.5)));
  const double loops = std::max(1.0, n / per_row / tile);
  const double busy = std::min(grid, 132 * resident) * block;
  const double flight = busy * vector * 4 * std::min(unroll * 1.2, items);
  const double bandwidth = 4000 * (1 - std::exp(-flight / 1.2e6)) * (staged ? 1.05 : 1) * (registers > 128 ? 0.8 : 1);
  const double memory = 4 * rows * n / bandwidth;
  const double latency = waves * (500 + loops * (420 / std::min(unroll, items) * items / 4 + 25 * items) +
                                  60 * std::log2(block) + (staged ? 350 : 0));
  const double joining = 700 * (1 - 1 / per_row) + 2.5 * (grid - rows);
  const double smooth = 2200 + std::pow(std::pow(memory, 3) + std::pow(latency, 3), 1.0 / 3) + joining;
  const double own = 0.03 * (chance(index) - 0.5);
  const double turning = 0.007 * std::sin(6.28 * chance(index, 1) + std::log2(n) * (0.2 + 0.4 * chance(index, 2)));
  return smooth * std::exp(own + turning);
}

Kernel reduction(std::size_t count, bool has_rows) {
  const auto space = reduction_space();
  Kernel kernel{has_rows ? "model, two sizes" : "model", space, {}, {}};
  if (!has_rows) {
    for (const std::int64_t n : spread(10, 28, count)) kernel.sizes.push_back({{{"n", n}}});
  } else {
    const auto rows = spread(0, 14, 6), columns = spread(8, 18, (count + 5) / 6);
    for (const std::int64_t m : rows)
      for (const std::int64_t n : columns)
        if (kernel.sizes.size() < count) kernel.sizes.push_back({{{"m", m}, {"n", n}}});
  }
  kernel.time = [space, sizes = kernel.sizes](Index index, std::size_t size) -> std::optional<double> {
    const auto& at = sizes[size].sizes;
    const double rows = at.contains("m") ? static_cast<double>(at.at("m")) : 1;
    return reduction_time(space->configuration(index), index, rows, static_cast<double>(at.at("n")));
  };
  return kernel;
}

/// Each kernel in \p folder that was recorded on several devices.
std::vector<Kernel> recorded_kernels(const std::string& folder, std::size_t count) {
  std::map<std::string, std::vector<replay::RecordedSpace>> by_kernel;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    if (!name.ends_with(".csv.gz") || name.find("baseline") != std::string::npos) continue;
    const bool is_of_set = name.find("_milo") != std::string::npos;
    for (replay::RecordedSpace& space : replay::read_recorded_spaces(file))
      by_kernel[name.substr(0, name.find('_')) + (is_of_set ? "" : ", other")].push_back(std::move(space));
  }
  std::vector<Kernel> kernels;
  for (auto& [name, spaces] : by_kernel) {
    if (spaces.size() < 2) continue;
    Kernel kernel{name, spaces.front().space, {}, {}};
    for (const std::int64_t n : spread(10, 10 + 6 * double(spaces.size()), count)) kernel.sizes.push_back({{{"n", n}}});
    const auto shared = std::make_shared<const std::vector<replay::RecordedSpace>>(std::move(spaces));
    kernel.time = [shared, count](Index index, std::size_t size) -> std::optional<double> {
      const double place = double(size) / std::max<double>(double(count) - 1, 1) * double(shared->size() - 1);
      const std::size_t low = std::min(static_cast<std::size_t>(place), shared->size() - 2);
      const Configuration configuration = shared->front().space->configuration(index);
      double sum = 0;
      for (std::size_t i = low; i < low + 2; ++i) {
        const auto row = (*shared)[i].space->find(configuration);
        if (!row || !(*shared)[i].rows[*row].objective) return std::nullopt;
        sum += std::log(*(*shared)[i].rows[*row].objective) * (1 - std::abs(place - double(i)));
      }
      return std::exp(sum);
    };
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::optional<double> measured(const Kernel& kernel, Index index, std::size_t size, std::uint64_t seed) {
  std::optional<double> time = kernel.time(index, size);
  // A sum of uniform numbers is nearly normal.
  double normal = -2;
  for (std::uint64_t i = 0; i < 4; ++i) normal += chance(seed * 8 + i, index, size);
  if (time) *time *= std::exp(kNoise * normal * std::sqrt(3.0));
  return time;
}

using Observations = std::vector<search::Observation>;

Observations search_at(const Kernel& kernel, std::size_t size, std::size_t trials, const Observations& prior,
                       double trust, std::uint64_t seed) {
  search::StrategyOptions options{seed, trials, {}, {}};
  const auto strategy = search::make_strategy("auto", *kernel.space, options);
  if (!prior.empty()) strategy->seed_prior(prior, trust);
  Observations seen;
  while (seen.size() < trials) {
    const auto proposed = strategy->propose(1);
    if (proposed.empty()) break;
    seen.push_back({proposed.front(), measured(kernel, proposed.front(), size, seed), {}});
    strategy->learn({&seen.back(), 1});
  }
  return seen;
}

struct Run {
  std::vector<double> regrets, alone;  // by size: of the rule, and of a search for it alone
  std::size_t trials = 0, branches = 0;
  SizeRule::Regret between;
  double true_between = 0;  // median
};

/// The largest regret of the best rule that the whole space allows. Looks only at configurations that are good at some
/// sizes.
double ideal(const Kernel& kernel, const std::vector<double>& optima) {
  std::vector<Configuration> configurations;
  std::vector<std::vector<double>> regrets;
  std::vector<std::pair<double, Index>> all;
  for (Index index = 0; index < kernel.space->size(); ++index) {
    double good = 0;
    for (std::size_t size = 0; size < optima.size(); ++size)
      if (const auto time = kernel.time(index, size)) good += std::max(0.0, 0.05 - (*time / optima[size] - 1));
    all.emplace_back(-good, index);
  }
  std::ranges::sort(all);
  all.resize(std::min<std::size_t>(all.size(), 200));
  for (const auto& [good, index] : all) {
    configurations.push_back(kernel.space->configuration(index));
    std::vector<double>& row = regrets.emplace_back();
    for (std::size_t size = 0; size < optima.size(); ++size)
      row.push_back(kernel.time(index, size).value_or(HUGE_VAL) / optima[size] - 1);
  }
  const auto cover = cover_sizes(kernel.sizes, configurations, regrets);
  return cover ? cover->worst : HUGE_VAL;
}

Run run(const Kernel& kernel, const std::vector<double>& optima, const Options& options, std::uint64_t seed) {
  SizeRace race(kernel.sizes);
  while (const auto step = race.next()) {
    if (step->search > 0) {
      const auto trials = static_cast<std::size_t>(std::ceil(step->search * double(options.trials)));
      Observations prior;
      for (const auto& [configuration, time] : race.outlook(step->size))
        prior.push_back({*kernel.space->find(configuration), time, {}});
      for (const auto& one : search_at(kernel, step->size, trials, prior, kTrust, seed))
        race.learn(step->size, kernel.space->configuration(one.index), one.objective);
    }
    for (const Configuration& one : step->measure)
      race.learn(step->size, one, measured(kernel, *kernel.space->find(one), step->size, seed));
  }
  Run result;
  result.trials = race.trials();
  const auto found = race.rule();
  for (std::size_t size = 0; size < kernel.sizes.size(); ++size) {
    double regret = HUGE_VAL;
    if (found) {
      const auto index = kernel.space->find(found->rule.branch(kernel.sizes[size].sizes)->configuration);
      regret = kernel.time(*index, size).value_or(HUGE_VAL) / optima[size] - 1;
    }
    result.regrets.push_back(regret);
  }
  if (found) result.branches = found->rule.branches.size(), result.between = found->rule.between;
  for (std::size_t size = 0; size < kernel.sizes.size(); ++size) {
    const Observations seen = search_at(kernel, size, options.trials, {}, 0, seed);
    const auto best = std::ranges::min_element(seen, [](const auto& a, const auto& b) {
      return a.objective.value_or(HUGE_VAL) < b.objective.value_or(HUGE_VAL);
    });
    result.alone.push_back(kernel.time(best->index, size).value_or(HUGE_VAL) / optima[size] - 1);
  }
  return result;
}

void print(const Kernel& kernel, double ideal_worst, const std::vector<Run>& runs, std::size_t trials) {
  double within = 0, alone = 0, as_alone = 0, all = 0, spent = 0, most_spent = 0, branches = 0, covered = 0;
  std::vector<double> worst, worst_alone;
  for (const Run& run : runs) {
    double largest = 0, largest_alone = 0;
    for (std::size_t i = 0; i < run.regrets.size(); ++i) {
      within += run.regrets[i] <= kTolerance;
      alone += run.alone[i] <= kTolerance;
      as_alone += 1 + run.regrets[i] <= (1 + kTolerance) * (1 + run.alone[i]);
      all += 1;
      largest = std::max(largest, run.regrets[i]);
      largest_alone = std::max(largest_alone, run.alone[i]);
    }
    worst.push_back(largest);
    worst_alone.push_back(largest_alone);
    spent += double(run.trials) / double(trials) / double(runs.size());
    most_spent = std::max(most_spent, double(run.trials) / double(trials));
    branches += double(run.branches) / double(runs.size());
    covered += run.between.median;
  }
  fmt::print(
      "{:<22} {:>6} {:>6.1f}% {:>8.1f}% {:>8.1f}% {:>8.1f}% {:>8.1f}% {:>8.1f}% {:>6.2f} {:>6.2f} {:>5.1f} {:>7.2f}%\n",
      kernel.name, kernel.space->size(), 100 * ideal_worst, 100 * within / all, 100 * as_alone / all,
      100 * median(worst), 100 * alone / all, 100 * median(worst_alone), spent, most_spent, branches,
      100 * covered / double(runs.size()));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  std::vector<Kernel> kernels{reduction(options.sizes, false), reduction(options.sizes, true)};
  if (!options.recorded.empty())
    for (Kernel& one : recorded_kernels(options.recorded, options.sizes)) kernels.push_back(std::move(one));
  fmt::print("{} sizes, {} trials for one size, {} repeats; shares within {:.0f}%\n\n", options.sizes, options.trials,
             options.repeats, 100 * kTolerance);
  fmt::print("{:<22} {:>6} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6} {:>5} {:>8}\n", "space", "size", "ideal",
             "optimum", "alone", "worst", "each", "worst", "trials", "most", "rules", "between");
  for (const Kernel& kernel : kernels) {
    std::vector<double> optima(kernel.sizes.size(), HUGE_VAL);
    on_all_cores(optima.size(), [&](std::size_t size) {
      for (Index index = 0; index < kernel.space->size(); ++index)
        optima[size] = std::min(optima[size], kernel.time(index, size).value_or(HUGE_VAL));
    });
    std::vector<Run> runs(options.repeats);
    on_all_cores(runs.size(), [&](std::size_t r) { runs[r] = run(kernel, optima, options, options.seed + r); });
    print(kernel, ideal(kernel, optima), runs, options.trials);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "together: {}\n", error.what());
  return 1;
}
