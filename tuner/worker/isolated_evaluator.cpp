#include <tuner/worker/isolated_evaluator.hpp>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <tuner/core/kernel_file.hpp>
#include <tuner/worker/evaluation_loop.hpp>
#include <tuner/worker/mailbox.hpp>

namespace tuner {

using worker::Mailbox;

namespace {

std::size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

IsolatedOptions with_defaults(IsolatedOptions options) {
  if (options.known_device) {
    options.backend = options.known_device->key.backend;
    options.device = options.known_device->index;
  }
  if (options.program.empty()) options.program = find_worker_program();
  if (options.compile_workers == 0) options.compile_workers = std::min<std::size_t>(cores(), 64);
  if (options.batch == 0) options.batch = options.backend == "host" ? 8 : options.compile_workers >= 4 ? 1 : 4;
  return options;
}

}  // namespace

/// In the order of their lives: the loop's thread uses what stands before it.
struct IsolatedEvaluator::State {
  State(const KernelSpec& spec, const ProblemSize& size, MeasureOptions measure, IsolatedOptions given)
      : options(with_defaults(std::move(given))),
        loop(spec, complete(spec, size), std::move(measure), options, mailbox) {}

  const IsolatedOptions options;
  Mailbox mailbox;
  worker::EvaluationLoop loop;
  std::size_t flying = 0;

  /// Passes a crash on to who wants to know.
  void report(const Trial& trial, bool lost) const {
    if (lost && options.on_crash) options.on_crash(trial.configuration, trial.outcome);
  }
};

bool IsolatedEvaluator::can_isolate(const KernelSpec& spec) {
  try {
    const KernelSpec parsed = parse_kernel_file(spec.source, spec.file);
    const auto& ours = spec.space.parameters();
    const auto& theirs = parsed.space.parameters();
    return parsed.name == spec.name &&
           std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                      [](const TuningParameter& a, const TuningParameter& b) { return a.name == b.name; });
  } catch (const Error&) {
    return false;
  }
}

IsolatedEvaluator::IsolatedEvaluator(const KernelSpec& spec, const ProblemSize& size, MeasureOptions measure,
                                     IsolatedOptions options) {
  if (!can_isolate(spec))
    throw Error(fmt::format("{}: kernel '{}' is described in code; worker processes can only run kernel files",
                            spec.file, spec.name));
  state_ = std::make_unique<State>(spec, size, std::move(measure), std::move(options));
}

IsolatedEvaluator::~IsolatedEvaluator() = default;

const Device& IsolatedEvaluator::device() { return state_->mailbox.device(); }

std::size_t IsolatedEvaluator::capacity() const {
  const IsolatedOptions& options = state_->options;
  return std::max<std::size_t>(2 * options.batch * options.compile_workers, 4);
}

std::size_t IsolatedEvaluator::in_flight() const { return state_->flying; }

void IsolatedEvaluator::submit(const Configuration& configuration, double best_ns) {
  ++state_->flying;
  state_->loop.submit(configuration, best_ns);
}

Event IsolatedEvaluator::next_event() {
  State& s = *state_;
  if (s.flying == 0) throw std::logic_error("IsolatedEvaluator::next_event: nothing is in flight");
  Mailbox::News item = s.mailbox.next();
  if (!std::holds_alternative<Compiled>(item.event)) --s.flying;
  if (const Trial* trial = std::get_if<Trial>(&item.event)) s.report(*trial, item.lost);
  return std::move(item.event);
}

void IsolatedEvaluator::prefer(std::span<const Configuration> order) {
  state_->loop.prefer({order.begin(), order.end()});
}

void IsolatedEvaluator::withdraw(std::span<const Configuration> configurations) {
  state_->loop.withdraw({configurations.begin(), configurations.end()});
}

std::vector<Trial> IsolatedEvaluator::remeasure(std::span<const Configuration> finalists) {
  State& s = *state_;
  if (finalists.empty()) return {};
  (void)device();
  std::vector<Trial> trials;
  for (Mailbox::Result& result : s.loop.remeasure({finalists.begin(), finalists.end()})) {
    s.report(result.trial, result.lost);
    trials.push_back(std::move(result.trial));
  }
  return trials;
}

SessionTimes IsolatedEvaluator::times() const { return state_->mailbox.times(); }

}  // namespace tuner
