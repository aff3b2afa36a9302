#pragma once
/// Before a tuning on a GPU names a configuration best, runs it on the host backend too. There the order of threads can
/// be chosen, which shows races that the GPU's own order hides. If the host cannot run it, compute-sanitizer watches it
/// on the GPU. Uses a small problem and worker processes, and measures no times.

#include <chrono>
#include <future>
#include <memory>
#include <string_view>

#include <tuner/measure/measure_options.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {

struct WinnerCheckOptions {
  /// The time for all configurations together. A configuration that runs longer is given up.
  double seconds = 30;
  std::size_t trials = 16;  ///< the most configurations
  std::uint64_t seed = 1;   ///< of the inputs
  /// Where compute-sanitizer watches what the host cannot run; nullopt: nowhere.
  std::optional<Device> device = {};
  /// When it is set, the running configuration is given up.
  const std::atomic<bool>* stop = nullptr;
  /// From then on nothing is checked, and the running configuration is given up.
  std::optional<std::chrono::steady_clock::time_point> until = {};
};

/// The reason to distrust a wrong result of \p spec on the host, or empty. The host backend leaves out code that
/// `__CUDA_ARCH__` guards.
std::string_view doubt_about_host(const KernelSpec& spec);

/// The problem on which a configuration is checked.
struct CheckProblem {
  ProblemSize size;
  bool made_smaller = false;  ///< not named by anybody, so the kernel may not support it
};
/// The largest problem with at most 2^20 elements for which \p configuration is valid: \p size or one of a `verify`
/// line. If there is none, \p size is made smaller. With \p may_be_large the last resort is the smallest larger one of
/// them. nullopt if there is none; \p why_not then says why, as the end of a sentence.
std::optional<CheckProblem> check_problem(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                                          const Configuration& configuration, bool may_be_large, std::string& why_not);

class WinnerCheck final : public FinalistCheck {
 public:
  /// \p spec and options.stop must outlive it. \p size: the problem that is tuned. Starts no process until it is asked.
  WinnerCheck(const KernelSpec& spec, const ProblemSize& size, WinnerCheckOptions options = {});
  /// Gives up the running configuration.
  ~WinnerCheck() override;

  /// Starts checking \p configuration on a background thread. Does nothing while another check is running, or once half
  /// of the limits is spent: the rest is for ask().
  void expect(const Configuration& configuration) override;

  /// Uses check_problem(), which may be large only on a GPU. A result that is wrong on the host in every order counts
  /// only without doubt_about_host(). If the problem was made smaller, the kernel's default configuration must be right
  /// there, too. A kernel that the host cannot run is given to Sanitizer. Its launches must not disturb a measurement,
  /// so only ask() does this.
  Answer ask(const Configuration& configuration) override;
  /// The last check took so long. The first one also starts a process.
  double seconds() const override { return last_s_; }

 private:
  struct Looked {
    Answer answer;
    bool in_limits = true;  ///< else nothing else may look at it either
  };
  Looked look(const Configuration& configuration);
  Answer look_on_host(const Configuration& configuration);
  Answer watch(const Configuration& configuration, std::string why_not_there);
  bool must_stop() const;
  bool is_late() const;
  std::optional<Trial> evaluate(const CheckProblem& problem, const Configuration& configuration);

  const KernelSpec& spec_;
  ProblemSize size_;
  WinnerCheckOptions options_;
  std::optional<DeviceLimits> host_;
  std::map<std::string, std::unique_ptr<IsolatedEvaluator>> evaluators_;  // by problem
  double spent_s_ = 0;
  std::atomic<double> last_s_ = 0;
  std::size_t tried_ = 0;
  std::atomic<bool> ending_ = false;
  std::shared_future<Looked> ahead_;  // looks at one on a background thread
  std::map<Configuration, std::shared_future<Looked>> answers_;
};

}  // namespace tuner
