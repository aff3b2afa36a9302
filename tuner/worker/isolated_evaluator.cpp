#include <tuner/worker/isolated_evaluator.hpp>

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <tuner/core/kernel_file.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/image_shelf.hpp>
#include <tuner/worker/compile_pool.hpp>
#include <tuner/worker/image_thread.hpp>
#include <tuner/worker/run_lane.hpp>

namespace tuner {

using namespace worker;

namespace {

// Jobs of the compile pool by number: trials from 0, finalists from first_finalist, and the reference.
constexpr std::size_t reference_id = ~std::size_t{0};
constexpr std::size_t first_finalist = std::size_t{1} << 48;

std::size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

std::string architecture_of(const DeviceKey& key) {
  return key.backend == "host" ? "host" : "sm_" + std::to_string(key.compute_capability);
}

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

/// The caller's side (submit, next, …) and the event loop's side, which runs on a thread of its own because worker
/// processes die with the thread that started them. Members below `mutex` are shared, all others are the loop's.
struct IsolatedEvaluator::State {
  State(const KernelSpec& spec_, const ProblemSize& size_, MeasureOptions measure_, IsolatedOptions options_);
  ~State();

  struct News {
    Event event;
    bool lost = false;  // a trial that took its worker down
  };

  // The event loop.
  void loop();
  void run_loop();
  void take_commands();
  void device_known(const Device& device, const std::string& architecture);
  void compiler_known(const std::string& identity);
  void route_waiting();
  void look_up(CompileJob job);
  void compile(CompileJob job);
  void compiled(CompileJob job, CompiledImage result, bool from_store);
  void finished(RunJob job, Trial trial, bool lost);
  void start_finalists(std::vector<Configuration> configurations);
  void finalist_ready(std::size_t index, CompiledImage result);
  void run_finalists();
  void remeasured(std::vector<Trial> trials, const std::vector<bool>& lost);
  void emit(Trial trial, bool lost);
  void tell(News item);
  void fail(std::exception_ptr error);
  void publish_times();
  void quit_gracefully();
  CompileRequest request_for(const Configuration& configuration) const;

  void wake();
  void post(std::function<void()> command);
  void rethrow_failure();  // with the lock held

  const KernelSpec& spec;
  const ProblemSize size;
  const MeasureOptions measure;
  const IsolatedOptions options;
  const bool needs_reference;

  std::optional<CompilePool> pool;
  std::optional<RunLane> lane;
  std::optional<Device> known;  // the loop's copy
  std::string architecture;
  std::optional<std::string> identity;
  std::deque<CompileJob> waiting;  // for the device and the compiler to be known
  ImageShelf shelf;
  std::vector<Configuration> finalists;
  std::vector<std::optional<CompiledImage>> finalist_images;
  std::size_t reference_tries = 0;
  std::size_t cached = 0;
  double load_s = 0, verify_s = 0, measure_s = 0;
  std::optional<ImageThread> images;

  struct Result {
    Trial trial;
    bool lost = false;
  };
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::function<void()>> commands;
  std::deque<News> news;
  std::optional<std::vector<Result>> finalist_results;
  std::optional<Device> device;
  std::exception_ptr failure;
  SessionTimes times;
  std::size_t flying = 0;
  bool stopping = false;

  int wake_fd = -1;
  std::thread thread;
};

IsolatedEvaluator::State::State(const KernelSpec& spec_, const ProblemSize& size_, MeasureOptions measure_,
                                IsolatedOptions options_)
    : spec(spec_),
      size(complete(spec_, size_)),
      measure(std::move(measure_)),
      options(with_defaults(std::move(options_))),
      needs_reference(measure.verify && !spec.reference.empty()) {
  wake_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) throw WorkerError(std::string("no event descriptor: ") + std::strerror(errno));
  if (options.images.get || options.images.put) images.emplace();
  thread = std::thread([this] { loop(); });
}

IsolatedEvaluator::State::~State() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  wake();
  thread.join();
  images.reset();  // stores what is still to be stored
  ::close(wake_fd);
}

void IsolatedEvaluator::State::wake() {
  const std::uint64_t one = 1;
  (void)!::write(wake_fd, &one, sizeof one);
}

void IsolatedEvaluator::State::post(std::function<void()> command) {
  {
    const std::lock_guard lock(mutex);
    commands.push_back(std::move(command));
  }
  wake();
}

void IsolatedEvaluator::State::rethrow_failure() {
  if (failure) std::rethrow_exception(failure);
}

void IsolatedEvaluator::State::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::move(error);
  }
  changed.notify_all();
}

void IsolatedEvaluator::State::loop() {
  // A worker that dies while it is written to is noticed by the write's result.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  try {
    run_loop();
  } catch (...) {
    fail(std::current_exception());
  }
  lane.reset();
  pool.reset();
}

