#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/kernel/bindings.hpp>
#include <tuner/core/kernel/choices.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/launches.hpp>
#include <tuner/core/kernel/program_text.hpp>
#include <tuner/core/kernel/reference.hpp>
#include <tuner/core/kernel/validity.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/bound_arguments.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {
namespace {

constexpr std::size_t kMostNear = 4;  // problems, which are as large as the tuned one, for the configurations before

constexpr double kCompileSeconds = 180;  // for a compiler that does not keep its own limit

/// Time allowed for each launch from the device. They may run one after the other, each with all its own launches. An
/// H200 takes 0.15 ms for each of 32768 chains of eight.
constexpr double kPendingLaunchSeconds = 1e-3;

/// Some races appear only if threads switch often, others only if they switch rarely.
constexpr std::uint64_t kInterleavedRounds = 2;
constexpr std::string_view kShuffled = "with its threads in another order (a missing __syncthreads()?) ";
constexpr std::string_view kInReverse =
    "with its threads and blocks in reverse order (a missing __syncthreads(), or shared memory that it never wrote?) ";
constexpr std::string_view kWhileInterleaved =
    "with its threads switching at memory accesses (an update without atomics, or a missing __syncthreads()?) ";

constexpr std::string_view kInAnyOrder = "depending on the order of its threads (a missing __syncthreads()?) ";

struct InOrderAgain {
  Backend& backend;
  ~InOrderAgain() { backend.set_order({}); }
};

}  // namespace

bool Runner::leave_out_checks(const Configuration& configuration) {
  left_out_checks_ = in_haste() && configuration == spec_.default_configuration;
  return left_out_checks_;
}

bool Runner::has_reference() const {
  return options_.verify && (answers(spec_, options_.recorded) || spec_.reference_kind() != ReferenceKind::none);
}

std::string_view text(Phase phase) {
  constexpr std::string_view names[] = {"fill", "prepare", "load", "verify", "measure"};
  return names[static_cast<int>(phase)];
}

bool depends_on_order(const Outcome& outcome) {
  const std::string_view said = message(outcome);
  return said.starts_with(kInReverse) || said.starts_with(kShuffled) || said.starts_with(kWhileInterleaved);
}

Runner::Ready Runner::ready(const ProblemBuffers& problem, const std::vector<ResolvedLaunch>& launches,
                            const Image& image, const Module& module, const Configuration& configuration,
                            bool reference) const {
  Ready result;
  const std::vector<Launch::Constant> constants = problem.constants(image, module);
  const std::int64_t pending =
      configuration.empty() ? 0 : pending_device_launches(spec_, problem.size(), limits(), configuration);
  const auto add = [&](const ResolvedLaunch& resolved) -> Resources {
    const std::optional<std::size_t> function = find_function(image, resolved.expression);
    if (!function) throw Error(fmt::format("{}: '{}' is not in the image", spec_.program.file, resolved.expression));
    const LoadedLaunch loaded = loaded_launch(module, *function, resolved.expression, resolved.shape, limits());
    if (!result.invalid) result.invalid = loaded.why_not;
    if (!result.invalid)
      result.invalid = wrong_type(spec_, *resolved.spec, resolved.expression,
                                  bind_arguments(spec_, *resolved.spec, problem.size(), configuration),
                                  module.parameter_types(*function));
    std::vector<Argument> arguments;
    try {
      arguments = problem.arguments(*resolved.spec, configuration, reference);
    } catch (const TensorMapError& error) {
      if (!result.invalid) result.invalid = error.what();
    }
    result.launches.push_back({&module, *function, loaded.shape, std::move(arguments), pending});
    result.launches.back().constants = constants;
    result.launches.back().arrays = problem.arrays(*resolved.spec, reference);
    return loaded.resources;
  };
  for (const ResolvedLaunch& resolved : resolve_prepare(spec_, problem.size(), limits())) add(resolved);
  result.prepare = result.launches;
  MainResources main;
  for (const ResolvedLaunch& resolved : launches) {
    const Resources resources = add(resolved);
    if (!resolved.timed) {
      result.untimed.push_back(result.launches.back());
      continue;
    }
    main.add(resolved.shape, resources);
    result.timed.push_back(result.launches.back());
  }
  result.resources = main.get();
  return result;
}

