#include <tuner/session/tuning.hpp>

#include <nlohmann/json.hpp>

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
  StoreOptions storing;
  storing.strategy = options.session.strategy;
  storing.seed = options.session.seed;
  storing.origin = options.origin;
  storing.conditions = conditions_text(options);
  storing.objective = options.session.objective;
  storing.resume = options.resume;
  DatabaseStore store(wisdom.user(), spec, size, device, std::move(storing));

  // The host backend keeps its objects by itself.
  const bool keep_images = options.image_cache && device.key.backend != "host";
  const std::unique_ptr<ImageCacheAdapter> images =
      keep_images ? std::make_unique<ImageCacheAdapter>(observer) : nullptr;
  const bool isolate =
      options.isolation == Isolation::process && !options.reference && IsolatedEvaluator::can_isolate(spec);

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
  if (options.learn_from_elsewhere && !session.prior)
    session.prior = earlier_results(wisdom, spec, size, device, session.objective);
  return run_session(spec, size, device, *evaluator, &store, session, observer);
}

}  // namespace tuner
