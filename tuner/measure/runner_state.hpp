#pragma once
/// The state of a Runner. Private to the room: runner.cpp verifies and measures one configuration, runner_metrics.cpp
/// collects metrics, remeasure.cpp measures finalists again.

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tuner/core/elapsed.hpp>
#include <tuner/measure/recorded_launch.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/problem_buffers.hpp>
#include <tuner/measure/runner.hpp>
#include <tuner/measure/sampler.hpp>

namespace tuner {

inline constexpr double kFillSeconds = 600;         ///< from slow disks, or by expressions on the CPU
inline constexpr double kHousekeepingSeconds = 60;  ///< comparing; filling again has a multiple of the first time
inline constexpr double kLoadSeconds = 30;          ///< a driver may compile PTX while it loads

struct Runner::State {
  /// The launches of one problem, ready to run.
  struct Ready {
    std::vector<Launch> launches;  ///< all; those that prepare come first
    std::vector<Launch> prepare;
    std::vector<Launch> timed;  ///< the others that are part of the time
    std::optional<Resources> resources;
    std::optional<std::string> invalid;

    /// The launches of a sample.
    std::vector<Launch> prepared_and_timed() const {
      std::vector<Launch> all = prepare;
      all.insert(all.end(), timed.begin(), timed.end());
      return all;
    }
    std::span<const Launch> but_prepare() const { return std::span(launches).subspan(prepare.size()); }
  };
  struct Loaded {
    std::unique_ptr<Module> module;
    Ready run;
  };

  State(Backend& b, const KernelSpec& s, const ProblemSize& size, MeasureOptions o, PhaseListener l)
      : backend(b), spec(s), options(std::move(o)), listener(std::move(l)), sampler(backend, options) {
    announce(Phase::fill, kFillSeconds);
    const auto start = Clock::now();
    make_problems(size);
    housekeeping_s += 4 * seconds_since(start);
    announce(Phase::prepare, housekeeping_s);
  }

  void make_problems(const ProblemSize& size) {
    const ProblemSize main = complete(spec, size);
    problems.push_back(
        std::make_unique<ProblemBuffers>(backend, spec, main, 0, options, options.seed, &options.recorded));
    if (!options.verify || answers(spec, options.recorded))
      return;  // a recording has results for one problem and one set of inputs
    if (has_reference() && options.second_inputs) problems.front()->want_two_inputs();
    for (const VerifySpec& verify : spec.verification.problems)
      problems.push_back(std::make_unique<ProblemBuffers>(backend, spec, complete(spec, verify_size(main, verify)),
                                                          verify.offset, options, options.seed + problems.size()));
  }

  const ProblemBuffers& main() const { return *problems.front(); }
  bool has_reference() const {
    return options.verify && (answers(spec, options.recorded) || spec.reference_kind() != ReferenceKind::none);
  }
  const DeviceLimits& limits() const { return backend.device().limits; }
  void announce(Phase phase, double limit_s) const {
    if (listener) listener(phase, limit_s);
  }

  Ready ready(const ProblemBuffers& problem, const std::vector<ResolvedLaunch>& launches, const Image& image,
              const Module& module, const Configuration& configuration, bool reference) const;
  /// The launches of \p configuration. Allocates its work space first.
  Ready ready(ProblemBuffers& problem, const Configuration& configuration, const Image& image,
              const Module& module) const;
  Ready ready_reference(const ProblemBuffers& problem) const;
  std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image, Phase phase = Phase::load) const {
    announce(phase, kLoadSeconds);
    return backend.load(image);
  }
  /// Loads \p configuration for the main problem, or returns why that is not possible.
  std::variant<Loaded, Outcome> load(const Configuration& configuration, const Image& image) const;
  /// Copies buffers to the constants, textures and surfaces that \p launches read.
  void load_copies(const std::vector<Launch>& launches);
  /// Copies the surfaces that \p launches wrote back to buffers.
  static void store_copies(const std::vector<Launch>& launches);
  std::optional<Outcome> run(Phase phase, ProblemBuffers& problem, const std::vector<Launch>& launches,
                             double* seconds = nullptr);
  void compute_reference(ProblemBuffers& problem);
  void run_reference(ProblemBuffers& problem);
  std::optional<Outcome> verify(ProblemBuffers& problem, const Configuration& configuration, const Image& image,
                                const Module& module);
  std::optional<Outcome> judge(ProblemBuffers& problem, const std::vector<Launch>& launches, std::string_view when);
  bool restore(ProblemBuffers& problem);
  void restore_after(const std::optional<Outcome>& outcome);
  std::optional<Outcome> judge_after_timing(ProblemBuffers& problem, const std::vector<Launch>& launches);
  std::optional<Outcome> judge_interleaved(Trial& trial);
  std::optional<Outcome> run_interleaved(const Configuration& configuration);
  std::optional<std::string> wrong(ProblemBuffers& problem, const std::vector<Launch>& launches,
                                   std::optional<Outcome>& failure);
  Outcome evaluate(Trial& trial, const Image& image, double best_ns);

  struct Contender;
  void make_ready(Contender& one);
  void begin(Contender& one, double& pause_left_s);
  void sample(Contender& one, double& pause_left_s);
  void finish(Contender& one);

  void collect_metrics(const Ready& run, Measurement& measurement);
  void count(const Ready& counted_run, std::vector<std::string> counters, Measurement& measurement);
  void measure_energy(const Ready& repeated, const std::vector<std::string>& asked, Measurement& measurement);
  void measure_error(const std::vector<Launch>& launches, Measurement& measurement);
  /// Sets the flags of \p trial that depend on its outcome.
  void conclude(Trial& trial) const {
    if (trial.measurement() == nullptr) trial.verified = false;
    trial.crashed = std::holds_alternative<Timeout>(trial.outcome) || !backend.usable();
  }

  Backend& backend;
  const KernelSpec& spec;
  MeasureOptions options;
  const PhaseListener listener;
  double housekeeping_s = kHousekeepingSeconds;  ///< may take so long, but does not hang
  Sampler sampler;
  std::vector<std::unique_ptr<ProblemBuffers>> problems;  // the main one first
  int remeasured = 0;                                     // calls of remeasure()
  std::set<std::string> right_interleaved;                // configurations
  bool blocks_wait = false;                               // the kernel ends only if its blocks start in order
  std::unique_ptr<Module> reference_module;
  Image reference_image;               // its function table only
  std::string no_counters, no_energy;  // why they failed the first time; then they are not tried again
};

}  // namespace tuner
