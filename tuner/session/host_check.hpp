#pragma once
/// Runs what a GPU's tuning is about to name best on the host backend too, where the order of threads can be chosen: a
/// race that the GPU's own order hides shows there. On a small problem, in worker processes; times nothing.

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tuner/core/kernel_spec.hpp>
#include <tuner/measure/measure_options.hpp>
#include <tuner/session/tune_session.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {

struct HostCheckOptions {
  double seconds = 30;                          ///< for all configurations together; the one that runs then is given up
  std::size_t trials = 16;                      ///< configurations at most
  std::uint64_t seed = 1;                       ///< of the inputs
  std::size_t elements = std::size_t{1} << 20;  ///< of all buffers together, at most
  std::filesystem::path program = {};           ///< as in IsolatedOptions
  const std::atomic<bool>* stop = nullptr;      ///< once set, what runs is given up
};

class HostCheck final : public FinalistCheck {
 public:
  /// \p spec and options.stop must outlive it. \p size: the problem that is tuned. Starts nothing before it is asked.
  HostCheck(const KernelSpec& spec, const ProblemSize& size, HostCheckOptions options = {});
  /// Gives up what it has begun.
  ~HostCheck() override;

  /// Looks at \p configuration on a thread of its own, but for one after the other: what is expected meanwhile is not.
  void expect(const Configuration& configuration) override;

  /// What no order of threads may change is compared on the largest `verify` problem that is small enough, and all
  /// others. Where there is none, on a smaller problem of the same kind; there a result that is wrong in every order
  /// counts only if that of the kernel's default configuration is right, as the kernel may not be made for such sizes.
  std::optional<WrongResult> wrong(const Configuration& configuration) override;
  std::string why_not() const override { return why_not_; }  // of the last wrong()

 private:
  struct Problem {
    ProblemSize size;
    bool made_smaller = false;  ///< by us: nobody said that the kernel can do it
  };
  struct Answer {
    std::optional<WrongResult> wrong;
    std::string why_not;
  };
  Answer look(const Configuration& configuration);
  Answer look_at(const Configuration& configuration);
  bool must_stop() const;
  void take_ahead();
  std::vector<Problem> problems() const;
  std::size_t elements(const ProblemSize& size) const;
  std::optional<Problem> made_smaller() const;
  const Problem* problem_for(const Configuration& configuration, std::string& why_not);
  std::optional<Trial> evaluate(const Problem& problem, const Configuration& configuration);

  const KernelSpec& spec_;
  ProblemSize size_;
  HostCheckOptions options_;
  DeviceLimits limits_;
  std::vector<Problem> problems_;
  std::map<std::string, std::unique_ptr<IsolatedEvaluator>> evaluators_;  // by problem
  double spent_s_ = 0;
  std::size_t tried_ = 0;
  std::string why_not_;
  std::map<Configuration, Answer> answers_;
  std::atomic<bool> ending_ = false;
  Configuration ahead_configuration_;
  std::future<Answer> ahead_;  // last, as it uses what stands before
};

}  // namespace tuner