void IsolatedEvaluator::State::run_loop() {
  RunLaneOptions run;
  run.program = options.program;
  run.open.role = Role::run;
  run.open.backend = options.backend;
  run.open.device = options.device;
  run.open.source = spec.source;
  run.open.file_name = spec.file;
  run.open.size = size;
  run.open.measure = measure;
  run.open_timeout_s = options.open_timeout_s;
  run.grace_s = options.grace_s;
  run.max_start_failures = options.max_start_failures;
  RunLaneEvents run_events;
  run_events.opened = [this](const Device& opened, const std::string& name) { device_known(opened, name); };
  run_events.finished = [this](RunJob job, Trial trial, bool lost) {
    finished(std::move(job), std::move(trial), lost);
  };
  run_events.remeasured = [this](std::vector<Trial> trials, const std::vector<bool>& lost) {
    remeasured(std::move(trials), lost);
  };
  run_events.failed = [this](const std::string& message, bool reference) {
    fail(reference ? std::make_exception_ptr(Error(message)) : std::make_exception_ptr(WorkerError(message)));
  };
  lane.emplace(std::move(run), std::move(run_events));
  lane->start();  // first, because opening a device takes longest

  CompilePoolOptions compiling;
  compiling.program = options.program;
  compiling.backend = options.backend;
  compiling.workers = options.compile_workers;
  compiling.batch = options.batch;
  compiling.warm_up = options.backend == "cuda" && !options.known_device;
  compiling.compile_timeout_s = options.compile_timeout_s;
  compiling.open_timeout_s = options.open_timeout_s;
  compiling.max_start_failures = options.max_start_failures;
  CompilePoolEvents compile_events;
  compile_events.opened = [this](const std::string& name) { compiler_known(name); };
  compile_events.compiled = [this](CompileJob job, CompiledImage result) {
    compiled(std::move(job), std::move(result), false);
  };
  compile_events.failed = [this](const std::string& message) { fail(std::make_exception_ptr(WorkerError(message))); };
  pool.emplace(std::move(compiling), std::move(compile_events));
  pool->start();

  if (!needs_reference) lane->set_reference(nullptr);
  if (options.known_device) {
    known = options.known_device;
    architecture = architecture_of(known->key);
    {
      const std::lock_guard lock(mutex);
      device = known;
    }
    changed.notify_all();
    route_waiting();
  }

  std::vector<pollfd> fds;
  while (true) {
    take_commands();
    {
      const std::lock_guard lock(mutex);
      if (stopping) break;
      if (failure) {  // nothing more can be done; wait for the end
        lane->quit();
        pool->quit();
        break;
      }
    }
    pool->schedule();
    lane->schedule();
    publish_times();

    fds.clear();
    fds.push_back({wake_fd, POLLIN, 0});
    std::optional<Clock::time_point> wake_up;
    lane->collect(fds, wake_up);
    pool->collect(fds, wake_up);
    int timeout_ms = -1;
    if (wake_up) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*wake_up - Clock::now()).count() + 1;
      timeout_ms = static_cast<int>(std::clamp<long long>(left, 0, 60000));
    }
    if (::poll(fds.data(), fds.size(), timeout_ms) < 0) {
      if (errno != EINTR) throw WorkerError(std::string("poll: ") + std::strerror(errno));
      for (pollfd& fd : fds) fd.revents = 0;
    }
    if (fds.front().revents != 0) {
      std::uint64_t count = 0;
      (void)!::read(wake_fd, &count, sizeof count);
    }
    lane->react(fds);
    pool->react(fds);
  }
  quit_gracefully();
}

/// Idle workers may clean up behind themselves (temporary files); those that take long are killed.
void IsolatedEvaluator::State::quit_gracefully() {
  lane->quit();
  pool->quit();
  const auto end = Clock::now() + std::chrono::milliseconds(200);
  lane.reset();
  while (Clock::now() < end && pool->any_running()) {
    std::vector<pollfd> fds;
    std::optional<Clock::time_point> ignored;
    pool->collect(fds, ignored);
    ::poll(fds.data(), fds.size(), 20);
    pool->drain(fds);
  }
}

void IsolatedEvaluator::State::take_commands() {
  std::vector<std::function<void()>> taken;
  {
    const std::lock_guard lock(mutex);
    taken.swap(commands);
  }
  for (const auto& command : taken) command();
}

void IsolatedEvaluator::State::device_known(const Device& opened, const std::string& name) {
  if (known) {
    if (known->key == opened.key && architecture == name) return;
    return fail(std::make_exception_ptr(
        WorkerError(fmt::format("the run worker opened another device than the session is for: {} instead of {}",
                                opened.key.text(), known->key.text()))));
  }
  known = opened;
  architecture = name;
  {
    const std::lock_guard lock(mutex);
    device = opened;
  }
  changed.notify_all();
  route_waiting();
}