Runner::Ready Runner::ready(ProblemBuffers& problem, const Configuration& configuration, const Image& image,
                            const Module& module) const {
  problem.size_work_space(configuration);
  return ready(problem, resolve_launches(spec_, problem.size(), limits(), configuration), image, module, configuration,
               false);
}

Runner::Ready Runner::ready_reference(const ProblemBuffers& problem) const {
  return ready(problem, resolve_reference(spec_, problem.size(), limits()), reference_image_, *reference_module_,
               reference_configuration(spec_), true);
}

void Runner::load_copies(const std::vector<Launch>& launches, bool with_constants) {
  if (launches.empty()) return;
  const auto& constants = launches.front().constants;  // the same for all launches
  for (std::size_t i = 0; with_constants && i < constants.size(); ++i) {
    std::vector<std::byte> bytes(constants[i].bytes);
    backend_.download(bytes.data(), constants[i].from, bytes.size());
    backend_.upload(constants[i].variable.address, bytes.data(), bytes.size());
  }
  for (const Launch& launch : launches)
    for (const Launch::Array& copy : launch.arrays) copy.array->load(copy.memory);
}

void Runner::store_copies(const std::vector<Launch>& launches) {
  for (const Launch& launch : launches)
    for (const Launch::Array& copy : launch.arrays)
      if (copy.is_written) copy.array->store(copy.memory);
}

std::optional<Outcome> Runner::run(Phase phase, ProblemBuffers& problem, const std::vector<Launch>& launches,
                                   double* seconds) {
  double spent = 0;
  auto failure = run_once(phase, problem, launches, spent);
  if (!failure) problem.record_run(spent);
  if (seconds != nullptr) *seconds = spent;
  return failure;
}

std::optional<Outcome> Runner::run_afresh(Phase phase, ProblemBuffers& problem, const Ready& ready, bool reference) {
  const auto takes_output = [&](const LaunchSpec& prepare) {
    return std::ranges::any_of(spec_.buffers, [&](const BufferSpec& buffer) {
      return buffer.role == BufferRole::out && contains(spec_.taken_by(prepare), buffer.name);
    });
  };
  if (std::ranges::none_of(spec_.prepare, takes_output)) return run(phase, problem, ready.launches);
  double prepared = 0, spent = 0;
  if (auto failure = run_once(phase, problem, ready.prepare, prepared)) return failure;
  problem.poison_outputs_again(reference);
  const std::span<const Launch> others = ready.but_prepare();
  if (auto failure = run_once(phase, problem, {others.begin(), others.end()}, spent, false)) return failure;
  problem.record_run(prepared + spent);
  return std::nullopt;
}

std::optional<Outcome> Runner::run_once(Phase phase, ProblemBuffers& problem, const std::vector<Launch>& launches,
                                        double& seconds, bool with_constants) {
  double limit_s = problem.run_limit_s();
  for (const Launch& launch : launches)
    limit_s = std::max(limit_s, kPendingLaunchSeconds * double(launch.device_launches));
  announce_kernel(phase, limit_s);
  load_copies(launches, with_constants);
  const auto start = Clock::now();
  auto failure = backend_.run(launches, limit_s);
  seconds = seconds_since(start);
  if (!failure) store_copies(launches);
  if (auto* error = failure ? std::get_if<LaunchError>(&*failure) : nullptr) {
    if (const auto place = error->address != 0 ? problem.place(error->address) : std::nullopt)
      error->message += fmt::format(": {}", *place);
  }
  return failure;
}

/// Computes the expected outputs of the inputs in use.
void Runner::compute_reference(ProblemBuffers& problem) {
  announce(Phase::prepare, housekeeping_s_);
  const std::optional<Configuration> work_space = problem.work_space_for();
  problem.reset_for_reference();
  run_reference(problem);
  announce(Phase::prepare, housekeeping_s_);
  if (spec_.has_reference_program() && problem.find_unwritten()) {
    problem.poison_reference_again();
    run_reference(problem);
    announce(Phase::prepare, housekeeping_s_);
    problem.check_written();
  }
  std::function<void()> again;
  if (spec_.has_reference_program()) again = [&] { run_reference(problem); };
  problem.accept_reference(again);
  // A kernel may well leave everything as it is, such as one that multiplies by 1.
  if (problem.changes_nothing() && &problem == &main() && backend_.device().key.backend == kHostBackend &&
      occurs_in_code(program_text(spec_), "__CUDA_ARCH__"))
    throw Error(
        fmt::format("{}: {} leaves every output as it was on {}. Does its body depend on __CUDA_ARCH__, which "
                    "the host does not have?",
                    spec_.program.file, reference_name(spec_), problem.text()));
  if (work_space) problem.size_work_space(*work_space);
}

