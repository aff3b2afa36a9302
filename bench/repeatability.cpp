// Do tunings with different seeds choose the right configuration? First finds the truth: measures all configurations
// with ten samples each, then the fastest ones interleaved over many rounds. Then runs complete tunings, each with its
// own seed and processes, and compares their choices with the truth.
//
//   repeatability [--device cuda|host] [--kernel FILE] [--size NAME=N]... [--hot] [--tunings 20] [--strategy auto]
//                 [--trials N] [--fastest 12] [--rounds 250]
//
// Without --trials, a tuning tries the whole space. Images stay in memory, so later tunings compile only new ones.
// Their number is printed. Exit status 0 when every choice is within 1% of the best.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
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
#include <tuner/session/tuning/device_choice.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/session/wisdom/kept_images.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace {

using namespace tuner;

constexpr double kTolerance = 0.01;

struct Options {
  bench::Job job;
  std::size_t tunings = 20;
  std::string strategy = "auto";
  std::optional<std::size_t> trials;
  std::size_t fastest = 12;  ///< configurations that are measured at length
  std::size_t rounds = 250;  ///< two samples each
};

Options parse(int argc, char** argv) {
  Options options;
  bench::parse(argc, argv, options.job,
               {{"--tunings", bench::into(options.tunings)},
                {"--strategy", bench::into(options.strategy)},
                {"--trials", bench::into(options.trials, 1)},
                {"--fastest", bench::into(options.fastest, 1)},
                {"--rounds", bench::into(options.rounds, 1)}});
  return options;
}

class Repeatability {
 public:
  explicit Repeatability(Options options)
      : options_(std::move(options)),
        device_(choose_device(options_.job.device).device),
        spec_(read_kernel_file(options_.job.kernel.string())),
        size_(complete(spec_, {options_.job.sizes, {}})) {}

  int run() {
    fmt::print("{} on {} ({}), {}\n", spec_.name, device_.name, device_.key.text(), size_.text());
    establish();
    compiled_first_ = compiled_;
    std::vector<Configuration> picks;
    for (std::size_t seed = 1; seed <= options_.tunings; ++seed) {
      picks.push_back(tune(seed));
      measure_stranger(picks.back());
    }
    return judge(picks);
  }

 private:
  IsolatedOptions isolation() {
    IsolatedOptions options;
    options.backend = device_.key.backend;
    options.devices = {device_.index};
    options.known_device = device_;
    options.images.get = [this](const CompileRequest& request, std::string_view compiler) -> std::optional<Image> {
      const std::lock_guard lock(mutex_);
      const auto at = images_.find(image_key(request, compiler));
      return at == images_.end() ? std::nullopt : std::optional(at->second);
    };
    options.images.put = [this](const CompileRequest& request, std::string_view compiler, const Image& image) {
      const std::lock_guard lock(mutex_);
      images_[image_key(request, compiler)] = image;
      ++compiled_;
    };
    return options;
  }

  MeasureOptions measuring() const {
    MeasureOptions measure;
    measure.use = options_.job.hot ? Use::hot : Use::single;
    return measure;
  }

  MeasureOptions at_length() const {
    MeasureOptions measure = measuring();
    measure.abandon_factor = 0;
    measure.max_samples = measure.min_samples = 10;
    measure.finalist_rounds = options_.rounds;
    return measure;
  }