void IsolatedEvaluator::State::compiler_known(const std::string& name) {
  if (identity) return;
  identity = name;
  route_waiting();
}

CompileRequest IsolatedEvaluator::State::request_for(const Configuration& configuration) const {
  return compile_request(spec, size, architecture, launch_expressions(spec, size, known->limits, configuration));
}

/// Sends on what had to wait until the device and, for the image store, the compiler were known.
void IsolatedEvaluator::State::route_waiting() {
  if (!known || (options.images.get && !identity)) return;
  if (needs_reference && reference_tries == 0) {
    ++reference_tries;
    CompileJob job;
    job.id = reference_id;
    job.request = compile_request(spec, size, architecture, reference_expressions(spec, size, known->limits));
    look_up(std::move(job));
  }
  for (CompileJob& job : std::exchange(waiting, {})) {
    std::optional<std::string> invalid;
    try {
      invalid = why_invalid(spec, size, known->limits, job.configuration);
      if (!invalid) job.request = request_for(job.configuration);
    } catch (const Error& error) {
      invalid = error.what();
    }
    if (!invalid) {
      look_up(std::move(job));
      continue;
    }
    Trial trial;
    trial.configuration = std::move(job.configuration);
    trial.outcome = Invalid{std::move(*invalid)};
    emit(std::move(trial), false);
  }
}

void IsolatedEvaluator::State::look_up(CompileJob job) {
  if (!options.images.get) return compile(std::move(job));
  auto shared = std::make_shared<CompileJob>(std::move(job));
  images->post(
      [this, shared, compiler = *identity] {
        std::optional<Image> image = options.images.get(shared->request, compiler);
        auto found = image ? std::make_shared<const Image>(std::move(*image)) : nullptr;
        post([this, shared, found] {
          if (found)
            compiled(std::move(*shared), found, true);
          else
            compile(std::move(*shared));
        });
      },
      true);
}

void IsolatedEvaluator::State::compile(CompileJob job) {
  if (job.id >= first_finalist)
    pool->push_first(std::move(job));
  else
    pool->push(std::move(job));
}

void IsolatedEvaluator::State::compiled(CompileJob job, CompiledImage result, bool from_store) {
  const auto* image = std::get_if<std::shared_ptr<const Image>>(&result);
  if (image != nullptr && !from_store && options.images.put && identity)
    images->post([this, request = job.request, compiler = *identity,
                  kept = *image] { options.images.put(request, compiler, *kept); },
                 false);
  if (from_store) ++cached;

  if (job.id == reference_id) {
    if (image != nullptr) return lane->set_reference(*image);
    // Once more: it may have been the compiler's process that died, not the reference's fault.
    if (++reference_tries <= 2) return pool->push_first(std::move(job));
    const CompileError& error = std::get<CompileError>(result);
    return fail(std::make_exception_ptr(
        Error(fmt::format("{}: the reference does not compile: {}\n{}", spec.file, error.message, error.log))));
  }
  if (job.id >= first_finalist) return finalist_ready(job.id - first_finalist, std::move(result));
  if (image != nullptr) {
    tell({tuner::Compiled{job.configuration,
                          compiled_resources(spec, size, known->limits, job.configuration, **image)}});
    return lane->push({std::move(job.configuration), *image, job.seconds});
  }
  Trial trial;
  trial.configuration = std::move(job.configuration);
  trial.outcome = std::move(std::get<CompileError>(result));
  trial.times.compile = job.seconds;
  emit(std::move(trial), false);
}

void IsolatedEvaluator::State::finished(RunJob job, Trial trial, bool lost) {
  shelf.offer(trial, std::move(job.image));
  emit(std::move(trial), lost);
}

void IsolatedEvaluator::State::emit(Trial trial, bool lost) {
  load_s += trial.times.load;
  verify_s += trial.times.verify;
  measure_s += trial.times.measure;
  tell({std::move(trial), lost});
}

void IsolatedEvaluator::State::tell(News item) {
  {
    const std::lock_guard lock(mutex);
    news.push_back(std::move(item));
  }
  changed.notify_all();
}

void IsolatedEvaluator::State::start_finalists(std::vector<Configuration> configurations) {
  finalists = std::move(configurations);
  finalist_images.assign(finalists.size(), std::nullopt);
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (auto image = shelf.find(finalists[i])) {
      finalist_images[i] = std::move(image);
      continue;
    }
    CompileJob job;  // of an earlier session
    job.id = first_finalist + i;
    job.configuration = finalists[i];
    job.request = request_for(finalists[i]);
    look_up(std::move(job));
  }
  run_finalists();
}

void IsolatedEvaluator::State::finalist_ready(std::size_t index, CompiledImage result) {
  finalist_images.at(index) = std::move(result);
  run_finalists();
}

