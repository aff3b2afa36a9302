#pragma once
/// Verifies and measures configurations of one kernel and problem on a backend. Owns the buffers, the expected outputs,
/// and the usual clock and times. It does not compile (see expressions.hpp), so that compiling can happen elsewhere and
/// earlier.

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/core/result/outcome.hpp>
#include <tuner/core/values/elapsed.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/measure/numbers/output_values.hpp>
#include <tuner/measure/problem_buffers.hpp>
#include <tuner/measure/sampler.hpp>

namespace tuner {

struct KernelSpec;
struct ResolvedLaunch;

/// The current work of a runner.
enum class Phase { fill, prepare, load, verify, measure };
std::string_view text(Phase phase);

/// Whether \p outcome shows a race: the kernel was right with one order of its threads, and failed with another.
bool depends_on_order(const Outcome& outcome);

/// Called before each step that could hang, with the time that it may take. If the next call comes much later than
/// \p limit_s, a supervisor may conclude that the step hangs. It is the kernel's fault only if the step \p runs_kernel.
using PhaseListener = std::function<void(Phase phase, double limit_s, bool runs_kernel)>;

class Runner {
 public:
  /// Allocates and fills the buffers of \p size, which is completed, and of each `verify` problem. \p backend and \p
  /// spec must outlive the runner. Throws Error if there is no room or a buffer's count cannot be evaluated.
  Runner(Backend& backend, const KernelSpec& spec, const ProblemSize& size, MeasureOptions options = {},
         PhaseListener listener = {});
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Computes the expected outputs. Call it once, before evaluate(). \p image has the reference_expressions(); null if
  /// there are none. Throws Error if the reference fails, because then nothing could
  /// be verified.
  void prepare(const Image* image);

  /// About what prepare() found, for people: comparisons that prove little, and problems of tuner's choice on which
  /// nothing could be verified.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// Verifies and measures one configuration. Collects its metrics if options() ask for those of all. \p image has at
  /// least its launch_expressions(). \p best_ns: the median of the best so far; 0: none. A kernel's failure is an
  /// outcome, not an exception.
  Trial evaluate(const Configuration& configuration, const Image& image, double best_ns);

  /// From now on, evaluate() ends soon while no configuration has been measured. It takes fewer samples. For the
  /// kernel's default it leaves out other orders of threads, other inputs and the second verification. Finalists have
  /// these checks in any case. The listener may call this.
  void hurry() { hurried_ = true; }
  /// CompileRequest::stop of compiles that are needed for verification. It must outlive the runner.
  void set_stop(const std::atomic<bool>* stop) { stop_ = stop; }
  /// Whether the last evaluate() left checks out.
  bool left_out_checks() const { return left_out_checks_; }

  struct Finalist {
    Configuration configuration;
    const Image* image = nullptr;
    /// An earlier call has measured it: its threads in other orders are not tried again, and metrics are not collected.
    bool is_checked = false;
  };
  /// Measures \p finalists again, side by side. Each of finalist_rounds rounds takes finalist_samples samples of
  /// each on average. Their order changes between rounds, so that drift affects all alike. No round begins that
  /// would last longer than \p seconds, except the first three. All trials get the same Trial::round. The finalists
  /// must have been verified by evaluate() (of this or another runner). They are verified again after their last
  /// sample; then their metrics are collected. If one makes the device unusable, the others are LaunchErrors with
  /// `machine_fault`: they may be measured elsewhere. \p placement: if it is another number than before, the buffers of
  /// the problem are allocated anew first, in another order, and with an offset that depends on the number.
  std::vector<Trial> remeasure(std::span<const Finalist> finalists,
                               double seconds = std::numeric_limits<double>::infinity(), std::uint32_t placement = 0);

  /// Launches one configuration exactly once on the problem, with fresh inputs and poisoned outputs. Returns the
  /// failure that stopped it, if any.
  std::optional<Outcome> launch(const Configuration& configuration, const Image& image);
  /// Times the reference kernels on the problem. If their results change from run to run, the expected outputs change
  /// too. Precondition: prepare() was given their image.
  Outcome measure_reference();
  /// Copies of the outputs of the problem after the last run.
  HostBuffers outputs() const;
  /// Copies of the expected outputs; empty without a reference. Elements that are not compared are those of outputs().
  HostBuffers expected() const;
  /// Copies of the reference's results.
  HostBuffers reference_outputs() const;