void Runner::run_reference(ProblemBuffers& problem) {
  if (!spec_.has_reference_program()) return problem.take_answers();
  const Ready reference = ready_reference(problem);
  const std::string_view what = reference_name(spec_);
  if (reference.invalid)
    throw Error(fmt::format("{}: {} cannot run: {}", spec_.program.file, what, *reference.invalid));
  if (const auto failure = run_afresh(Phase::prepare, problem, reference, true))
    throw Error(fmt::format("{}: {} failed on {}: {}", spec_.program.file, what, problem.text(), message(*failure)));
}

/// Runs \p ready and checks all buffers. Returns what is wrong. Sets \p failure if the run did not end normally.
std::optional<std::string> Runner::wrong(ProblemBuffers& problem, const Ready& ready, Found found,
                                         std::optional<Outcome>& failure) {
  const std::size_t first = found == Found::numbers ? 1 : 0;
  const std::size_t end = found == Found::poison ? problem.passes() : first + 1;
  for (std::size_t pass = first; pass < end; ++pass) {
    announce(Phase::verify, housekeeping_s_);
    problem.reset(pass, found == Found::results);
    failure = run_afresh(Phase::verify, problem, ready, false);
    if (failure) return std::nullopt;
    announce(Phase::verify, housekeeping_s_);
    if (auto damage = problem.damage()) return damage;
    if (!has_reference()) return std::nullopt;
    if (auto mismatch = problem.mismatch(pass)) return mismatch;
  }
  return std::nullopt;
}

std::optional<Outcome> Runner::verify(ProblemBuffers& problem, const Configuration& configuration, const Image& image,
                                      const Module& module) {
  const Ready prepared = ready(problem, configuration, image, module);
  if (prepared.invalid) return Invalid{*prepared.invalid};
  const InOrderAgain afterwards{backend_};
  if (auto seen = judge(problem, prepared, "")) {
    auto* const first = std::get_if<WrongResult>(&*seen);
    if (first == nullptr || blocks_wait_ || !backend_.set_order({})) return seen;
    // If it is wrong in another way each time, as with memory that it never wrote, the order is not the cause.
    const auto same = judge(problem, prepared, "");
    if (!same || message(*same) != first->message) return seen;
    backend_.set_order({ThreadOrder::Kind::reverse});
    const auto second = judge(problem, prepared, "");
    // Sums of floating-point numbers may differ in their last digits.
    const bool is_other =
        !second || (std::holds_alternative<WrongResult>(*second) && message(*second) != first->message &&
                    first->message.find(kAllowed) == std::string::npos);
    if (is_other) first->message.insert(0, kInAnyOrder);
    return seen;
  }

  if (leave_out_checks(configuration)) return std::nullopt;
  // Threads and blocks may run in any order. Without a needed __syncthreads(), one order may be right and another
  // wrong.
  if (!blocks_wait_) {
    if (!backend_.set_order({ThreadOrder::Kind::reverse})) return std::nullopt;
    const auto seen = judge(problem, prepared, kInReverse);
    if (!seen || !std::holds_alternative<Timeout>(*seen)) return seen;
  }
  // Blocks that wait for those with lower numbers, as look-back and wavefronts do, end only if these start first. GPUs
  // start them so. Then only the threads change their order.
  backend_.set_order({ThreadOrder::Kind::interleaved, options_.seed});
  auto seen = judge(problem, prepared, kShuffled);
  if (!seen) blocks_wait_ = true;  // a wrong kernel that hangs says nothing about the others
  return seen;
}

/// Verifies a configuration that is valid on no size of tuner's choice on the nearest sizes that it is valid for.
std::optional<Outcome> Runner::verify_near(const Configuration& configuration, const Image& image,
                                           const Module& module) {
  if (!options_.own_problems || !has_reference() || own_.empty()) return std::nullopt;
  for (const VerifyProblem& near : nearest_valid(spec_, main().size(), limits(), configuration, own_)) {
    ProblemBuffers* problem = find(near);
    if (problem == nullptr) try {
        announce(Phase::verify, housekeeping_s_);
        auto made = std::make_unique<ProblemBuffers>(backend_, spec_, near, options_, options_.seed);
        compute_reference(*made);
        if (near_.size() >= kMostNear) near_.erase(near_.begin());
        problem = near_.emplace_back(std::move(made)).get();
      } catch (const Error&) {  // no room, or the reference has no answer there
        if (!usable()) throw;
        continue;
      }
    if (auto failure = verify(*problem, configuration, image, module)) return failure;
  }
  return std::nullopt;
}