  void establish() {
    IsolatedEvaluator evaluator(spec_, size_, at_length(), isolation());
    const EnumeratedSpace space = enumerate(spec_, size_, device_.limits);
    std::vector<EnumeratedSpace::Index> order;
    for (std::size_t i = 0; i < space.size(); ++i) order.push_back(static_cast<EnumeratedSpace::Index>(i));
    std::shuffle(order.begin(), order.end(), std::mt19937_64(0));

    std::vector<std::pair<double, Configuration>> ranking;
    std::size_t next = 0;
    while (next < order.size() || evaluator.in_flight() > 0) {
      while (next < order.size() && evaluator.in_flight() < evaluator.capacity())
        evaluator.submit(space.configuration(order[next++]), 0);
      const Trial trial = evaluator.next();
      if (trial.verified && trial.measurement())
        ranking.emplace_back(trial.measurement()->median_ns, trial.configuration);
    }
    if (ranking.empty()) throw Error("no configuration works");
    std::sort(ranking.begin(), ranking.end());
    std::vector<Configuration> fastest;
    for (std::size_t i = 0; i < std::min(options_.fastest, ranking.size()); ++i) fastest.push_back(ranking[i].second);
    for (const Trial& trial : evaluator.remeasure(fastest)) {
      const Measurement* measured = trial.measurement();
      if (measured == nullptr) throw Error(trial.configuration.text() + ": " + std::string(message(trial.outcome)));
      truth_[trial.configuration] = *measured;
    }
    best_ = std::min_element(truth_.begin(), truth_.end(), [](const auto& a, const auto& b) {
              return a.second.median_ns < b.second.median_ns;
            })->first;
    fmt::print("{} of {} configurations work; the fastest, {} samples each, interleaved:\n", ranking.size(),
               order.size(), truth_.at(best_).samples_ns.size());
    std::vector<const std::pair<const Configuration, Measurement>*> rows;
    for (const auto& row : truth_) rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [](auto a, auto b) { return a->second.median_ns < b->second.median_ns; });
    for (const auto* row : rows) {
      const Measurement& m = row->second;
      fmt::print("  {:<40} {:10.3f} us  [{:.3f}, {:.3f}]  noise {:.2f}%  {:.4f}\n", row->first.text(),
                 m.median_ns / 1e3, m.low_ns / 1e3, m.high_ns / 1e3, 100 * m.relative_noise, ratio(row->first));
    }
  }

  Configuration tune(std::uint64_t seed) {
    IsolatedEvaluator evaluator(spec_, size_, measuring(), isolation());
    SessionOptions session;
    session.strategy = options_.strategy;
    session.seed = seed;
    session.budget.trials = options_.trials;
    const SessionResult result = run_session(spec_, size_, device_, evaluator, nullptr, session, nullptr);
    if (!result.best) throw Error(fmt::format("the tuning with seed {} found nothing", seed));
    fmt::print("seed {:<4} {:<40} {:10.3f} us stated, {} trials, {} tied, {:.2f} s\n", seed,
               result.best->configuration.text(), result.best->measurement()->median_ns / 1e3, result.trials.size(),
               result.ties.size(), result.wall_seconds);
    std::fflush(stdout);
    return result.best->configuration;
  }

  /// Measures a pick that was not measured at length now, beside the best.
  void measure_stranger(const Configuration& pick) {
    if (truth_.contains(pick)) return;
    IsolatedEvaluator evaluator(spec_, size_, at_length(), isolation());
    const std::vector<Configuration> pair{best_, pick};
    const std::vector<Trial> trials = evaluator.remeasure(pair);
    const Measurement* best = trials.at(0).measurement();
    const Measurement* other = trials.at(1).measurement();
    if (!best || !other) throw Error(pick.text() + " cannot be measured beside the best");
    Measurement scaled = *other;  // the device may have drifted
    scaled.median_ns *= truth_.at(best_).median_ns / best->median_ns;
    truth_[pick] = scaled;
  }

  double ratio(const Configuration& configuration) const {
    return truth_.at(configuration).median_ns / truth_.at(best_).median_ns;
  }

  int judge(const std::vector<Configuration>& picks) const {
    std::map<Configuration, std::size_t> times;
    double worst = 1;
    std::size_t within = 0;
    for (const Configuration& pick : picks) {
      ++times[pick];
      worst = std::max(worst, ratio(pick));
      within += ratio(pick) <= 1 + kTolerance ? 1 : 0;
    }
    fmt::print("picks:\n");
    for (const auto& [pick, n] : times)
      fmt::print("  {:<40} {:3} times  {:.4f} of the best\n", pick.text(), n, ratio(pick));
    fmt::print("compiled: {} configurations to establish the best, {} in {} tunings\n", compiled_first_,
               compiled_ - compiled_first_, picks.size());
    fmt::print("worst {:.4f}; within {:.0f}%: {} of {}\n", worst, 100 * kTolerance, within, picks.size());
    return within == picks.size() ? EXIT_SUCCESS : EXIT_FAILURE;
  }

  Options options_;
  Device device_;
  KernelSpec spec_;
  ProblemSize size_;
  std::mutex mutex_;
  std::map<std::string, Image> images_;
  std::map<Configuration, Measurement> truth_;
  Configuration best_;
  std::size_t compiled_ = 0, compiled_first_ = 0;  // all, and those of establish()
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return Repeatability(parse(argc, argv)).run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "repeatability: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