  /// Whether it can run more configurations (Backend::usable()).
  bool usable() const { return backend_.usable(); }

 private:
  /// The variables of a module as they were when it was loaded.
  struct ModuleState {
    std::vector<std::unique_ptr<DeviceMemory>> originals;
    std::vector<Refill> refills;
  };
  /// The launches of one problem, ready to run.
  struct Ready {
    std::vector<Launch> launches;  ///< all; those that prepare come first
    std::vector<Launch> prepare;
    std::vector<Launch> timed;                           ///< the others that are part of the time
    std::vector<Launch> untimed;                         ///< those that follow
    std::shared_ptr<const ModuleState> state = nullptr;  ///< for timed runs; null: it has no variables
    std::optional<Resources> resources = {};
    std::optional<std::string> invalid = {};

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

  static constexpr double kHousekeepingSeconds = 60;  ///< comparing; filling again has a multiple of the first time
  static constexpr double kLoadSeconds = 30;          ///< a driver may compile PTX while it loads

  void make_problems(const ProblemSize& size);
  /// Adds a problem that tuner chose, if it can be made and the reference has an answer there.
  void add_own(const VerifyProblem& problem);
  bool prepare(ProblemBuffers& problem);
  void note_weak_comparisons();
  void require_own_problems() const;
  void note_not_tried(const VerifyProblem& problem, const std::string& why);
  /// The problem that is like \p problem; null: none.
  ProblemBuffers* find(const VerifyProblem& problem) const;
  std::optional<Outcome> verify_near(const Configuration& configuration, const Image& image, const Module& module);
  const ProblemBuffers& main() const { return *problems_.front(); }
  bool in_haste() const { return hurried_ && is_first_; }
  /// Decides whether evaluate() leaves checks of \p configuration out, and notes it.
  bool leave_out_checks(const Configuration& configuration);
  bool has_reference() const;
  const DeviceLimits& limits() const { return backend_.device().limits; }
  /// Before a step of our own, such as filling and comparing.
  void announce(Phase phase, double limit_s) const {
    if (listener_) listener_(phase, limit_s, false);
  }
  void announce_kernel(Phase phase, double limit_s) const {
    if (listener_) listener_(phase, limit_s, true);
  }

