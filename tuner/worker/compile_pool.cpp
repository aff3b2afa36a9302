#include <tuner/worker/compile_pool.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tuner::worker {

namespace {

constexpr double kAnswerSeconds = 5;  // after the time limit, for a worker to say how its own compiler ended

}  // namespace

CompilePool::CompilePool(const IsolatedOptions& options, const StartWorker& start_here, CompilePoolEvents events)
    : options_(options), events_(std::move(events)) {
  const auto add = [this](std::size_t count, const std::string& name, const StartWorker& start) {
    if (count == 0) return;
    hosts_.push_back({name, start});
    for (std::size_t i = 0; i < count; ++i) workers_.emplace_back().host = &hosts_.back();
  };
  add(options.compile_workers, {}, start_here);
  for (const RemoteHost& host : options.hosts) add(host.compile_workers, host.name, host.start);
}

void CompilePool::push(CompileJob job) {
  for (Worker& worker : workers_)  // a second try is compiled without newcomers
    if (covers(worker.jobs, job.request) && !worker.jobs.front().again) return worker.jobs.push_back(std::move(job));
  queue_.push(std::move(job));
}

void CompilePool::start() {
  for (Worker& worker : workers_) start(worker);
}

void CompilePool::start(Worker& worker) {
  worker.open = false;
  if (!worker.host->in_use) return;
  try {
    worker.slot.start(worker.host->begin);
  } catch (const WorkerError& error) {
    return give_up(*worker.host, error.code(), error.what());
  }
  Open open;
  open.role = Role::compile;
  open.backend = options_.backend;
  open.gpus = options_.gpus;
  worker.slot.send(open);
  worker.slot.expect_within(kOpenSeconds);
}

void CompilePool::stop() {
  const std::chrono::milliseconds patience(options_.grace ? 0 : 200);
  for (Worker& worker : workers_) worker.slot.quit();
  for (const auto end = Clock::now() + patience; Clock::now() < end;) {
    std::vector<pollfd> fds;
    std::optional<Clock::time_point> ignored;
    collect(fds, ignored);
    if (fds.empty()) break;  // all have ended
    ::poll(fds.data(), fds.size(), 20);
    for (Worker& worker : workers_) (void)worker.slot.react(fds, [](const Message&) {});
  }
  for (Worker& worker : workers_) worker.slot.end({});
  workers_.clear();
}

std::size_t CompilePool::sharing() const {
  const auto idle = std::ranges::count_if(workers_, &Worker::is_idle);
  return sharing_compilers(options_.backend, workers_.size(), static_cast<std::size_t>(idle));
}

void CompilePool::schedule() {
  for (Worker& worker : workers_) {
    if (!worker.is_idle()) continue;
    if (!urgent_.empty()) {
      worker.jobs.push_back(std::move(urgent_.front()));
      urgent_.pop_front();
      take_covered(urgent_, worker.jobs);
    } else {
      worker.jobs = queue_.take(options_.batch, sharing());
      if (worker.jobs.empty()) return;
    }
    worker.since = Clock::now();
    Compile message{merge(worker.jobs)};
    if (const auto& includes = message.request.includes; includes && !worker.host->name.empty())
      message.request.carried = includes->files;
    worker.slot.send(message);
    worker.slot.expect_within(options_.compile_timeout_s + kAnswerSeconds);
  }
}

void CompilePool::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  for (Worker& worker : workers_) worker.slot.collect(fds, wake_up);
}

void CompilePool::react(const std::vector<pollfd>& fds) {
  for (Worker& worker : workers_)
    if (const auto end = worker.slot.react(fds, [&](Message message) { handle(worker, std::move(message)); }))
      lost(worker, *end);
}

void CompilePool::handle(Worker& worker, Message message) {
  if (const auto* opened = std::get_if<Opened>(&message)) {
    if (compiler_.empty()) compiler_ = opened->compiler;
    if (opened->compiler != compiler_)  // its images would be stored, and compared, as those of the other compiler
      return give_up(*worker.host, ErrorCode::other,
                     fmt::format("it compiles with {}, others with {}", opened->compiler, compiler_));
    worker.open = true;
    worker.slot.expect_nothing();
    worker.host->start_failures = 0;
    events_.opened(opened->compiler);
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    worker.slot.stop();
    if (worker.jobs.empty())
      start_failed(worker, *failed);
    else
      lost(worker, {failed->message});
  } else if (auto* compiled = std::get_if<CompileAnswer>(&message); compiled != nullptr && !worker.jobs.empty()) {
    worker.slot.expect_nothing();
    finish(worker, std::move(compiled->result), compiled->seconds);
  } else if (const auto* warning = std::get_if<Warning>(&message)) {
    options_.warn(warning->text);
  } else {
    throw ProtocolError("unexpected message from a compile worker");
  }
}

void CompilePool::finish(Worker& worker, CompileResult result, double seconds) {
  std::vector<CompileJob> jobs = std::exchange(worker.jobs, {});
  for (CompileJob& job : jobs) job.seconds += seconds / double(jobs.size());
  CompiledImage shared;
  if (auto* error = std::get_if<CompileError>(&result)) {
    if (error->machine_fault && try_again(jobs)) return;
    if (!is_one_program(jobs)) return queue_.split(std::move(jobs));
    shared = std::move(*error);
  } else {
    shared = std::make_shared<const Image>(std::move(std::get<Image>(result)));
  }
  for (CompileJob& job : jobs) events_.compiled(std::move(job), shared);
}

void CompilePool::lost(Worker& worker, const WorkerEnd& end) {
  if (!worker.open) return start_failed(worker, {end.text});
  if (!worker.jobs.empty() && !(end.from_outside && try_again(worker.jobs))) {
    const std::string message = end.hung
                                    ? fmt::format("the compiler did not end within {:g} s", options_.compile_timeout_s)
                                    : "the compiler crashed: " + end.text;
    if (end.hung) queue_.take_fewer_than(worker.jobs.size());
    finish(worker, CompileError{message, {}, end.from_outside}, seconds_since(worker.since));
  }
  start(worker);
}

/// If this was the first try of \p jobs, moves them to a second one, in which each program is compiled by itself.
bool CompilePool::try_again(std::vector<CompileJob>& jobs) {
  const auto is_second = [](const CompileJob& job) { return job.again; };
  if (std::ranges::any_of(jobs, is_second)) return false;
  for (CompileJob& job : std::exchange(jobs, {})) {
    job.again = true;
    urgent_.push_back(std::move(job));
  }
  return true;
}

void CompilePool::start_failed(Worker& worker, const Failed& failed) {
  if (is_last_start(failed) || ++worker.host->start_failures >= kMostStartFailures)
    return give_up(*worker.host, failed.code, "a compile worker cannot start: " + failed.message);
  start(worker);
}

/// Stops using \p host. Throws WorkerError when it was the last one.
void CompilePool::give_up(Host& host, ErrorCode code, const std::string& reason) {
  if (!std::exchange(host.in_use, false)) return;
  if (std::ranges::none_of(hosts_, &Host::in_use)) throw WorkerError(code, reason);
  for (Worker& worker : workers_) {
    if (worker.host != &host) continue;
    worker.slot.stop();
    worker.open = false;
    for (CompileJob& job : std::exchange(worker.jobs, {})) urgent_.push_back(std::move(job));
  }
  options_.warn(fmt::format("the compilers of {} are given up, the others continue: {}",
                            host.name.empty() ? "this host" : host.name, reason));
}

}  // namespace tuner::worker
