#include <tuner/worker/evaluation_loop.hpp>

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner::worker {
namespace {

// Jobs of the compile pool by number: trials from 0, finalists from kFirstFinalist, and the reference.
constexpr std::size_t kReferenceId = ~std::size_t{0};
constexpr std::size_t kFirstFinalist = std::size_t{1} << 48;

}  // namespace

EvaluationLoop::EvaluationLoop(const KernelSpec& spec, ProblemSize size, MeasureOptions measure,
                               const IsolatedOptions& options, Mailbox& mailbox)
    : spec_(spec),
      size_(std::move(size)),
      measure_(std::move(measure)),
      options_(options),
      needs_reference_(measure_.verify && !spec.reference.empty()),
      mailbox_(mailbox) {
  if (options_.images.get || options_.images.put) images_.emplace();
  thread_ = std::thread([this] { run(); });
}

EvaluationLoop::~EvaluationLoop() {
  mailbox_.stop();
  thread_.join();
  images_.reset();  // stores what is still to be stored
}

// ---------------------------------------------------------------- what the caller asks for

void EvaluationLoop::submit(const Configuration& configuration, double best_ns) {
  CompileJob job;
  job.configuration = configuration;
  mailbox_.post([this, job = std::move(job), best_ns]() mutable {
    lane_->set_best(best_ns);
    compiling_.insert(job.configuration);
    waiting_.push_back(std::move(job));
    route_waiting();
  });
}

void EvaluationLoop::prefer(std::vector<Configuration> order) {
  mailbox_.post([this, order = std::move(order)] { lane_->prefer(order); });
}

void EvaluationLoop::withdraw(std::vector<Configuration> configurations) {
  mailbox_.post([this, configurations = std::move(configurations)] {
    std::vector<Configuration> taken = lane_->withdraw(configurations);
    for (const Configuration& configuration : configurations)
      if (compiling_.erase(configuration) > 0) taken.push_back(configuration);
    std::erase_if(waiting_, [&](const CompileJob& job) { return !compiling_.contains(job.configuration); });
    pool_->withdraw(taken);
    for (Configuration& configuration : taken) mailbox_.tell(Withdrawn{std::move(configuration)});
  });
}

std::vector<Trial> EvaluationLoop::remeasure(std::vector<Configuration> finalists, double seconds) {
  return mailbox_.finalists([this, all = std::move(finalists), seconds] { start_finalists(all, seconds); });
}

// ---------------------------------------------------------------- the thread

void EvaluationLoop::run() {
  // A worker that dies while it is written to is noticed by the write's result.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  try {
    start_lane();  // first, because opening a device takes longest
    start_pool();
    if (!needs_reference_) lane_->set_reference(nullptr);
    if (options_.known_device) set_device(*options_.known_device, architecture_of(options_.known_device->key));
    work();
    quit_gracefully();
  } catch (...) {
    mailbox_.fail(std::current_exception());
  }
  lane_.reset();
  pool_.reset();
}

void EvaluationLoop::start_lane() {
  RunLaneOptions run;
  run.program = options_.program;
  run.open.role = Role::run;
  run.open.backend = options_.backend;
  run.open.device = options_.device;
  run.open.source = spec_.source;
  run.open.file_name = spec_.file;
  run.open.size = size_;
  run.open.measure = measure_;
  run.open_timeout_s = options_.open_timeout_s;
  run.grace_s = options_.grace_s;
  run.max_start_failures = options_.max_start_failures;
  RunLaneEvents events;
  events.opened = [this](const Device& opened, const std::string& name) { device_known(opened, name); };
  events.finished = [this](RunJob job, Trial trial) { finished(std::move(job), std::move(trial)); };
  events.remeasured = [this](std::vector<Trial> trials) { remeasured(std::move(trials)); };
  events.failed = [this](const std::string& message, bool reference) {
    mailbox_.fail(reference ? std::make_exception_ptr(Error(message)) : std::make_exception_ptr(WorkerError(message)));
  };
  lane_.emplace(std::move(run), std::move(events), times_);
  lane_->start();
}