ProblemBuffers* Runner::find(const VerifyProblem& problem) const {
  for (const auto& one : near_)
    if (one->problem() == problem) return one.get();
  return nullptr;
}

/// Runs \p ready once, or twice if two poisons are needed, and returns what went wrong. The cause may be stray
/// writes of this configuration or of an earlier one: if so, restores all buffers and judges once more. \p when: for
/// the message.
std::optional<Outcome> Runner::judge(ProblemBuffers& problem, const Ready& ready, std::string_view when, Found found) {
  for (bool again = false;; again = true) {
    std::optional<Outcome> failure;
    const auto seen = wrong(problem, ready, found, failure);
    if (!failure && !seen) return std::nullopt;
    if (!failure)
      failure = WrongResult{fmt::format("{}{} on {}{}", when, *seen, problem.text(), problem.why_tried())};
    else if (auto* error = problem.problem().is_own() ? std::get_if<LaunchError>(&*failure) : nullptr)
      error->message += fmt::format(" on {}{}", problem.text(), problem.why_tried());
    if (!restore(problem) || again) return failure;
  }
}

/// Restores inputs, guards and expected outputs. Returns whether any had changed; false if the device is lost.
bool Runner::restore(ProblemBuffers& problem) {
  if (!backend_.usable()) return false;
  announce(Phase::verify, housekeeping_s_);
  const bool inputs_changed = !problem.inputs_intact();
  if (inputs_changed) problem.restore_inputs();
  if (!has_reference() || problem.expected_intact()) return inputs_changed;
  compute_reference(problem);
  return true;
}

/// Restores all buffers after a configuration that failed, so that it cannot disturb the next one.
void Runner::restore_after(const std::optional<Outcome>& outcome) {
  if (!outcome || std::holds_alternative<Measurement>(*outcome)) return;
  for (const auto& problem : problems_) restore(*problem);
}

/// Looks for races that appear only if threads are interrupted. This needs another compile, so it is done only for
/// configurations that may become the best. A backend without such images (a GPU) accepts all.
std::optional<Outcome> Runner::judge_interleaved(Trial& trial) {
  const std::string name = trial.configuration.text();
  if (!has_reference() || right_interleaved_.contains(name)) return std::nullopt;
  const auto start = Clock::now();
  auto failure = run_interleaved(trial.configuration);
  trial.times.verify += seconds_since(start);
  if (!failure) right_interleaved_.insert(name);
  return failure;
}

std::optional<Outcome> Runner::run_interleaved(const Configuration& configuration) {
  const InOrderAgain afterwards{backend_};
  ThreadOrder order{ThreadOrder::Kind::interleaved, options_.seed};
  if (!backend_.set_order(order)) return std::nullopt;

  CompileRequest request = compile_request(spec_, main().size(), limits(), backend_.architecture(), configuration);
  request.interleaved = true;
  request.stop = stop_;
  announce(Phase::load, kCompileSeconds);
  const CompileResult compiled = backend_.compiler().compile(request);
  const auto* image = std::get_if<Image>(&compiled);
  if (image == nullptr) return std::nullopt;  // only the ordinary image compiles: nothing can be checked
  auto loaded = backend_.load(*image);
  if (std::holds_alternative<LaunchError>(loaded)) return std::nullopt;
  const Module& module = *std::get<std::unique_ptr<Module>>(loaded);

  for (std::uint64_t round = 0; round < kInterleavedRounds; ++round) {
    order.seed = options_.seed + round;
    backend_.set_order(order);
    for (std::size_t i = problems_.size(); i-- > 0;) {
      ProblemBuffers& problem = *problems_[i];
      if (i > 0 && why_invalid(spec_, problem.size(), limits(), configuration)) continue;
      auto seen = judge(problem, ready(problem, configuration, *image, module), kWhileInterleaved);
      if (seen && std::holds_alternative<Timeout>(*seen)) return std::nullopt;  // too slow this way, but not wrong
      auto* const error = seen ? std::get_if<LaunchError>(&*seen) : nullptr;
      if (error && error->message.find(kMisaligned) == std::string::npos) error->message.insert(0, kWhileInterleaved);
      if (seen) return seen;
    }
  }
  return std::nullopt;
}

