#include <bench/truth/parts.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>

#include <fmt/format.h>

#include <tuner/core/kernel/validity.hpp>
#include <tuner/measure/numbers/paired_comparison.hpp>
#include <tuner/measure/numbers/statistics.hpp>

namespace bench::truth {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

// Seconds on an H200, for the plan.
constexpr double kAroundTuning = 0.6;  // until workers have ended and results are read
constexpr double kProcess = 0.8;       // one placement
constexpr double kRun = 0.8;           // `tune run`, and as much for served calls

/// The time of a shorter kernel depends on where a process has code and data, so a median over kProcesses is compared.
constexpr double kShortNs = 20e3;
constexpr std::size_t kProcesses = 5;

const Names kProblems{"reduce n=2^14",
                      "reduce n=2^20",
                      "sumMatrix2D nx=3000 ny=3000",
                      "examples/gallery/rowSoftmax.cu",
                      "examples/gallery/gemm.cu",
                      "examples/gallery/stencil3D.cu",
                      "prefixSum n=2^20",
                      "examples/gallery/nbody.cu n=2^14"};
const Names kTold{"reduce n=2^10",
                  "reduce n=2^14",
                  "reduce n=2^20",
                  "reduce n=2^26",
                  "sumMatrix2D nx=3000 ny=3000",
                  "sumMatrix2D nx=16384 ny=16384",
                  "examples/gallery/rowSoftmax.cu",
                  "examples/gallery/gemm.cu"};
const Names kClasses{"reduce n=2^14",
                     "reduce n=2^20",
                     "sumMatrix2D nx=2048 ny=2048",
                     "examples/gallery/rowSoftmax.cu rows=8192 columns=1024",
                     "examples/gallery/gemm.cu m=1024 n=1024 k=1024",
                     "examples/gallery/stencil3D.cu nx=256 ny=256 nz=256",
                     "prefixSum n=2^20",
                     "examples/gallery/nbody.cu n=2^14"};
constexpr const char* kSlowedKernel = "slowed";
const Names kSlowed{"bench/data/slowed.cu n=2^16 steps=25000", "bench/data/slowed.cu n=2^24 steps=0"};

/// The problems in \p options, with the kernel that can be slowed down or without it; \p otherwise if there are none.
std::vector<std::shared_ptr<const Problem>> problems(const Options& options, const Names& otherwise,
                                                     bool can_be_slowed = false) {
  std::vector<std::shared_ptr<const Problem>> all;
  for (const Names& names : {options.problems, otherwise}) {
    for (const std::string& text : names)
      if (auto one = std::make_shared<Problem>(Problem::parse(text));
          (one->spec.name == kSlowedKernel) == can_be_slowed)
        all.push_back(std::move(one));
    if (!all.empty()) break;
  }
  return all;
}

double tuning_seconds(double budget) { return budget + kAroundTuning; }

/// The tunings of this run, so that `told` uses one of `winners`.
struct Tunings {
  struct One {
    Tuned tuned;
    std::filesystem::path folder;
  };
  std::map<std::pair<std::string, std::uint64_t>, One> known;