void EvaluationLoop::start_pool() {
  CompilePoolOptions compiling;
  compiling.program = options_.program;
  compiling.backend = options_.backend;
  compiling.workers = options_.compile_workers;
  compiling.batch = options_.batch;
  compiling.warm_up = options_.backend == "cuda" && !options_.known_device;
  compiling.compile_timeout_s = options_.compile_timeout_s;
  compiling.open_timeout_s = options_.open_timeout_s;
  compiling.max_start_failures = options_.max_start_failures;
  CompilePoolEvents events;
  events.opened = [this](const std::string& name) { compiler_known(name); };
  events.compiled = [this](CompileJob job, CompiledImage result) {
    compiled(std::move(job), std::move(result), false);
  };
  events.failed = [this](const std::string& message) { mailbox_.fail(std::make_exception_ptr(WorkerError(message))); };
  pool_.emplace(std::move(compiling), std::move(events), times_);
  pool_->start();
}

/// Until there is nothing left to do: the evaluator ends, or has failed.
void EvaluationLoop::work() {
  std::vector<pollfd> fds;
  while (true) {
    for (const auto& command : mailbox_.take_commands()) command();
    if (mailbox_.state() != Mailbox::State::running) return;
    pool_->schedule();
    lane_->schedule();
    mailbox_.publish(times_);

    fds.clear();
    fds.push_back({mailbox_.wake_fd(), POLLIN, 0});
    std::optional<Clock::time_point> wake_up;
    lane_->collect(fds, wake_up);
    pool_->collect(fds, wake_up);
    int timeout_ms = -1;
    if (wake_up) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*wake_up - Clock::now()).count() + 1;
      timeout_ms = static_cast<int>(std::clamp<long long>(left, 0, 60000));
    }
    if (::poll(fds.data(), fds.size(), timeout_ms) < 0) {
      if (errno != EINTR) throw WorkerError(std::string("poll: ") + std::strerror(errno));
      for (pollfd& fd : fds) fd.revents = 0;
    }
    if (fds.front().revents != 0) mailbox_.clear_wake();
    lane_->react(fds);
    pool_->react(fds);
  }
}

/// Idle workers may clean up behind themselves (temporary files); those that take long are killed.
void EvaluationLoop::quit_gracefully() {
  lane_->quit();
  pool_->quit();
  const auto end = Clock::now() + std::chrono::milliseconds(200);
  lane_.reset();
  while (Clock::now() < end && pool_->any_running()) {
    std::vector<pollfd> fds;
    std::optional<Clock::time_point> ignored;
    pool_->collect(fds, ignored);
    ::poll(fds.data(), fds.size(), 20);
    pool_->drain(fds);
  }
}

// ---------------------------------------------------------------- the way of a configuration

void EvaluationLoop::device_known(const Device& opened, const std::string& name) {
  if (!device_) return set_device(opened, name);
  if (device_->key == opened.key && architecture_ == name) return;
  mailbox_.fail(std::make_exception_ptr(
      WorkerError(fmt::format("the run worker opened another device than the session is for: {} instead of {}",
                              opened.key.text(), device_->key.text()))));
}

void EvaluationLoop::set_device(const Device& device, std::string architecture) {
  device_ = device;
  architecture_ = std::move(architecture);
  mailbox_.tell_device(device);
  route_waiting();
}

void EvaluationLoop::compiler_known(const std::string& name) {
  if (compiler_) return;
  compiler_ = name;
  route_waiting();
}

CompileRequest EvaluationLoop::request_for(const Configuration& configuration) const {
  return compile_request(spec_, size_, architecture_, launch_expressions(spec_, size_, device_->limits, configuration));
}

