#include <tuner/worker/evaluation_loop.hpp>

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/core/kernel/kernel_spec.hpp>
#include <tuner/core/kernel/verify_problems.hpp>
#include <tuner/core/kernel_file/data_files.hpp>
#include <tuner/core/result/reference_failure.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/threads.hpp>
#include <tuner/measure/compiled_resources.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner::worker {
namespace {

// Jobs of the compile pool by number: trials from 0, finalists from kFirstFinalist, and the reference.
constexpr std::size_t kReferenceId = ~std::size_t{0};
constexpr std::size_t kFirstFinalist = std::size_t{1} << 48;

constexpr std::int64_t kMaxCarriedBytes = kMaxMessageBytes / 2;

}  // namespace

EvaluationLoop::EvaluationLoop(const KernelSpec& spec, ProblemSize size, MeasureOptions measure,
                               IsolatedOptions options)
    : spec_(spec),
      size_(std::move(size)),
      measure_(std::move(measure)),
      options_(std::move(options)),
      lanes_(make_lanes()),
      pool_(make_pool()) {
  if (options_.images.get || options_.images.put) images_.emplace();
  const WithoutSignals calm;  // a worker that dies while it is written to is noticed by the write's result
  thread_ = std::jthread([this](const std::stop_token& stopping) { run(stopping); });
}

EvaluationLoop::~EvaluationLoop() {
  thread_.request_stop();
  mailbox_.wake();
  thread_.join();
  images_.reset();  // stores what is still to be stored
}

RunLanes EvaluationLoop::make_lanes() {
  MeasureOptions measure = measure_;
  measure.own_problems = measure.own_problems && chooses_problems(spec_);
  const Open open{.role = Role::run,
                  .backend = options_.backend,
                  .gpus = {},
                  .source = spec_.program.text,
                  .file_name = spec_.program.file,
                  .sources = spec_.program.sources,
                  .size = size_,
                  .measure = std::move(measure)};
  RunLanesEvents events;
  events.opened = [this](const Device& device) { device_known(device); };
  events.prepared = [this](std::vector<std::string> remarks, double start_s) {
    mailbox_.report([&](News& news) {
      news.remarks = std::move(remarks);
      news.start_s = start_s;
    });
  };
  events.finished = [this](int lane, RunJob job, std::vector<Trial> trials) {
    finished(lane, std::move(job), std::move(trials));
  };
  events.given_up = [this](int lane) { given_up(lane); };
  events.withdrawn = [this](Configuration configuration) { report(Withdrawn{std::move(configuration)}); };
  return {options_, start_here(options_, spec_), open, carried_files(), std::move(events)};
}

/// The files that other hosts may lack, as many as fit into a message.
std::map<std::string, std::string> EvaluationLoop::carried_files() const {
  std::map<std::string, std::string> carried;
  if (options_.hosts.empty()) return carried;
  std::vector<std::filesystem::path> files = data_files(spec_);
  for (const auto* recorded : {&measure_.recorded.inputs, &measure_.recorded.outputs})
    for (const auto& [buffer, file] : *recorded) files.emplace_back(file);
  std::int64_t left = kMaxCarriedBytes;
  for (const std::filesystem::path& file : files) try {
      std::string bytes = read_input_file(file, left, "data file");
      left -= static_cast<std::int64_t>(bytes.size());
      carried.emplace(file.string(), std::move(bytes));
    } catch (const Error&) {  // the workers report it, if their host lacks the file too
    }
  return carried;
}

CompilePool EvaluationLoop::make_pool() {
  const auto opened = [this](const std::string& name) { compiler_known(name); };
  const auto done = [this](CompileJob job, CompiledImage result) {
    compiled(std::move(job), std::move(result), false);
  };
  return {options_, start_here(options_, spec_), {opened, done}};
}

// ---------------------------------------------------------------- requests of the caller

void EvaluationLoop::submit(Configuration configuration, double best_ns) {
  lanes_.set_best(best_ns);
  compiling_.insert(configuration);
  waiting_.push_back({0, std::move(configuration), {}, 0});
  route_waiting();
}

