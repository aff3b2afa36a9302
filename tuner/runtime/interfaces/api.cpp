// The public functions besides those of kernels: tune() and run(), configure() and trim(), reductions and sums, and
// arrays.
#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <stdexcept>

#include <tuner/array.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/device/metric.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/error.hpp>
#include <tuner/explain/explain_trial.hpp>
#include <tuner/measure/single_run.hpp>
#include <tuner/reduce.hpp>
#include <tuner/run.hpp>
#include <tuner/runtime/background/renewal.hpp>
#include <tuner/runtime/decide/decide.hpp>
#include <tuner/runtime/interfaces/leaving.hpp>
#include <tuner/runtime/interfaces/served_kernel.hpp>
#include <tuner/session/batch/stored_answer.hpp>
#include <tuner/session/tuning/backends.hpp>
#include <tuner/session/tuning/kernel_library.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/sum_matrix_2d.hpp>
#include <tuner/tune.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

struct Warner : Observer {
  void on_warning(std::string_view message) override { runtime::Serving::process().warn(message); }
};

/// Passes trials to the caller's function and records its wish to stop.
class CallbackObserver final : public Warner {
 public:
  CallbackObserver(const TuneOptions& options, std::atomic<bool>& stop) : options_(options), stop_(stop) {}
  void on_trial(const Trial&, const Progress& progress) override {
    const double best = progress.best ? progress.best->measurement()->median_ns : 0;
    try {
      if (options_.on_trial && !options_.on_trial(progress.finished, best)) stop_ = true;
    } catch (...) {
      throw runtime::FromCaller{std::current_exception()};
    }
  }

 private:
  const TuneOptions& options_;
  std::atomic<bool>& stop_;
};

/// A TuneResult or RunResult from a stored record or a measurement.
template <typename Result, typename Times>
Result result_of(std::string configuration, const Times& times) {
  Result result;
  result.configuration = std::move(configuration);
  result.median_ns = times.median_ns;
  result.low_ns = times.low_ns;
  result.high_ns = times.high_ns;
  return result;
}

/// Those of \p names that were measured.
std::map<std::string, double> metrics_of(const Measurement& measured, const std::vector<std::string>& names) {
  std::map<std::string, double> metrics;
  for (const std::string& name : names)
    if (const auto at = measured.metrics.find(name); at != measured.metrics.end()) metrics.insert(*at);
  return metrics;
}

/// The configuration of a launch, changed as \p text says.
Configuration configuration_of(const KernelSpec& spec, const cache::WisdomMatch& match, const std::string& text) {
  Configuration chosen = spec.default_configuration.value_or(Configuration{});
  if (match.best) chosen = Configuration::parse(match.best->configuration);
  try {
    const Configuration given = Configuration::parse(text);
    for (const auto& [name, value] : given.entries()) chosen.set(name, value);
  } catch (const std::invalid_argument& error) {
    throw Error(ErrorCode::invalid_argument, std::string("tuner::run: ") + error.what());
  }
  return chosen;
}

/// Whether \p spec is tuned in worker processes in any case: problems of tuner's choice may fault where no call of the
/// program would, and a fault on a GPU costs the process its context.
bool needs_workers(const KernelSpec& spec, const ProblemSize& size, const Device& device) {
  return traits(device.key).is_gpu && std::ranges::any_of(verify_problems(spec, size, device.limits),
                                                          [](const VerifyProblem& one) { return one.is_own(); });
}

ErrorCode code_of(const Outcome& outcome) {
  if (std::holds_alternative<CompileError>(outcome)) return ErrorCode::compiler;
  if (std::holds_alternative<Invalid>(outcome)) return ErrorCode::invalid_argument;
  const auto* const failed = std::get_if<LaunchError>(&outcome);
  return failed != nullptr ? failed->code : ErrorCode::other;
}

}  // namespace