  /// Its folder is in use afterwards.
  const Tuned& get(Lab& lab, const Problem& problem, std::uint64_t seed, const Limits& limits) {
    const auto [at, is_new] = known.try_emplace({problem.text(), seed});
    if (is_new) {
      at->second.folder = lab.use_new_folder();
      at->second.tuned = lab.tune(problem, seed, limits);
    }
    lab.use(at->second.folder);
    return at->second.tuned;
  }
};

/// Replays \p configurations in \p processes new ones: the median in each.
Replays replay(Lab& lab, const Problem& problem, const std::set<std::string>& configurations, std::size_t processes) {
  const Names names(configurations.begin(), configurations.end());
  Replays replays;
  for (std::size_t i = 0; i < processes; ++i)
    for (const auto& [name, ns] : lab.place(problem, names, i)) replays[name].push_back(tuner::median(ns));
  return replays;
}

Json winners(Lab& lab, Tunings& tunings, const Problem& problem, const Options& options) {
  Json seeds = Json::array();
  std::set<std::string> all;
  for (std::size_t i = 0; i < options.seeds; ++i) {
    const std::uint64_t seed = options.first_seed + i;
    const Tuned& tuned = tunings.get(lab, problem, seed, options.limits);
    all.insert(tuned.configuration);
    seeds.push_back({{"seed", seed},
                     {"configuration", tuned.configuration},
                     {"told_ns", tuned.told_ns},
                     {"trials", tuned.trials},
                     {"seconds", tuned.seconds}});
  }
  Json finding{{"part", "winners"}, {"problem", problem.text()}, {"seeds", seeds}};
  if (problem.spec.default_configuration) {
    const auto is_valid = [&](const std::string& configuration) {
      return !why_invalid(problem.spec, problem.size, lab.device().limits, tuner::Configuration::parse(configuration));
    };
    lab.use_new_folder();
    const std::string usual = problem.spec.default_configuration->text();
    if (is_valid(usual)) finding["default"] = usual;
    // The shipped one may be the fastest that is known. Both may be impossible at this size.
    for (const std::string& one : {usual, lab.served(problem, /*shipped=*/true)})
      if (is_valid(one)) all.insert(one);
  }
  finding["replays"] = replay(lab, problem, all, options.samples);
  return finding;
}

Json told(Lab& lab, Tunings& tunings, const Problem& problem, const Options& options) {
  const Tuned& tuned = tunings.get(lab, problem, options.first_seed, options.limits);
  const auto over_processes = [&](auto&& time) {
    std::vector<double> times(tuned.told_ns < kShortNs ? kProcesses : 1);
    std::ranges::generate(times, time);
    return tuner::median(times);
  };
  return {{"part", "told"},
          {"problem", problem.text()},
          {"configuration", tuned.configuration},
          {"told_ns", tuned.told_ns},
          {"had",
           {{"search", tuned.search_ns},
            {"finalists", tuned.final_ns},
            {"new process", over_processes([&] { return lab.run_ns(problem, tuned.configuration); })},
            {"served call", over_processes([&] { return lab.call_ns(problem); })}}}};
}

Problem scaled(const Problem& problem, double factor) {
  Problem other = problem;
  for (auto& [name, value] : other.size.sizes)
    value = std::max<std::int64_t>(1, std::llround(static_cast<double>(value) * factor));
  return other;
}

/// Sizes between \p problem and twice its sizes, where both are tuned.
Json classes(Lab& lab, const Problem& problem, const Options& options) {
  const Limits limits{options.class_budget, options.limits.trials};
  const std::filesystem::path tuned = lab.use_new_folder();
  lab.tune(problem, options.first_seed, limits);
  lab.tune(scaled(problem, 2), options.first_seed, limits);
  std::mt19937_64 random(options.first_seed);
  Json draws = Json::array();
  for (std::size_t i = 0; i < options.draws; ++i) {
    const Problem drawn = scaled(problem, std::exp2(std::uniform_real_distribution<double>(0, 1)(random)));
    lab.use(tuned);
    const std::string served = lab.served(drawn, /*shipped=*/false);
    lab.use_new_folder();
    const std::string own = lab.tune(drawn, options.first_seed, limits).configuration;
    draws.push_back({{"problem", drawn.text()},
                     {"served", served},
                     {"own", own},
                     {"replays", replay(lab, drawn, {served, own}, (options.samples + 2) / 3)}});
  }
  return {{"part", "classes"}, {"problem", problem.text()}, {"draws", draws}};
}

std::string slowed(int percent, int copy) { return fmt::format("copy={} percent={}", copy, percent); }
constexpr int kCopies = 8;        // of the kernel, equally fast
constexpr int kSlowedCopies = 4;  // slower by 1%

Json compared(const std::vector<Placement>& placements, const std::string& a, const std::string& b) {
  std::vector<tuner::PlacementTimes> times;
  for (const Placement& one : placements) times.push_back({one.at(a), one.at(b)});
  const tuner::PairedComparison found = tuner::compare_pairs(times);
  return {{"verdict", name(found.verdict)}, {"ratio", found.ratio}, {"placements", found.placements}};
}

Json comparisons(Lab& lab, const Problem& problem, const Options& options) {
  Names all;
  for (int copy = 0; copy < kCopies; ++copy) all.push_back(slowed(0, copy));
  for (int copy = 0; copy < kSlowedCopies; ++copy) all.push_back(slowed(1, copy));
  Json equal = Json::array(), slower = Json::array();
  std::uint64_t seed = 0;
  for (std::size_t i = 0; i < options.comparisons; ++i) {
    std::vector<Placement> placements;
    while (placements.size() < options.placements) placements.push_back(lab.place(problem, all, seed++));
    for (int a = 0; a < kCopies; ++a) {
      for (int b = a + 1; b < kCopies; ++b) {
        Json one = compared(placements, slowed(0, a), slowed(0, b));
        one["apart"] = a % 2 == 0 && b == a + 1;
        equal.push_back(std::move(one));
      }
    }
    for (int copy = 0; copy < kSlowedCopies; ++copy)
      slower.push_back(compared(placements, slowed(0, copy), slowed(1, copy)));
  }
  return {{"part", "compare"}, {"problem", problem.text()}, {"equal", equal}, {"slower", slower}};
}

}  // namespace

bool Options::has(const std::string& part) const {
  return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
}

std::vector<Step> steps(const Options& options) {
  std::vector<Step> all;
  const auto tunings = std::make_shared<Tunings>();
  std::set<std::string> tuned;
  const double samples = static_cast<double>(options.samples);
  if (options.has("winners") || options.has("seeds")) {
    for (const auto& problem : problems(options, kProblems)) {
      tuned.insert(problem->text());
      all.push_back({"winners: " + problem->text(),
                     static_cast<double>(options.seeds) * tuning_seconds(options.limits.seconds) + samples * kProcess,
                     [=](Lab& lab) { return winners(lab, *tunings, *problem, options); }});
    }
  }
  if (options.has("told"))
    for (const auto& problem : problems(options, kTold))
      all.push_back(
          {"told: " + problem->text(),
           2 * kProcesses * kRun + (tuned.contains(problem->text()) ? 0 : tuning_seconds(options.limits.seconds)),
           [=](Lab& lab) { return told(lab, *tunings, *problem, options); }});
  if (options.has("classes")) {
    const double draws = static_cast<double>(options.draws);
    for (const auto& problem : problems(options, kClasses))
      all.push_back({"classes: " + problem->text(),
                     (2 + draws) * tuning_seconds(options.class_budget) + draws * std::ceil(samples / 3) * kProcess,
                     [=](Lab& lab) { return classes(lab, *problem, options); }});
  }
  if (options.has("compare"))
    for (const auto& problem : problems(options, kSlowed, /*can_be_slowed=*/true)) {
      all.push_back({"compare: " + problem->text(),
                     static_cast<double>(options.comparisons * options.placements) * kProcess,
                     [=](Lab& lab) { return comparisons(lab, *problem, options); }});
    }
  return all;
}

}  // namespace bench::truth