std::variant<Runner::Loaded, Outcome> Runner::load(const Configuration& configuration, const Image& image) const {
  if (auto reason = why_invalid(spec_, main().size(), limits(), configuration)) return Invalid{std::move(*reason)};
  auto loaded = load(image);
  if (auto* error = std::get_if<LaunchError>(&loaded)) return std::move(*error);
  Loaded result{std::move(std::get<std::unique_ptr<Module>>(loaded)), {}};
  result.run = ready(*problems_.front(), configuration, image, *result.module);
  result.run.state = state_of(*result.module, result.run);
  return result;
}

Runner::Runner(Backend& backend, const KernelSpec& spec, const ProblemSize& size, MeasureOptions options,
               PhaseListener listener)
    : backend_(backend),
      spec_(spec),
      options_(std::move(options)),
      listener_(std::move(listener)),
      sampler_(backend_, options_) {
  sampler_.set_haste([this] { return in_haste(); });
  announce(Phase::fill, kFillSeconds);
  const auto start = Clock::now();
  make_problems(size);
  housekeeping_s_ += 4 * seconds_since(start);
  announce(Phase::prepare, housekeeping_s_);
}

Runner::~Runner() = default;

void Runner::make_problems(const ProblemSize& size) {
  const ProblemSize main = complete(spec_, size);
  problems_.push_back(std::make_unique<ProblemBuffers>(backend_, spec_, VerifyProblem{main}, options_, options_.seed,
                                                       &options_.recorded));
  if (!options_.verify || answers(spec_, options_.recorded))
    return;  // a recording has results for one problem and one set of inputs
  if (has_reference() && options_.second_inputs) problems_.front()->want_two_inputs();
  for (VerifyProblem& problem : verify_problems(spec_, main, limits())) {
    if (problem.is_own())
      add_own(problem);
    else
      problems_.push_back(
          std::make_unique<ProblemBuffers>(backend_, spec_, problem, options_, options_.seed + problems_.size()));
  }
}

void Runner::add_own(const VerifyProblem& problem) {
  if (!options_.own_problems || !has_reference()) return;
  own_.push_back(problem);
  try {
    problems_.push_back(
        std::make_unique<ProblemBuffers>(backend_, spec_, problem, options_, options_.seed + problems_.size()));
  } catch (const Error& error) {
    note_not_tried(problem, error.what());
  }
}

void Runner::note_not_tried(const VerifyProblem& problem, const std::string& why) {
  why_not_tried_ = first_line(why);
  std::string what = problem.size.sizes_text();
  for (const auto& [name, value] : problem.scalars) what += fmt::format(" {}={}", name, scalar_text(value));
  remarks_.push_back(fmt::format("nothing was verified on {}, which tuner chose: {}", what, why_not_tried_));
}

void Runner::prepare(const Image* image) {
  if (!has_reference()) return;
  if (spec_.has_reference_program()) {
    if (image == nullptr) throw Error(fmt::format("{}: the reference was not compiled", spec_.program.file));
    auto loaded = load(*image, Phase::prepare);
    if (const auto* error = std::get_if<LaunchError>(&loaded))
      throw Error(fmt::format("{}: the reference does not load: {}", spec_.program.file, error->message));
    reference_module_ = std::move(std::get<std::unique_ptr<Module>>(loaded));
    reference_image_.functions = image->functions;
  }
  // In the order in which configurations are verified, so that a message names the simplest problem.
  prepare(*problems_.front());
  for (std::size_t i = problems_.size(); i-- > 1;)
    if (!prepare(*problems_[i])) problems_.erase(problems_.begin() + static_cast<std::ptrdiff_t>(i));
  require_own_problems();
  if (options_.own_problems)
    for (std::string& limit : limits_of_results(spec_, main().size(), limits())) remarks_.push_back(std::move(limit));
  note_weak_comparisons();
}

