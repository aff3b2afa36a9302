#pragma once
/// Stand-ins for sessions in tests: an evaluator that answers from a function, a small kernel.

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel_file/kernel_file.hpp>
#include <tuner/core/result/evaluator.hpp>
#include <tuner/measure/compile_queue.hpp>
#include <tuner/session/tuning/tune_session.hpp>

namespace tuner::testing {

inline KernelSpec small_kernel() {
  return parse_kernel_file(R"(
#pragma tuner kernel copy
#pragma tuner type T = float
#pragma tuner size n
#pragma tuner parameter block = 32 64 128 256
#pragma tuner parameter unroll = 1 2 4
#pragma tuner constraint small: block * unroll <= 512
#pragma tuner block block
#pragma tuner grid ceil_div(n, block * unroll)
#pragma tuner in a[n]
#pragma tuner out b[n]
#pragma tuner arguments a, b, n
#pragma tuner instantiate copy<T, block, unroll>
template <typename T, int block, int unroll> __global__ void copy(const T* a, T* b, int n);
)",
                           "copy.cu");
}

inline ProblemSize small_problem() { return complete(small_kernel(), {{{"n", 1000}}, {}}); }

inline Device some_device() {
  Device device;
  device.key = {"cuda", 90, 132, 62914560, 6144, 232448, 65536, ""};
  device.environment = {"13.0", "nvrtc 13.0"};
  device.name = "Test GPU";
  return device;
}

inline Trial measured(const Configuration& configuration, double ns, int registers = 32) {
  Measurement measurement;
  measurement.samples_ns = {ns, ns, ns};
  measurement.median_ns = ns;
  measurement.low_ns = ns * 0.999;
  measurement.high_ns = ns * 1.001;
  Trial trial;
  trial.configuration = configuration;
  trial.outcome = measurement;
  trial.verified = true;
  trial.resources = Resources{};
  trial.resources->registers = registers;
  return trial;
}

inline Trial failed(const Configuration& configuration, Outcome outcome) {
  Trial trial;
  trial.configuration = configuration;
  trial.outcome = std::move(outcome);
  return trial;
}

/// Nanoseconds with a single optimum at block=128 unroll=2.
inline double cost(const Configuration& configuration) {
  const auto distance = [](std::int64_t a, std::int64_t b) { return static_cast<double>(a > b ? a - b : b - a); };
  return 1000 + distance(configuration.find("block")->integer(), 128) +
         50 * distance(configuration.find("unroll")->integer(), 2);
}

inline Trial cost_of(const Configuration& configuration) { return measured(configuration, cost(configuration)); }

class FakeEvaluator final : public Evaluator {
 public:
  using Answer = std::function<Trial(const Configuration&)>;
  explicit FakeEvaluator(Answer answer = cost_of, std::size_t capacity = 3)
      : answer_(std::move(answer)), capacity_(capacity) {}

  std::size_t capacity() const override { return capacity_; }
  void submit(const Configuration& configuration, double) override {
    submitted.push_back(configuration);
    if (tells_of_compiling)
      compiling_.push_back(configuration);
    else
      waiting_.push_front(configuration);
  }
  std::size_t in_flight() const override { return compiling_.size() + waiting_.size() + taken_back_.size(); }
  std::optional<Event> next_event(
      std::chrono::duration<double>) override {  // last in, first out, because trials may finish in any order
    if (!taken_back_.empty()) {
      Withdrawn event{taken_back_.front()};
      taken_back_.pop_front();
      return event;
    }
    if (!compiling_.empty()) {
      Compiled event{compiling_.front(), Resources{}};
      event.resources.registers = static_cast<int>(cost(event.configuration) / 20);
      waiting_.push_back(compiling_.front());
      compiling_.pop_front();
      return event;
    }
    const Configuration configuration = waiting_.front();
    waiting_.pop_front();
    Trial trial = answer_(configuration);
    if (lost_after && submitted.size() - waiting_.size() >= lost_after) lost_ = true;
    return trial;
  }
  void prefer(std::span<const Configuration> order) override {
    preferred = true;
    put_in_order(waiting_, order, std::identity());
  }
  void withdraw(std::span<const Configuration> configurations) override {
    if (!tells_of_compiling) return;  // all are running
    for (Configuration& one : take_out(waiting_, configurations, std::identity())) {
      withdrawn.push_back(one);
      taken_back_.push_back(std::move(one));
    }
  }
  void hurry() override { hurried = true; }
  bool usable() const override { return !lost_; }
  std::vector<std::string> remarks() const override { return said; }
  double seconds_to_start() const override { return start_s; }
  std::vector<Trial> remeasure(std::span<const Configuration> finalists, double, const std::function<bool()>& stop,
                               Placement placement) override {
    if (at_finals) at_finals();
    if (stop && stop()) return {};
    remeasured.assign(finalists.begin(), finalists.end());
    rounds.push_back(remeasured);
    placements.push_back(placement);
    if (fails_from_round > 0 && rounds.size() >= fails_from_round) throw Error("the device is lost");
    std::vector<Trial> trials;
    if (again) {
      for (const Configuration& configuration : finalists) trials.push_back(again(configuration));
      for (Trial& trial : trials) trial.round = 1;
    }
    return trials;
  }

  std::vector<Configuration> submitted, remeasured, withdrawn;
  std::vector<std::vector<Configuration>> rounds;  // all lists of which `remeasured` is the last
  std::vector<Placement> placements;               // of them
  double start_s = 0;
  std::size_t fails_from_round = 0;
  bool tells_of_compiling = false;  // reports each submission as Compiled first, in order
  bool preferred = false;
  bool hurried = false;
  Answer again;
  std::vector<std::string> said;    ///< its remarks
  std::function<void()> at_finals;  // called when finalists are about to be measured again
  std::size_t lost_after = 0;

 private:
  Answer answer_;
  std::size_t capacity_;
  std::deque<Configuration> compiling_, waiting_, taken_back_;
  bool lost_ = false;
};

}  // namespace tuner::testing
