#include <tuner/runtime/decide/first_tuning.hpp>

#include <algorithm>
#include <thread>

#include <cache/query/browse.hpp>

#include <tuner/backend/all/backends.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/size_classes.hpp>
#include <tuner/error.hpp>
#include <tuner/session/tuning/no_result.hpp>
#include <tuner/session/tuning/tune_session.hpp>
#include <tuner/session/tuning/tuning.hpp>
#include <tuner/session/wisdom/record_conversion.hpp>
#include <tuner/worker/isolated_evaluator.hpp>

namespace tuner::runtime {
namespace {

/// After its own tuning time, a process waits this much longer for another that tunes, which has finished by then.
constexpr std::chrono::milliseconds kLastTrial{200};

/// After the tuning time, the configuration that is running may continue this long.
constexpr std::chrono::milliseconds kGrace{50};

/// After a first use without a result, the next one waits this long; after each further one twice as long.
constexpr std::int64_t kFirstWaitMs = 3'600'000, kMostDoublings = 9;  // an hour, three weeks

constexpr const char* kOrigin = "first use";

/// Few, because the application needs its cores for other work.
constexpr std::size_t kMostCompilers = 16;

/// Why nothing can be tuned on \p device; empty when it can.
std::string why_never_tuned(const Device& device) try {
  (void)find_worker_program();
  return device.environment.compiler.empty() ? why_no_gpu() : std::string();
} catch (const WorkerError& error) {
  return error.what();
}

}  // namespace

bool tunes_on_first_use(const Settings& settings, const Device& device) {
  const bool is_gpu = traits(device.key).is_gpu;
  return settings.tune == TuneOnMiss::on_first_use || (settings.tune == TuneOnMiss::automatic && is_gpu);
}

std::string problem_name(const KernelSpec& spec, const ProblemSize& lowest, const Device& device) {
  const cache::Context about = context_of(spec, lowest, device, {});
  std::string what;
  for (const std::string& part :
       {about.kernel.name, about.kernel.source_hash, about.problem.choices, cache::sizes_text(about.problem.sizes),
        about.device.key, about.environment.driver, about.environment.compiler})
    what += part + '\n';
  return what;
}

std::unique_ptr<cache::Claim> claim_on(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& lowest,
                                       const Device& device) {
  if (wisdom.user().is_in_memory()) return nullptr;
  return std::make_unique<cache::Claim>(wisdom.user().path(), problem_name(spec, lowest, device));
}

bool take_after_others(cache::Claim& claim, std::chrono::duration<double> tuning_time) {
  const auto deadline = Clock::now() + tuning_time + kLastTrial;
  while (Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (claim.take()) return true;
  }
  return false;
}

bool tried_lately(Wisdom& wisdom, const KernelSpec& spec, const ProblemSize& lowest, const Device& device) {
  const cache::Context about = context_of(spec, lowest, device, {});
  std::int64_t last = 0, tries = 0;
  for (const cache::SessionRecord& session :
       cache::sessions(wisdom.user(), {about.kernel.name, about.device.key, about.kernel.source_hash})) {
    const cache::ProblemRecord& problem = session.key.problem;
    if (session.origin != kOrigin || problem.choices != about.problem.choices ||
        !is_of_class(problem.sizes, lowest.sizes))
      continue;
    last = std::max(last, session.started_ms);
    ++tries;
  }
  const std::int64_t now = cache::now_ms();
  // A clock that was set back must not keep it waiting for years.
  return tries > 0 && last <= now && now - last < kFirstWaitMs << std::min(tries - 1, kMostDoublings);
}

std::optional<Configuration> tune_now(const Serving::Terms& terms, const Device& device, const KernelSpec& spec,
                                      const ProblemSize& size, Clock::time_point start) {
  const std::string what = "kernel '" + spec.name + "'";
  if (const std::string why = why_never_tuned(device); !why.empty()) {
    terms.serving.warn("nothing is tuned on first use: " + why);
    return std::nullopt;
  }
  if (!IsolatedEvaluator::can_isolate(spec)) {
    terms.serving.warn(what +
                       " is described in code alone, which worker processes cannot read: it is not tuned on first use, "
                       "but served with its default until tuner::tune() was called for it");
    return std::nullopt;
  }
  TuningOptions options;
  options.session.budget.wall_time = terms.settings.tuning_time;
  options.session.started = start;
  options.session.grace = kGrace;
  options.compile_workers = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostCompilers);
  options.origin = kOrigin;
  try {
    const SessionResult result = tune_kernel(spec, size, device, terms.wisdom, options, nullptr);
    if (result.best) return result.best->configuration;
    const bool too_short = result.trials.empty() && result.stop_reason == StopReason::wall_time;
    terms.serving.warn(no_winner(spec, size, result).what() +
                       std::string(". Calls are served with what was known, or the default. ") +
                       (too_short ? "Finished trials are stored, and the next tuning begins after an hour at the "
                                    "earliest. `tune` has no such limit"
                                  : "`tune` prints the reasons"));
  } catch (const std::exception& error) {
    terms.serving.warn(what + " was not tuned for " + size.text() + ": " + error.what());
  }
  return std::nullopt;
}

}  // namespace tuner::runtime