/// Computes the expected outputs. Returns false for a problem of tuner's choice on which there are none.
bool Runner::prepare(ProblemBuffers& problem) {
  if (problem.problem().is_own()) problem.expect_run(main().last_run_s());  // its sizes are hardly larger
  try {
    compute_reference(problem);
    if (hurried_) problem.give_up_second_inputs();
    if (problem.inputs() == 1) return true;
    problem.use_inputs(1);
    compute_reference(problem);
    problem.use_inputs(0);
    return true;
  } catch (const Error& error) {
    const VerifyProblem& own = problem.problem();
    const bool is_nan = dynamic_cast<const ReferenceGivesNan*>(&error) != nullptr;
    if (!own.is_own() || !usable()) throw;
    if (own.chosen == VerifyProblem::Chosen::scalars)
      why_not_tried_ = first_line(error.what());
    else if (is_nan)
      note_not_tried(own, error.what());
    else
      throw Error(error.code(), error.what() + problem.why_tried());
  }
  return false;
}

/// One problem of tuner's choice may well have no result. Throws Error if so many have none that no other value of a
/// size, pointer or scalar can be verified: results would still be used for others.
void Runner::require_own_problems() const {
  using Chosen = VerifyProblem::Chosen;
  std::vector<VerifyProblem> left;
  for (const auto& problem : problems_) left.push_back(problem->problem());
  const std::set<std::string> varied = varied_sizes(left, main().size());
  std::string what;
  for (const std::string& name : varied_sizes(own_, main().size()))
    if (!varied.contains(name)) what = "value of size " + name;
  const auto has = [](const std::vector<VerifyProblem>& all, Chosen chosen) {
    return std::ranges::any_of(all, [&](const VerifyProblem& one) { return one.chosen == chosen; });
  };
  for (const auto& [chosen, name] : {std::pair(Chosen::scalars, "value of a scalar"), {Chosen::offset, "alignment"}})
    if (has(own_, chosen) && !has(left, chosen)) what = name;
  if (what.empty()) return;
  throw Error(fmt::format(
      "{}: no other {} can be verified ({}), but results are also used for others. Name problems with `verify` lines, "
      "or say what the kernel is for: sizes with a `constraint`, pointers with `aligned`, a scalar with `only` after "
      "its value",
      spec_.program.file, what, why_not_tried_));
}

/// Exact agreement is noted for the main problem only: a small problem often has such results.
void Runner::note_weak_comparisons() {
  std::map<std::pair<std::string, std::string>, std::string> found;  // by output and reason: where
  for (const auto& problem : problems_) {
    announce(Phase::prepare, housekeeping_s_);
    for (WeakComparison& weak : problem->find_weak_comparisons())
      if (weak.by_tolerance || problem == problems_.front()) {
        std::string& where = found[{std::move(weak.output), std::move(weak.why)}];
        where += (where.empty() ? "" : ", ") + problem->text();
      }
  }
  for (const auto& [what, where] : found)
    remarks_.push_back(fmt::format("the comparison of {} proves little on {}: {}", what.first, where, what.second));
}

Trial Runner::evaluate(const Configuration& configuration, const Image& image, double best_ns) {
  Trial trial;
  trial.configuration = configuration;
  if (!usable()) {
    trial.outcome =
        LaunchError{"not run: a fault of an earlier configuration has made the device unusable here", 0, true};
    return trial;
  }
  is_first_ = best_ns <= 0;
  left_out_checks_ = false;
  try {
    problems_.front()->use_inputs(0);  // the evaluation before may have been given up
    trial.outcome = judge_and_time(trial, image, best_ns);
    restore_after(trial.outcome);
  } catch (const Error& error) {
    // A later call reported a fault, or there is no room for this configuration's work space.
    trial.outcome = LaunchError{error.what(), 0, backend_.usable()};
  }
  is_first_ = false;
  conclude(trial);
  return trial;
}

std::optional<Outcome> Runner::launch(const Configuration& configuration, const Image& image) try {
  ProblemBuffers& problem = *problems_.front();
  const auto loaded = load(configuration, image);
  if (const auto* failure = std::get_if<Outcome>(&loaded)) return *failure;
  const Ready& ready = std::get<Loaded>(loaded).run;
  if (ready.invalid) return Invalid{*ready.invalid};
  problem.reset(0);
  auto failure = run_afresh(Phase::measure, problem, ready, false);
  restore_after(failure);
  return failure;
} catch (const Error& error) {
  return LaunchError{error.what(), 0, backend_.usable()};
}

HostBuffers Runner::outputs() const { return main().outputs(); }
HostBuffers Runner::expected() const { return has_reference() ? main().expected_of_outputs() : HostBuffers{}; }
HostBuffers Runner::reference_outputs() const { return main().expected(); }

}  // namespace tuner