  Ready ready(const ProblemBuffers& problem, const std::vector<ResolvedLaunch>& launches, const Image& image,
              const Module& module, const Configuration& configuration, bool reference) const;
  /// The launches of \p configuration. Allocates its work space first.
  Ready ready(ProblemBuffers& problem, const Configuration& configuration, const Image& image,
              const Module& module) const;
  Ready ready_reference(const ProblemBuffers& problem) const;
  std::variant<std::unique_ptr<Module>, LaunchError> load(const Image& image, Phase phase = Phase::load) const {
    announce_kernel(phase, kLoadSeconds);
    return backend_.load(image);
  }
  /// Loads \p configuration for the main problem, or returns why that is not possible.
  std::variant<Loaded, Outcome> load(const Configuration& configuration, const Image& image) const;
  /// Copies buffers to the textures and surfaces that \p launches read, and to their constants if \p with_constants:
  /// `prepare` launches that ran by themselves may have changed these.
  void load_copies(const std::vector<Launch>& launches, bool with_constants = true);
  /// Copies the surfaces that \p launches wrote back to buffers.
  static void store_copies(const std::vector<Launch>& launches);
  std::optional<Outcome> run(Phase phase, ProblemBuffers& problem, const std::vector<Launch>& launches,
                             double* seconds = nullptr);
  /// A run whose results count. If launches that prepare take `out` buffers, these have no contents after them.
  std::optional<Outcome> run_afresh(Phase phase, ProblemBuffers& problem, const Ready& ready, bool reference);
  std::optional<Outcome> run_once(Phase phase, ProblemBuffers& problem, const std::vector<Launch>& launches,
                                  double& seconds, bool with_constants = true);
  void compute_reference(ProblemBuffers& problem);
  void run_reference(ProblemBuffers& problem);
  std::optional<Outcome> verify(ProblemBuffers& problem, const Configuration& configuration, const Image& image,
                                const Module& module);
  /// The contents of `out` buffers before a run: the poison, which differs from all expected elements; other numbers;
  /// or the results of an earlier run.
  enum class Found { poison, numbers, results };
  std::optional<Outcome> judge(ProblemBuffers& problem, const Ready& ready, std::string_view when,
                               Found found = Found::poison);
  bool restore(ProblemBuffers& problem);
  void restore_after(const std::optional<Outcome>& outcome);
  std::optional<Outcome> judge_runs_in_a_row(const Ready& ready, double run_s);
  /// \p run_s: about the time of a run.
  std::optional<Outcome> judge_after_timing(ProblemBuffers& problem, const Ready& ready, double run_s);
  std::optional<Outcome> judge_interleaved(Trial& trial);
  std::optional<Outcome> run_interleaved(const Configuration& configuration);
  std::optional<std::string> wrong(ProblemBuffers& problem, const Ready& ready, Found found,
                                   std::optional<Outcome>& failure);
  /// The launches of \p ready as the sampler takes them; valid until the next call. \p with_state: each sample begins
  /// with the variables of the module as they were when it was loaded.
  TimedWork timed_work(const Ready& ready, bool with_state = true);
  std::shared_ptr<const ModuleState> state_of(const Module& module, const Ready& ready) const;
  std::optional<Outcome> judge_timed_run(const Ready& ready, bool& was_excused);
  Sampler::Announce announce_measuring() const {
    return [this](double limit_s) { announce_kernel(Phase::measure, limit_s); };
  }
  Outcome judge_and_time(Trial& trial, const Image& image, double best_ns);

  struct Contender;
  template <typename Step>
  void attempt(Contender& one, Step step);
  void make_ready(Contender& one);
  std::optional<Outcome> begin(Contender& one, double& pause_left_s);
  std::optional<Outcome> sample(Contender& one, std::size_t samples, double& pause_left_s);
  std::optional<Outcome> finish(Contender& one);

  void collect_metrics(const Ready& run, Measurement& measurement);
  void count(const Ready& counted_run, std::vector<std::string> counters, Measurement& measurement);
  void measure_energy(const Ready& repeated, const std::vector<std::string>& asked, Measurement& measurement);
  std::optional<std::string> check_runs_in_a_row(const Ready& repeated, double median_ns);
  void measure_error(const Ready& ready, Measurement& measurement);
  /// Sets the flags of \p trial that depend on its outcome.
  void conclude(Trial& trial) const {
    if (trial.measurement() == nullptr) trial.verified = false;
    trial.crashed = std::holds_alternative<Timeout>(trial.outcome) || !backend_.usable();
  }

  Backend& backend_;
  const KernelSpec& spec_;
  MeasureOptions options_;
  const PhaseListener listener_;
  double housekeeping_s_ = kHousekeepingSeconds;  // may take so long, but does not hang
  Sampler sampler_;
  std::vector<std::unique_ptr<ProblemBuffers>> problems_;  // the main one first
  std::vector<std::unique_ptr<ProblemBuffers>> near_;      // for configurations that are invalid on the others
  std::vector<VerifyProblem> own_;                         // those that tuner chose
  std::vector<std::string> remarks_;
  std::string why_not_tried_;  // the last of them that has no result
  bool hurried_ = false, is_first_ = false, left_out_checks_ = false;
  const std::atomic<bool>* stop_ = nullptr;
  std::vector<Refill> refills_;              // of timed_work()
  int remeasured_ = 0;                       // calls of remeasure()
  std::set<std::string> right_interleaved_;  // configurations
  bool blocks_wait_ = false;                 // the kernel ends only if its blocks start in order
  std::unique_ptr<Module> reference_module_;
  Image reference_image_;                // its function table only
  std::string no_counters_, no_energy_;  // why they failed the first time; then they are not tried again
};

}  // namespace tuner