inline namespace TUNER_ABI {

TuneResult tune(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const TuneOptions& options) try {
  const KernelSpec& spec = kernel.spec();
  if (options.wall_time && !(options.wall_time->count() > 0))
    throw Error(ErrorCode::invalid_argument, "TuneOptions::wall_time is " + std::to_string(options.wall_time->count()) +
                                                 ", not a positive number of seconds");
  if (options.trials == std::size_t{0})
    throw Error(ErrorCode::invalid_argument,
                "TuneOptions::trials is 0, but a tuning measures at least the default; leave it unset for any number");
  const runtime::ServedProblem problem(*kernel.served_, sizes, choices);
  runtime::ServedDevice& served = problem.device;
  const Device device = served.tuned_device();
  const bool isolated = options.isolated || needs_workers(spec, problem.size, device);
  if (isolated && !IsolatedEvaluator::can_isolate(spec))
    throw runtime::refusal(
        spec.name, std::string(" cannot be tuned in worker processes, which read kernel files: it is described in code "
                               "alone") +
                       (options.isolated ? ""
                                         : ". Name the problems on which it is verified, with `verify`: those of "
                                           "tuner's choice may fault, so they never run in this process"));
  std::atomic<bool> stop{false};
  CallbackObserver observer(options, stop);
  TuningOptions tuning;
  tuning.session.budget.wall_time = options.wall_time;
  tuning.session.budget.trials = options.trials;
  tuning.session.strategy = options.strategy;
  tuning.session.seed = options.seed;
  tuning.session.stop = &stop;
  tuning.session.stop_is_final = true;
  tuning.isolation = isolated ? Isolation::process : Isolation::none;
  tuning.host_check = options.check_on_host;
  tuning.resume = !options.force;
  tuning.origin = "tuner::tune";
  tuning.measure.metrics = options.metrics;
  if (const StoredAnswer known = stored_answer(problem.terms.wisdom, spec, problem.size, device, tuning);
      known.is_answer) {
    auto result = result_of<TuneResult>(known.match.best->configuration, *known.match.best);
    result.from_cache = true;
    result.tried = known.tried;
    result.valid = known.valid;
    runtime::Renewal::process().renew(spec.name);  // another process may have just stored it
    for (const std::string& remark : known.remarks) observer.on_warning(remark);
    return result;
  }
  problem.terms.wisdom.require_not_frozen("tune");

  const runtime::TuningHere here;
  const SessionResult session =
      tune_kernel(spec, problem.size, device, problem.terms.wisdom, tuning, &observer, served.backend.get());
  if (!session.best) throw no_winner(spec, problem.size, session);
  runtime::Renewal::process().renew(spec.name);

  const Measurement& best = *session.best->measurement();
  auto result = result_of<TuneResult>(session.best->configuration.text(), best);
  result.metrics = metrics_of(best, expand_metrics(options.metrics));
  result.trials = result.tried = session.trials.size();
  result.valid = session.valid;
  for (const Trial& trial : session.trials) {
    if (!trial.measurement()) ++result.failures[std::string(kind(trial.outcome))];
  }
  return result;
} catch (...) {
  runtime::leave_with_error();
}

RunResult run(const Kernel& kernel, const Sizes& sizes, const Choices& choices, const RunOptions& options) try {
  const runtime::ServedProblem problem(*kernel.served_, sizes, choices);
  const KernelSpec& spec = kernel.spec();
  const ProblemSize& size = problem.size;
  runtime::ServedDevice& device = problem.device;
  const cache::WisdomMatch match = problem.terms.wisdom.lookup(spec, size, device.device());

  MeasureOptions measure;
  measure.cold = options.cold;
  measure.verify = options.verify;
  measure.own_problems = !traits(device.device().key).is_gpu;  // they may fault: see needs_workers()
  Device known = device.device();                              // a copy: other threads may read the served one
  measure_ceilings(known);
  TuningOptions asked;
  asked.measure.metrics = options.metrics;
  Warner observer;
  measure.metrics = measurable_metrics(asked, known, [&](std::string_view text) { observer.on_warning(text); });
  measure.metrics_for_all = true;
  SingleRun one(*device.backend, spec, size, configuration_of(spec, match, options.configuration), measure);
  const Trial trial = one.measure();
  const Measurement* const measured = trial.measurement();
  if (!measured)
    throw Error(code_of(trial.outcome),
                spec.program.file + ": " + trial.configuration.text() + ": " + std::string(message(trial.outcome)));

  const Verdict verdict =
      explain(spec, size, known, trial.configuration, *measured, one.launches(),
              match.tier == cache::Tier::exact && match.best->configuration == trial.configuration.text());
  auto result = result_of<RunResult>(trial.configuration.text(), *measured);
  result.verified = trial.verified;
  result.limit = name(verdict.limit);
  result.reason = verdict.reason;
  result.metrics = metrics_of(*measured, measure.metrics);
  if (!measured->no_metrics.empty()) observer.on_warning("metrics are missing: " + measured->no_metrics);
  for (const LaunchDetail& launch : one.launches())
    result.launches.push_back({launch.expression, launch.shape.grid, launch.shape.block, launch.shared_bytes(),
                               launch.resources.registers, launch.resources.spill_bytes, launch.resources.occupancy,
                               launch.occupancy ? std::string(name(launch.occupancy->limiter)) : std::string()});
  return result;
} catch (...) {
  runtime::leave_with_error();
}

void configure(Settings settings) { runtime::Serving::process().configure(std::move(settings)); }

void trim() try { runtime::ServedDevice::trim_all(); } catch (...) {
  runtime::leave_with_error();
}

namespace detail {
namespace {

/// The built-in kernel for each operation and order, parsed once. Never destroyed: destructors of static objects may
/// call reduce().
runtime::ServedKernel& kernel_for(const ReduceOptions& options) {
  (void)runtime::Serving::process().ordinal();  // refuses a forked child, which might wait for the kernels for ever
  constexpr const char* operations[] = {"sum", "min", "max", "product"};
  constexpr const char* orders[] = {"fixed", "any"};
  using Kernels = std::vector<std::unique_ptr<runtime::ServedKernel>>;
  static const Kernels& kernels = [&]() -> const Kernels& {
    const std::future<void> opening = runtime::Serving::process().open_meanwhile();
    auto& made = *new Kernels;
    const auto spec = std::make_shared<const KernelSpec>(KernelLibrary().find("reduce"));
    for (const char* operation : operations) {
      for (const char* order : orders)
        made.push_back(
            std::make_unique<runtime::ServedKernel>(spec, Choices{{"operation", operation}, {"order", order}}));
    }
    return made;
  }();
  const auto operation = static_cast<std::size_t>(options.operation), order = static_cast<std::size_t>(options.order);
  if (operation >= std::size(operations) || order >= std::size(orders))
    throw Error(ErrorCode::invalid_argument, "tuner::reduce: unknown operation or order");
  return *kernels[operation * std::size(orders) + order];
}

}  // namespace

void reduce_async(const LaunchArgument& data, Size n, void* out, const ReduceOptions& options) try {
  const LaunchArgument arguments[] = {data, launch_argument(out)};
  kernel_for(options).launch({options.stream, options.workspace, {n}, arguments, 2});
} catch (...) {
  runtime::leave_with_error();
}

void reduce(const LaunchArgument& data, Size n, void* result, std::size_t result_bytes,
            const ReduceOptions& options) try {
  LaunchArgument arguments[] = {data, launch_argument(static_cast<void*>(nullptr))};
  const runtime::Value value{&arguments[1], result, result_bytes};
  kernel_for(options).launch({options.stream, options.workspace, {n}, arguments, 2, &value});
} catch (...) {
  runtime::leave_with_error();
}

std::size_t reduce_prepare(const LaunchArgument& data, Size n, const ReduceOptions& options, std::size_t captures) try {
  const LaunchArgument arguments[] = {data, launch_argument(static_cast<void*>(nullptr))};
  return kernel_for(options).prepare({options.stream, {}, {n}, arguments, 2, nullptr, true}, captures);
} catch (...) {
  runtime::leave_with_error();
}

void sum_matrix_2d(const LaunchArgument (&matrices)[3], const Sizes& sizes, Stream stream) try {
  (void)runtime::Serving::process().ordinal();  // as above
  // Never destroyed, as above.
  static runtime::ServedKernel& kernel =
      *new runtime::ServedKernel(std::make_shared<const KernelSpec>(KernelLibrary().find("sumMatrix2D")), Choices{});
  kernel.launch({stream, {}, sizes, matrices, 3});
} catch (...) {
  runtime::leave_with_error();
}

struct ArrayMemory::Impl {
  ~Impl() {
    const BesideCaptures allowed(context);
    memory.reset();
  }

  ContextName context;
  std::shared_ptr<Backend> backend;  // may outlive the context
  std::unique_ptr<DeviceMemory> memory;
};

ArrayMemory::ArrayMemory(std::size_t bytes) try {
  const CallContext context(nullptr, runtime::Serving::process().ordinal());
  const BesideCaptures allowed(context.name());
  impl_ = std::make_unique<Impl>();
  impl_->context = context.name();
  impl_->backend = runtime::ServedDevice::of(impl_->context).backend;
  impl_->memory = impl_->backend->allocate(std::max<std::size_t>(bytes, 1));
} catch (...) {
  runtime::leave_with_error();
}

ArrayMemory::~ArrayMemory() = default;
ArrayMemory::ArrayMemory(ArrayMemory&&) noexcept = default;
ArrayMemory& ArrayMemory::operator=(ArrayMemory&&) noexcept = default;

void* ArrayMemory::address() const { return reinterpret_cast<void*>(impl_->memory->address()); }

void ArrayMemory::upload(const void* from, std::size_t bytes) try {
  const BesideCaptures allowed(impl_->context);
  if (bytes > 0) impl_->backend->upload(impl_->memory->address(), from, bytes);
} catch (...) {
  runtime::leave_with_error();
}

void ArrayMemory::download(void* to, std::size_t bytes) const try {
  const BesideCaptures allowed(impl_->context);
  if (is_alive(impl_->context)) wait_for_all(impl_->context);
  if (bytes > 0) impl_->backend->download(to, impl_->memory->address(), bytes);
} catch (...) {
  runtime::leave_with_error();
}

}  // namespace detail
}  // namespace TUNER_ABI
}  // namespace tuner