void EvaluationLoop::withdraw(std::span<const Configuration> configurations, Taken which) {
  std::vector<Configuration> taken = lanes_.withdraw(configurations, which);
  for (const Configuration& configuration : configurations)
    if (compiling_.erase(configuration) > 0) taken.push_back(configuration);
  std::erase_if(waiting_, [&](const CompileJob& job) { return !compiling_.contains(job.configuration); });
  pool_.withdraw(taken);
  for (Configuration& configuration : taken) report(Withdrawn{std::move(configuration)});
}

// ---------------------------------------------------------------- the thread

void EvaluationLoop::run(const std::stop_token& stopping) {
  try {
    report_lanes();
    lanes_.start();  // first, because opening a device takes longest
    pool_.start();
    if (!has_reference_program()) lanes_.set_reference(nullptr);
    if (options_.known_device) device_known(*options_.known_device);
    work(stopping);
  } catch (...) {
    lanes_.report_suspects();
    run_finalists();
    mailbox_.report([](News& news) { news.failure = std::current_exception(); });
  }
  lanes_.stop();
  pool_.stop();
}

void EvaluationLoop::work(const std::stop_token& stopping) {
  std::vector<pollfd> fds;
  while (true) {
    for (const auto& command : mailbox_.take_commands()) command();
    if (stopping.stop_requested()) return;
    run_finalists();
    pool_.schedule();
    lanes_.schedule();

    fds.clear();
    fds.push_back({mailbox_.wake_fd(), POLLIN, 0});
    std::optional<Clock::time_point> wake_up;
    lanes_.collect(fds, wake_up);
    pool_.collect(fds, wake_up);
    int timeout_ms = -1;
    if (wake_up) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*wake_up - Clock::now()).count() + 1;
      timeout_ms = static_cast<int>(std::clamp<long long>(left, 0, 60000));
    }
    if (::poll(fds.data(), fds.size(), timeout_ms) < 0) {
      if (errno != EINTR) throw WorkerError(std::string("poll: ") + std::strerror(errno));
      for (pollfd& fd : fds) fd.revents = 0;
    }
    lanes_.react(fds);
    pool_.react(fds);
  }
}

// ---------------------------------------------------------------- the way of a configuration

void EvaluationLoop::device_known(const Device& opened) {
  if (device_ && !(device_->key == opened.key))
    throw Error(fmt::format("the run worker opened another device than the session is for: {} instead of {}",
                            opened.key.text(), device_->key.text()));
  if (device_) return;
  device_ = opened;
  mailbox_.report([&](News& news) { news.device = opened; });
  if (compiler_ || !options_.images.get) begin();
}

void EvaluationLoop::compiler_known(const std::string& name) {
  if (compiler_) return;
  compiler_ = name;
  if (device_ && options_.images.get) begin();
}

/// Called once the device and, for the image store, the compiler are known.
void EvaluationLoop::begin() {
  if (has_reference_program())
    look_up({kReferenceId, {}, reference_request(spec_, size_, device_->limits, architecture_of(device_->key)), 0});
  route_waiting();
}

void EvaluationLoop::route_waiting() {
  if (!device_ || (options_.images.get && !compiler_)) return;
  for (CompileJob& job : std::exchange(waiting_, {})) {
    auto request = request_or_reason(spec_, size_, device_->limits, architecture_of(device_->key), job.configuration);
    if (auto* invalid = std::get_if<Invalid>(&request)) {
      compiling_.erase(job.configuration);
      finish(std::move(job.configuration), std::move(*invalid), 0);
    } else {
      job.request = std::move(std::get<CompileRequest>(request));
      job.request.in_background = !std::exchange(is_first_, false);
      look_up(std::move(job));
    }
  }
}

void EvaluationLoop::look_up(CompileJob job) {
  if (!options_.images.get || !compiler_) return compile(std::move(job));
  const auto shared = std::make_shared<CompileJob>(std::move(job));
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
  if (job.id >= kFirstFinalist)
    pool_.push_first(std::move(job));
  else if (compiling_.contains(job.configuration))  // not withdrawn meanwhile
    pool_.push(std::move(job));
}

