#include <tuner/measure/in_process_evaluator.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tuner/core/elapsed.hpp>
#include <tuner/core/error.hpp>
#include <tuner/measure/compile_queue.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/expressions.hpp>
#include <tuner/measure/image_shelf.hpp>
#include <tuner/measure/run_order.hpp>
#include <tuner/measure/runner.hpp>

namespace tuner {
namespace {

std::size_t cores() { return std::max(1u, std::thread::hardware_concurrency()); }

}  // namespace

struct InProcessEvaluator::State {
  State(Backend& b, const KernelSpec& s, const ProblemSize& problem, InProcessOptions o)
      : backend(b), spec(s), size(complete(s, problem)), options(std::move(o)) {
    if (options.compile_threads == 0) options.compile_threads = std::min<std::size_t>(cores(), 16);
    if (options.batch == 0) options.batch = compile_batch(backend.device().key, cores(), options.search_learns);
    identity = backend.compiler().identity();
  }

  struct Finished {
    CompileJob job;
    std::shared_ptr<const Image> image;  // null: error holds
    std::optional<Outcome> error;
  };

  void saw_best(double ns) {
    if (ns > 0 && (best_ns <= 0 || ns < best_ns)) best_ns = ns;
  }
  CompileResult compile(CompileRequest request);
  void work();
  void compile_reference(const CompileRequest& request);
  void prepare();
  void finish(CompileJob job, std::shared_ptr<const Image> image, std::optional<Outcome> error);
  Trial run_first();
  std::shared_ptr<const Image> image_of(const Configuration& configuration);

  Backend& backend;
  const KernelSpec& spec;
  ProblemSize size;
  InProcessOptions options;
  std::string identity;
  std::unique_ptr<Runner> runner;
  bool needs_reference = false;
  ImageShelf shelf;

  std::mutex mutex;
  std::condition_variable work_there, result_there;
  CompileQueue queue;
  std::deque<Finished> finished;
  std::optional<CompileResult> reference;  // compiled
  std::atomic<bool> stopping = false;
  std::vector<std::thread> threads;

