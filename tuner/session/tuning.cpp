#include <tuner/session/tuning.hpp>

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

/// How to measure for the session's objective: only a slow configuration can be given up for being slow.
MeasureOptions measuring(const TuningOptions& options) {
  MeasureOptions measure = options.measure;
  if (!options.session.objective.is_time()) measure.abandon_factor = 0;
  return measure;
}

std::unique_ptr<Evaluator> isolated(const KernelSpec& spec, const ProblemSize& size, const Device& device,
                                    const TuningOptions& options, ImageStore images) {
  IsolatedOptions isolation;
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
  DatabaseStore store(wisdom.user(), spec, size, device,
                      {.session = {options.session.strategy, options.session.seed, options.origin},
                       .conditions = conditions_text(options),
                       .objective = options.session.objective,
                       .resume = options.resume,
                       .decides = options.decides});

  ImageStore images;
  if (options.image_cache && !traits(device.key).keeps_objects)
    images = image_cache([observer](std::string_view message) {
      if (observer) observer->on_warning(message);
    });
  std::unique_ptr<Backend> opened;
  if (!isolate && backend == nullptr) {
    opened = open_backend(device, OwnKernels::ahead);
    backend = opened.get();
  }
  const std::unique_ptr<Evaluator> evaluator = isolate ? isolated(spec, size, device, options, std::move(images))
                                                       : in_process(spec, size, *backend, options, std::move(images));
  SessionOptions session = options.session;
  session.started = started;
  if (options.learn_from_elsewhere && !session.prior)
    session.prior = earlier_results(wisdom, spec, size, device, session.objective);
  return run_session(spec, size, device, *evaluator, &store, session, observer);
}

}  // namespace tuner