void EvaluationLoop::compiled(CompileJob job, CompiledImage result, bool from_store) {
  const auto* known = std::get_if<std::shared_ptr<const Image>>(&result);
  if (known != nullptr && !from_store && options_.images.put && compiler_)
    images_->post([this, request = job.request, compiler = *compiler_,
                   image = *known] { options_.images.put(request, compiler, *image); },
                  false);
  if (job.id == kReferenceId) return reference_compiled(std::move(job), std::move(result));
  if (job.id >= kFirstFinalist) {
    Finals::Finalist* const finalist = finals_.find(job.id - kFirstFinalist, job.configuration);
    if (finalist != nullptr && known != nullptr)
      finalist->image = *known;
    else if (finalist != nullptr)
      finalist->failed = Trial{job.configuration, std::get<CompileError>(result)};
    return;
  }
  if (compiling_.erase(job.configuration) == 0) return;  // withdrawn meanwhile
  if (known == nullptr)
    return finish(std::move(job.configuration), std::get<CompileError>(std::move(result)), job.seconds);
  report(Compiled{job.configuration, compiled_resources(spec_, size_, device_->limits, job.configuration, **known)});
  lanes_.push({{std::move(job.configuration)}, {*known}, std::nullopt, job.seconds});
}

void EvaluationLoop::reference_compiled(CompileJob job, CompiledImage result) {
  if (const auto* image = std::get_if<std::shared_ptr<const Image>>(&result)) return lanes_.set_reference(*image);
  // Once more: the compiler's process may have died without any fault of the reference.
  if (!std::exchange(job.again, true)) return pool_.push_first(std::move(job));
  throw Error(ErrorCode::compiler, reference_failure(spec_, std::get<CompileError>(result)));
}

void EvaluationLoop::finished(int lane, RunJob job, std::vector<Trial> trials) {
  lanes_.report(lane).trials += trials.size();
  if (lanes_.size() > 1)
    for (Trial& trial : trials) trial.lane = lane + 1;
  if (job.finals_s) return finals_.measured(lane, job, trials);
  report_lanes();
  finals_.offer(trials.front(), std::move(job.images.front()));
  report(std::move(trials.front()));
}

void EvaluationLoop::given_up(int lane) {
  report_lanes();
  const LaneReport& report = lanes_.report(lane);
  options_.warn(fmt::format("{} is given up, the others continue: {}", report.name, report.lost));
}

/// Tells the trial of a configuration that never ran.
void EvaluationLoop::finish(Configuration configuration, Outcome outcome, double compile_s) {
  Trial trial{std::move(configuration), std::move(outcome)};
  trial.times.compile = compile_s;
  report(std::move(trial));
}

void EvaluationLoop::report(Event event) {
  mailbox_.report([&](News& news) { news.events.push_back(std::move(event)); });
}

// ---------------------------------------------------------------- finalists

void EvaluationLoop::remeasure(std::vector<Configuration> configurations, double seconds, Placement placement) {
  // A new thread of this process would have nothing else that is new.
  if (options_.here != nullptr && placement == Placement::new_process) placement = Placement::new_memory;
  finals_.begin(std::move(configurations), seconds, placement);
  std::vector<Finals::Finalist>& finalists = finals_.finalists();
  for (std::size_t i = 0; i < finalists.size(); ++i)
    if (const Configuration& one = finalists[i].configuration; !finalists[i].image)  // of an earlier session
      look_up({kFirstFinalist + i, one,
               compile_request(spec_, size_, device_->limits, architecture_of(device_->key), one), 0});
}

void EvaluationLoop::give_up_finalists() {
  if (!finals_.give_up()) return;
  lanes_.give_up_finalists();
  lanes_.end_finals();
  mailbox_.report([](News& news) { news.finalists.emplace(); });
}

/// Runs the finalists once all of them are compiled. Tells their trials once all lanes that were asked and are still in
/// use have measured all of them.
void EvaluationLoop::run_finalists() {
  const std::optional<RunJob> job = finals_.job();
  if (!job) return;
  if (lanes_.lanes_in_finals().empty() && !job->configurations.empty()) lanes_.start_finals(*job);
  std::optional<std::vector<Trial>> trials = finals_.take(lanes_.lanes_in_finals());
  if (!trials) return;
  lanes_.end_finals();
  for (int lane = 0; lane < lanes_.size(); ++lane) finals_.describe(lane, lanes_.report(lane));
  report_lanes();
  mailbox_.report([&](News& news) { news.finalists = std::move(trials); });
}

void EvaluationLoop::report_lanes() {
  if (lanes_.size() > 1) mailbox_.report([this](News& news) { news.lanes = lanes_.reports(); });
}

}  // namespace tuner::worker