  // Used only by the caller's thread.
  bool prepared = false;
  std::set<Configuration> compiling;  // submitted, and neither finished nor withdrawn
  std::deque<Finished> ready;         // for the device
  std::deque<Configuration> withdrawn;
  double waited = 0;  // seconds since the last run
  double best_ns = 0;
  std::size_t flying = 0;
  std::size_t next_id = 0;
};

CompileResult InProcessEvaluator::State::compile(CompileRequest request) try {
  request.stop = &stopping;
  return backend.compiler().compile(request);
} catch (const std::exception& error) {
  return CompileError{error.what(), {}, true};
}

void InProcessEvaluator::State::compile_reference(const CompileRequest& request) {
  std::optional<Image> known = options.images.get ? options.images.get(request, identity) : std::nullopt;
  CompileResult result = known ? CompileResult(std::move(*known)) : compile(request);
  const Image* image = std::get_if<Image>(&result);
  if (!known && image != nullptr && options.images.put) options.images.put(request, identity, *image);
  const std::lock_guard lock(mutex);
  reference = std::move(result);
  result_there.notify_one();
}

/// Computes the expected outputs. Precondition: the reference is compiled.
void InProcessEvaluator::State::prepare() {
  if (std::exchange(prepared, true)) return;
  if (!needs_reference) return runner->prepare(nullptr);
  if (const auto* error = std::get_if<CompileError>(&*reference))
    throw Error(fmt::format("{}: the reference does not compile: {}\n{}", spec.file, error->message, error->log));
  runner->prepare(&std::get<Image>(*reference));
}

void InProcessEvaluator::State::finish(CompileJob job, std::shared_ptr<const Image> image,
                                       std::optional<Outcome> error) {
  {
    const std::lock_guard lock(mutex);
    finished.push_back({std::move(job), std::move(image), std::move(error)});
  }
  result_there.notify_one();
}

/// A compile thread.
void InProcessEvaluator::State::work() {
  while (true) {
    std::vector<CompileJob> jobs;
    {
      std::unique_lock lock(mutex);
      work_there.wait(lock, [&] { return stopping || !queue.empty(); });
      if (stopping) return;
      jobs = queue.take(options.batch, options.compile_threads);
    }
    if (options.images.get) {
      std::vector<CompileJob> missing;
      for (CompileJob& job : jobs) {
        if (auto image = options.images.get(job.request, identity))
          finish(std::move(job), std::make_shared<const Image>(std::move(*image)), std::nullopt);
        else
          missing.push_back(std::move(job));
      }
      jobs = std::move(missing);
      if (jobs.empty()) continue;
    }

    const auto start = Clock::now();
    CompileResult result = compile(merge(jobs));
    for (CompileJob& job : jobs) job.seconds += seconds_since(start) / double(jobs.size());
    const auto* error = std::get_if<CompileError>(&result);
    if (error != nullptr && !is_one_program(jobs)) {
      {
        const std::lock_guard lock(mutex);
        queue.split(std::move(jobs));
      }
      work_there.notify_all();
      continue;
    }
    std::shared_ptr<const Image> image;
    if (error == nullptr) image = std::make_shared<const Image>(std::move(std::get<Image>(result)));
    for (CompileJob& job : jobs) {
      if (image && options.images.put) options.images.put(job.request, identity, *image);
      finish(std::move(job), image, error != nullptr ? std::optional<Outcome>(*error) : std::nullopt);
    }
  }
}

InProcessEvaluator::InProcessEvaluator(Backend& backend, const KernelSpec& spec, const ProblemSize& size,
                                       MeasureOptions measure, InProcessOptions options)
    : state_(std::make_unique<State>(backend, spec, size, std::move(options))) {
  State& s = *state_;
  s.needs_reference = measure.verify && !s.options.reference && spec.has_reference_program();
  s.runner = std::make_unique<Runner>(backend, spec, s.size, std::move(measure), s.options.reference);
  CompileRequest reference;
  if (s.needs_reference) reference = reference_request(spec, s.size, backend.device().limits, backend.architecture());
  s.threads.reserve(s.options.compile_threads + 1);
  for (std::size_t i = 0; i < s.options.compile_threads; ++i) s.threads.emplace_back([&s] { s.work(); });
  if (s.needs_reference) s.threads.emplace_back([&s, request = std::move(reference)] { s.compile_reference(request); });
}

InProcessEvaluator::~InProcessEvaluator() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work_there.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

std::size_t InProcessEvaluator::capacity() const {
  return 2 * state_->options.batch * state_->options.compile_threads;  // two batches for each compile thread
}
std::size_t InProcessEvaluator::in_flight() const { return state_->flying; }

void InProcessEvaluator::submit(const Configuration& configuration, double best_ns) {
  State& s = *state_;
  ++s.flying;
  s.saw_best(best_ns);
  CompileJob job{s.next_id++, configuration, {}, 0};
  s.compiling.insert(configuration);
  auto request = request_or_reason(s.spec, s.size, s.backend.device().limits, s.backend.architecture(), configuration);
  if (auto* invalid = std::get_if<Invalid>(&request)) return s.finish(std::move(job), nullptr, std::move(*invalid));
  job.request = std::move(std::get<CompileRequest>(request));
  {
    const std::lock_guard lock(s.mutex);
    s.queue.push(std::move(job));
  }
  s.work_there.notify_one();
}

std::optional<Event> InProcessEvaluator::next_event(std::chrono::duration<double> patience) {
  State& s = *state_;
  if (s.flying == 0) throw std::logic_error("InProcessEvaluator::next_event: nothing is in flight");
  if (!s.withdrawn.empty()) {
    Withdrawn event{std::move(s.withdrawn.front())};
    s.withdrawn.pop_front();
    --s.flying;
    return event;
  }
  // Results of the compilers are reported first, because the device is then busy for a while.
  const auto start = Clock::now();
  std::optional<State::Finished> news;
  {
    std::unique_lock lock(s.mutex);
    const auto can_run = [&] { return !s.ready.empty() && (!s.needs_reference || s.reference); };
    s.result_there.wait_for(lock, patience, [&] { return can_run() || !s.finished.empty(); });
    while (!s.finished.empty() && !news) {
      news = std::move(s.finished.front());
      s.finished.pop_front();
      if (s.compiling.erase(news->job.configuration) == 0) news.reset();  // it was withdrawn
    }
    if (!news && !can_run()) {
      s.waited += seconds_since(start);
      return std::nullopt;
    }
  }
  s.waited += seconds_since(start);
  if (!news) {
    s.prepare();
    return s.run_first();
  }
  if (news->error) {
    --s.flying;
    Trial trial;
    trial.configuration = std::move(news->job.configuration);
    trial.outcome = std::move(*news->error);
    trial.times.compile = news->job.seconds;
    return trial;
  }
  Compiled event{news->job.configuration,
                 compiled_resources(s.spec, s.size, s.backend.device().limits, news->job.configuration, *news->image)};
  s.ready.push_back(std::move(*news));
  return event;
}

Trial InProcessEvaluator::State::run_first() {
  Finished job = std::move(ready.front());
  ready.pop_front();
  --flying;
  Trial trial;
  trial.configuration = std::move(job.job.configuration);
  if (!runner->usable()) {
    trial.outcome =
        LaunchError{"not run: a fault of an earlier configuration has made the device unusable here", 0, true};
  } else {
    trial = runner->evaluate(trial.configuration, *job.image, best_ns);
    if (const Measurement* m = trial.measurement(); m != nullptr && trial.verified) saw_best(m->median_ns);
    shelf.offer(trial, std::move(job.image));
  }
  trial.times.compile = job.job.seconds;
  trial.times.wait = std::exchange(waited, 0);
  return trial;
}

void InProcessEvaluator::prefer(std::span<const Configuration> order) {
  put_in_order(state_->ready, order,
               [](const State::Finished& job) -> const Configuration& { return job.job.configuration; });
}

void InProcessEvaluator::withdraw(std::span<const Configuration> configurations) {
  State& s = *state_;
  const auto of_job = [](const auto& job) -> const Configuration& { return job.job.configuration; };
  for (const State::Finished& job : take_out(s.ready, configurations, of_job))
    s.withdrawn.push_back(job.job.configuration);
  for (const Configuration& configuration : configurations)
    if (s.compiling.erase(configuration) > 0) s.withdrawn.push_back(configuration);
  const std::lock_guard lock(s.mutex);
  s.queue.withdraw(configurations);
}

std::shared_ptr<const Image> InProcessEvaluator::State::image_of(const Configuration& configuration) {
  if (auto image = shelf.find(configuration)) return image;
  const CompileRequest request =
      compile_request(spec, size, backend.device().limits, backend.architecture(), configuration);
  if (options.images.get)
    if (auto image = options.images.get(request, identity)) return std::make_shared<const Image>(std::move(*image));
  CompileResult result = compile(request);
  if (auto* error = std::get_if<CompileError>(&result))
    throw Error(
        fmt::format("{}: a finalist no longer compiles ({}): {}", spec.file, configuration.text(), error->message));
  return std::make_shared<const Image>(std::move(std::get<Image>(result)));
}

std::vector<Trial> InProcessEvaluator::remeasure(std::span<const Configuration> finalists, double seconds) {
  State& s = *state_;
  {
    std::unique_lock lock(s.mutex);
    s.result_there.wait(lock, [&] { return !s.needs_reference || s.reference; });
  }
  s.prepare();
  std::vector<std::shared_ptr<const Image>> images;
  std::vector<Runner::Finalist> all;
  for (const Configuration& configuration : finalists) {
    images.push_back(s.image_of(configuration));
    all.push_back({configuration, images.back().get()});
  }
  return s.runner->remeasure(all, seconds);
}

}  // namespace tuner