/// Sends on what had to wait until the device and, for the image store, the compiler were known.
void EvaluationLoop::route_waiting() {
  if (!device_ || (options_.images.get && !compiler_)) return;
  if (needs_reference_ && reference_tries_ == 0) {
    ++reference_tries_;
    CompileJob job;
    job.id = kReferenceId;
    job.request = compile_request(spec_, size_, architecture_, reference_expressions(spec_, size_, device_->limits));
    look_up(std::move(job));
  }
  for (CompileJob& job : std::exchange(waiting_, {})) {
    std::optional<std::string> invalid;
    try {
      invalid = why_invalid(spec_, size_, device_->limits, job.configuration);
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
    compiling_.erase(trial.configuration);
    emit(std::move(trial));
  }
}

void EvaluationLoop::look_up(CompileJob job) {
  if (!options_.images.get) return compile(std::move(job));
  auto shared = std::make_shared<CompileJob>(std::move(job));
  images_->post(
      [this, shared, compiler = *compiler_] {
        std::optional<Image> image = options_.images.get(shared->request, compiler);
        auto found = image ? std::make_shared<const Image>(std::move(*image)) : nullptr;
        mailbox_.post([this, shared, found] {
          if (found)
            compiled(std::move(*shared), found, true);
          else
            compile(std::move(*shared));
        });
      },
      true);
}

void EvaluationLoop::compile(CompileJob job) {
  if (job.id < kFirstFinalist && !compiling_.contains(job.configuration)) return;  // withdrawn meanwhile
  if (job.id >= kFirstFinalist)
    pool_->push_first(std::move(job));
  else
    pool_->push(std::move(job));
}

void EvaluationLoop::compiled(CompileJob job, CompiledImage result, bool from_store) {
  const auto* image = std::get_if<std::shared_ptr<const Image>>(&result);
  if (image != nullptr && !from_store && options_.images.put && compiler_)
    images_->post([this, request = job.request, compiler = *compiler_,
                   kept = *image] { options_.images.put(request, compiler, *kept); },
                  false);
  if (from_store) ++times_.cached;

  if (job.id == kReferenceId) {
    if (image != nullptr) return lane_->set_reference(*image);
    // Once more: it may have been the compiler's process that died, not the reference's fault.
    if (++reference_tries_ <= 2) return pool_->push_first(std::move(job));
    const CompileError& error = std::get<CompileError>(result);
    return mailbox_.fail(std::make_exception_ptr(
        Error(fmt::format("{}: the reference does not compile: {}\n{}", spec_.file, error.message, error.log))));
  }
  if (job.id >= kFirstFinalist) return finalist_ready(job.id - kFirstFinalist, std::move(result));
  if (compiling_.erase(job.configuration) == 0) return;  // withdrawn meanwhile
  if (image != nullptr) {
    mailbox_.tell(
        Compiled{job.configuration, compiled_resources(spec_, size_, device_->limits, job.configuration, **image)});
    return lane_->push({std::move(job.configuration), *image, job.seconds});
  }
  Trial trial;
  trial.configuration = std::move(job.configuration);
  trial.outcome = std::move(std::get<CompileError>(result));
  trial.times.compile = job.seconds;
  emit(std::move(trial));
}

void EvaluationLoop::finished(RunJob job, Trial trial) {
  shelf_.offer(trial, std::move(job.image));
  emit(std::move(trial));
}

void EvaluationLoop::emit(Trial trial) {
  times_.load += trial.times.load;
  times_.verify += trial.times.verify;
  times_.measure += trial.times.measure;
  mailbox_.tell(std::move(trial));
}

// ---------------------------------------------------------------- finalists

void EvaluationLoop::start_finalists(std::vector<Configuration> configurations, double seconds) {
  finalist_s_ = seconds;
  finalists_ = std::move(configurations);
  finalist_images_.assign(finalists_.size(), std::nullopt);
  for (std::size_t i = 0; i < finalists_.size(); ++i) {
    if (auto image = shelf_.find(finalists_[i])) {
      finalist_images_[i] = std::move(image);
      continue;
    }
    CompileJob job;  // of an earlier session
    job.id = kFirstFinalist + i;
    job.configuration = finalists_[i];
    job.request = request_for(finalists_[i]);
    look_up(std::move(job));
  }
  run_finalists();
}

void EvaluationLoop::finalist_ready(std::size_t index, CompiledImage result) {
  finalist_images_.at(index) = std::move(result);
  run_finalists();
}

/// Once all of their images are there.
void EvaluationLoop::run_finalists() {
  std::vector<FinalistJob> jobs;
  for (std::size_t i = 0; i < finalists_.size(); ++i) {
    if (!finalist_images_[i]) return;
    if (const auto* image = std::get_if<std::shared_ptr<const Image>>(&*finalist_images_[i]))
      jobs.push_back({finalists_[i], *image});
  }
  if (jobs.empty()) return remeasured({});
  lane_->remeasure(std::move(jobs), finalist_s_);
}

void EvaluationLoop::remeasured(std::vector<Trial> trials) {
  std::vector<Trial> all;
  auto next = trials.begin();
  for (std::size_t i = 0; i < finalists_.size(); ++i) {
    if (auto* error = std::get_if<CompileError>(&*finalist_images_[i])) {
      Trial& trial = all.emplace_back();
      trial.configuration = finalists_[i];
      trial.outcome = std::move(*error);
    } else {
      times_.measure += next->times.measure;
      all.push_back(std::move(*next++));
    }
  }
  finalists_.clear();
  finalist_images_.clear();
  mailbox_.tell_finalists(std::move(all));
}

}  // namespace tuner::worker