/// Once all of their images are there.
void IsolatedEvaluator::State::run_finalists() {
  std::vector<FinalistJob> jobs;
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (!finalist_images[i]) return;
    if (const auto* image = std::get_if<std::shared_ptr<const Image>>(&*finalist_images[i]))
      jobs.push_back({finalists[i], *image});
  }
  if (jobs.empty()) return remeasured({}, {});
  lane->remeasure(std::move(jobs));
}

void IsolatedEvaluator::State::remeasured(std::vector<Trial> trials, const std::vector<bool>& lost) {
  std::vector<Result> all;
  std::size_t next = 0;
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (auto* error = std::get_if<CompileError>(&*finalist_images[i])) {
      Result& result = all.emplace_back();
      result.trial.configuration = finalists[i];
      result.trial.outcome = std::move(*error);
      continue;
    }
    measure_s += trials[next].times.measure;
    all.push_back({std::move(trials[next]), lost[next]});
    ++next;
  }
  finalists.clear();
  finalist_images.clear();
  {
    const std::lock_guard lock(mutex);
    finalist_results = std::move(all);
  }
  changed.notify_all();
}

void IsolatedEvaluator::State::publish_times() {
  const std::lock_guard lock(mutex);
  times.start = lane->start_s();
  times.compile = pool->seconds();
  times.load = load_s;
  times.verify = verify_s;
  times.measure = measure_s;
  times.wait = lane->wait_s();
  times.restart = lane->restart_s();
  times.compiled = pool->compiled();
  times.compiles = pool->compiles();
  times.cached = cached;
  times.run_restarts = lane->restarts();
  times.compile_restarts = pool->restarts();
}

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

const Device& IsolatedEvaluator::device() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->device || state_->failure; });
  if (!state_->device) state_->rethrow_failure();
  return *state_->device;
}

std::size_t IsolatedEvaluator::capacity() const {
  const IsolatedOptions& options = state_->options;
  return std::max<std::size_t>(2 * options.batch * options.compile_workers, 4);
}

std::size_t IsolatedEvaluator::in_flight() const { return state_->flying; }

void IsolatedEvaluator::submit(const Configuration& configuration, double best_ns) {
  State& s = *state_;
  ++s.flying;
  CompileJob job;
  job.configuration = configuration;
  s.post([&s, job = std::move(job), best_ns]() mutable {
    s.lane->set_best(best_ns);
    s.waiting.push_back(std::move(job));
    s.route_waiting();
  });
}

Event IsolatedEvaluator::next_event() {
  State& s = *state_;
  State::News item;
  {
    std::unique_lock lock(s.mutex);
    if (s.flying == 0) throw std::logic_error("IsolatedEvaluator::next_event: nothing is in flight");
    s.changed.wait(lock, [&] { return !s.news.empty() || s.failure; });
    if (s.news.empty()) s.rethrow_failure();
    item = std::move(s.news.front());
    s.news.pop_front();
    if (!std::holds_alternative<tuner::Compiled>(item.event)) --s.flying;
  }
  if (const Trial* trial = std::get_if<Trial>(&item.event); trial != nullptr && item.lost && s.options.on_crash)
    s.options.on_crash(trial->configuration, trial->outcome);
  return std::move(item.event);
}

void IsolatedEvaluator::prefer(std::span<const Configuration> order) {
  State& s = *state_;
  s.post([&s, order = std::vector<Configuration>(order.begin(), order.end())] { s.lane->prefer(order); });
}

void IsolatedEvaluator::withdraw(std::span<const Configuration> configurations) {
  State& s = *state_;
  s.post([&s, which = std::vector<Configuration>(configurations.begin(), configurations.end())] {
    for (Configuration& configuration : s.lane->withdraw(which)) s.tell({tuner::Withdrawn{std::move(configuration)}});
  });
}

std::vector<Trial> IsolatedEvaluator::remeasure(std::span<const Configuration> finalists) {
  State& s = *state_;
  if (finalists.empty()) return {};
  (void)device();
  {
    const std::lock_guard lock(s.mutex);
    s.finalist_results.reset();
  }
  s.post([&s, all = std::vector<Configuration>(finalists.begin(), finalists.end())] { s.start_finalists(all); });
  std::vector<State::Result> results;
  {
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.finalist_results || s.failure; });
    if (!s.finalist_results) s.rethrow_failure();
    results = std::move(*s.finalist_results);
    s.finalist_results.reset();
  }
  std::vector<Trial> trials;
  for (State::Result& result : results) {
    if (result.lost && s.options.on_crash) s.options.on_crash(result.trial.configuration, result.trial.outcome);
    trials.push_back(std::move(result.trial));
  }
  return trials;
}

SessionTimes IsolatedEvaluator::times() const {
  const std::lock_guard lock(state_->mutex);
  return state_->times;
}

}  // namespace tuner
