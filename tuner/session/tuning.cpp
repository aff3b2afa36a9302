#include <tuner/session/tuning.hpp>

#include <mutex>
#include <utility>

#include <nlohmann/json.hpp>

#include <tuner/backend/traits.hpp>
#include <tuner/core/elapsed.hpp>
#include <tuner/core/error.hpp>

#include <tuner/measure/in_process_evaluator.hpp>
#include <tuner/session/backends.hpp>
#include <tuner/session/database_store.hpp>
#include <tuner/session/earlier_results.hpp>
#include <tuner/session/images.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner {
namespace {

/// Warnings come from compile threads too, and an observer is told on the session's thread only: they wait for its next
/// call.
class WarningsInTurn final : public Observer {
 public:
  explicit WarningsInTurn(Observer* observer) : observer_(observer) {}
  ~WarningsInTurn() override { pass_on(); }

  void on_start(const SessionPlan& plan) override {
    pass_on();
    if (observer_) observer_->on_start(plan);
  }
  void on_trial(const Trial& trial, const Progress& progress) override {
    pass_on();
    if (observer_) observer_->on_trial(trial, progress);
  }
  void on_finalists(std::size_t count) override {
    pass_on();
    if (observer_) observer_->on_finalists(count);
  }
  void on_warning(std::string_view message) override {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(message);
  }

 private:
  void pass_on() {
    std::vector<std::string> messages;
    {
      const std::lock_guard lock(mutex_);
      messages.swap(waiting_);
    }
    for (const std::string& message : messages)
      if (observer_) observer_->on_warning(message);
  }

  Observer* observer_;
  std::mutex mutex_;
  std::vector<std::string> waiting_;
};

/// How to measure for the session's objective: only a slow configuration can be given up for being slow.
MeasureOptions measuring(const TuningOptions& options) {
  MeasureOptions measure = options.measure;
  if (!options.session.objective.is_time()) measure.abandon_factor = 0;
  return measure;
}

std::unique_ptr<Evaluator> isolated(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                    const TuningOptions& options, ImageStore images) {
  IsolatedOptions isolation;
  isolation.backend = device.key.backend;
  isolation.device = device.index;
  isolation.known_device = device;
  isolation.images = std::move(images);
  return std::make_unique<IsolatedEvaluator>(spec, size, measuring(options), std::move(isolation));
}

std::unique_ptr<Evaluator> in_process(const KernelSpec& spec, const ProblemSize& size, Backend& backend,
                                      const TuningOptions& options, ImageStore images) {
  InProcessOptions here;
  here.images = std::move(images);
  here.reference = options.reference;
  return std::make_unique<InProcessEvaluator>(backend, spec, size, measuring(options), std::move(here));
}

}  // namespace

std::string conditions_text(const TuningOptions& options) {
  const MeasureOptions& measure = options.measure;
  return nlohmann::json{{"cold", measure.cold},
                        {"verify", measure.verify},
                        {"seed", measure.seed},
                        {"min_samples", measure.min_samples},
                        {"target_width", measure.target_width}}
      .dump();
}

SessionResult tune_kernel(const KernelSpec& spec, const ProblemSize& size, const Device& device, Wisdom& wisdom,
                          const TuningOptions& options, Observer* observer, Backend* backend) {
  const Clock::time_point started = options.session.started.value_or(Clock::now());
  const bool isolate = options.isolation == Isolation::process;
  if (isolate && options.reference)
    throw Error(spec.file + ": kernel '" + spec.name +
                "' is verified by a C++ function, which worker processes cannot "
                "run: tune it without isolation");
  if (options.measure.verify && spec.reference.empty() && !options.reference)
    throw Error(spec.file + ": kernel '" + spec.name +
                "' has no reference, so no configuration could be verified and "
                "none named best. Write a kernel that computes the outputs in the plainest way and name it: "
                "#pragma tuner reference NAME");
  WarningsInTurn in_turn(observer);
  StoreOptions storing;
  storing.strategy = options.session.strategy;
  storing.seed = options.session.seed;
  storing.origin = options.origin;
  storing.conditions = conditions_text(options);
  storing.objective = options.session.objective;
  storing.resume = options.resume;
  DatabaseStore store(wisdom.user(), spec, size, device, std::move(storing));

  const bool keep_images = options.image_cache && !traits(device.key).keeps_objects;
  const std::unique_ptr<ImageCacheAdapter> images =
      keep_images ? std::make_unique<ImageCacheAdapter>(&in_turn) : nullptr;
  std::unique_ptr<Backend> opened;
  if (!isolate && backend == nullptr) {
    opened = open_backend(device);
    backend = opened.get();
  }
  ImageStore image_store = images ? images->store() : ImageStore{};
  const std::unique_ptr<Evaluator> evaluator = isolate
                                                   ? isolated(spec, size, device, options, std::move(image_store))
                                                   : in_process(spec, size, *backend, options, std::move(image_store));
  SessionOptions session = options.session;
  session.started = started;
  if (options.learn_from_elsewhere && !session.prior)
    session.prior = earlier_results(wisdom, spec, size, device, session.objective);
  return run_session(spec, size, device, *evaluator, &store, session, &in_turn);
}

}  // namespace tuner
