#include <tuner/worker/run_lanes.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <tuner/backend/traits.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/compile_queue.hpp>

namespace tuner::worker {
namespace {

constexpr double kBetweenPhasesSeconds = 60;  // copying, comparing, allocating: may be slow, but never hangs

/// \p runs_kernel: the worker was running the kernel, not working for us.
Trial failed_trial(const Configuration& configuration, const WorkerEnd& end, Phase phase, bool runs_kernel) {
  Trial trial;
  trial.configuration = configuration;
  trial.crashed = !end.from_outside && (runs_kernel || !end.hung);
  const std::string where =
      phase == Phase::prepare ? std::string("while starting") : fmt::format("in phase {}", text(phase));
  if (end.hung)
    trial.outcome = Timeout{fmt::format("{} {}; its worker was killed", end.text, where)};
  else
    trial.outcome = LaunchError{fmt::format("its worker was {} {}", end.text, where), 0, end.from_outside};
  return trial;
}

constexpr double kSlowFillSeconds = 10;
constexpr const char* kFillFaster =
    "Inputs of expressions and structs are computed on the CPU: a `fill` with `uniform`, or a smaller problem, is "
    "faster";

}  // namespace

void RunQueue::fill_began_or_ended(bool began) {
  if (began && !filling_since) filling_since = Clock::now();
  if (began || !filling_since || warned_of_slow_fill) return;
  warned_of_slow_fill = true;
  if (const double seconds = seconds_since(*filling_since); seconds > kSlowFillSeconds)
    options.warn(fmt::format("filling the inputs took {:.0f} s. {}", seconds, kFillFaster));
}

RunLane::RunLane(int number, StartWorker start, Open open, RunLaneEvents events, RunQueue& queue)
    : number_(number), start_(std::move(start)), open_(std::move(open)), events_(std::move(events)), queue_(queue) {}

void RunLane::start() {
  state_ = State::starting;
  phase_ = Phase::prepare;
  recalled_ = false;
  runs_kernel_ = false;
  started_ = Clock::now();
  slot_.start(start_);
  slot_.send(open_);
  if (queue_.hurried) slot_.send(Hurry{});
  slot_.expect_within(kOpenSeconds);
}

void RunLane::hurry() {
  if (slot_.running()) slot_.send(Hurry{});
}

void RunLane::recall(std::span<const Configuration> configurations, Taken taken) {
  const auto is_meant = [&](const RunJob& job) {
    return std::ranges::find(configurations, job.first()) != configurations.end();
  };
  if (suspect_ && is_meant(suspect_->first)) report_suspect();
  if (!slot_.running()) return;
  bool waiting = false, running = false;
  for (std::size_t i = taken == Taken::running_too ? 0 : 1; i < sent_.size(); ++i) {
    if (sent_[i].recalled || sent_[i].finals_s || !is_meant(sent_[i])) continue;
    sent_[i].recalled = true;
    (i == 0 ? running : waiting) = true;
  }
  if (waiting || running) send_recall(running);
}

void RunLane::send_recall(bool running) {
  slot_.send(Recall{running});
  recalled_ = true;
}

void RunLane::give_up_finalists() {
  own_.clear();
  if (suspect_ && suspect_->first.finals_s) suspect_.reset();
  bool some = false;
  for (RunJob& job : sent_)
    if (job.finals_s && !std::exchange(job.recalled, true)) some = true;
  if (some && slot_.running()) send_recall(sent_.front().is_given_up());
}

void RunLane::schedule(std::size_t depth) {
  if (!slot_.running()) return;
  if (state_ == State::open && queue_.reference) {
    Prepare prepare;
    if (*queue_.reference) prepare.image = **queue_.reference;
    slot_.send(prepare);
    if (phase_ != Phase::fill) slot_.expect_within(kOpenSeconds);
    state_ = State::preparing;
    waited_s_ = seconds_since(idle_since_);
  }
  if (state_ != State::prepared) return;
  while (sent_.size() < depth) {
    std::deque<RunJob>& from = own_.empty() ? queue_.ready : own_;
    if (from.empty()) return;
    send(from.front());
    if (sent_.empty()) {
      from.front().wait_s = seconds_since(idle_since_);
      expect_work();
    }
    sent_.push_back(std::move(from.front()));
    from.pop_front();
  }
}

void RunLane::send(const RunJob& job) {
  if (!job.finals_s) return slot_.send(Evaluate{job.first(), *job.images.front(), queue_.best_ns});
  const double spent_s = job.in_new_process ? seconds_since(started_) : 0;
  Remeasure message{job.configurations, {}, std::max(*job.finals_s - spent_s, 0.0), job.checked, job.placement};
  for (const auto& image : job.images) message.images.push_back(*image);
  slot_.send(message);
}

void RunLane::expect_work() {
  phase_ = Phase::load;
  runs_kernel_ = false;
  slot_.expect_within(kBetweenPhasesSeconds);
}

void RunLane::react(const std::vector<pollfd>& fds) {
  if (const auto end = slot_.react(fds, [this](Message message) { handle(std::move(message)); })) lost(*end);
}

void RunLane::handle(Message message) {
  if (const auto* phase = std::get_if<PhaseReport>(&message)) {
    phase_ = phase->phase;
    runs_kernel_ = phase->runs_kernel;
    queue_.fill_began_or_ended(phase_ == Phase::fill);
    if (state_ == State::preparing || phase_ == Phase::fill || !sent_.empty())
      slot_.expect_within(phase->limit_s + queue_.options.grace_s);
    else
      slot_.expect_nothing();
  } else if (const auto* opened = std::get_if<Opened>(&message);
             opened != nullptr && state_ == State::starting && opened->device) {
    state_ = State::open;
    idle_since_ = Clock::now();
    slot_.expect_nothing();
    events_.opened(*opened->device);
  } else if (auto* prepared = std::get_if<Prepared>(&message); prepared != nullptr && state_ == State::preparing) {
    if (!lost_on_own_.empty()) {
      slot_.stop();
      throw PrepareError(
          ErrorCode::other,
          fmt::format(
              "{}: the kernel's reference took its worker down on a problem that tuner chose ({}), and not on "
              "the tuned one. Results are also used for other sizes, pointers and scalars. Say what the kernel "
              "is for: sizes with a `constraint`, pointers with `aligned`, a scalar with `only` after its value; "
              "or name problems with `verify` lines",
              open_.file_name, lost_on_own_));
    }
    state_ = State::prepared;
    slot_.expect_nothing();
    for (const std::string& remark : prepared->remarks) queue_.options.warn(remark);
    events_.prepared(std::move(prepared->remarks), seconds_since(started_) - waited_s_);
    report_suspect();
    (void)slot_.take_said();  // no configuration printed this
    idle_since_ = Clock::now();
  } else if (auto* answer = std::get_if<Ran>(&message); answer != nullptr && !sent_.empty()) {
    ran(std::move(*answer));
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    if (state_ == State::prepared) return slot_.end({"ended by an error: " + failed->message, true});
    slot_.stop();
    if (failed->final)
      throw PrepareError(failed->code, failed->message);
    else
      start_failed({"the device cannot be opened: " + failed->message, false, failed->code});
  } else if (const auto* warning = std::get_if<Warning>(&message)) {
    queue_.options.warn(warning->text);
  } else {
    throw ProtocolError("unexpected message from a run worker");
  }
}

void RunLane::ran(Ran answer) {
  const bool begun = !answer.trials.empty();
  // A recall may take back more jobs than were meant: all that have not begun when it arrives, or the next one if the
  // one that ran has ended meanwhile. These jobs run later.
  if (begun ? answer.trials.size() != sent_.front().configurations.size() : !recalled_)
    throw ProtocolError("a trial is missing");
  RunJob job = std::move(sent_.front());
  sent_.pop_front();
  if (sent_.empty()) {
    idle_since_ = Clock::now();
    slot_.expect_nothing();
  } else {
    expect_work();
  }
  if (job.is_given_up()) {
    if (!answer.usable) slot_.end({});
    return;
  }
  if (!begun && job.recalled) return events_.withdrawn(std::move(job.configurations.front()));
  if (!begun) return waiting(job).push_front(std::move(job));
  if (!job.finals_s) report_printed_text(job.first());
  start_failures_ = reference_failures_ = 0;
  Trial& trial = answer.trials.front();
  trial.times.compile = job.compile_s;
  trial.times.wait = std::exchange(job.wait_s, 0);
  const bool is_sound = trial.verified || !open_.measure.verify;
  if (const Measurement* m = trial.measurement(); m != nullptr && is_sound) queue_.set_best(m->median_ns);
  const bool innocent = std::holds_alternative<Timeout>(trial.outcome) && slot_.take_stop() && try_again(job);
  if (!innocent) {
    if (!answer.usable) split_off_cause(job, answer.trials);
    if (answer.usable)
      events_.finished(number_, std::move(job), std::move(answer.trials));
    else
      suspect_.emplace(std::move(job), std::move(answer.trials));
  }
  if (!answer.usable) slot_.end({});  // its answer was the trial
}

/// The device was lost with one of the finalists. The others wait for the next worker, in their part of the time.
void RunLane::split_off_cause(RunJob& job, std::vector<Trial>& trials) {
  const auto guilty = std::ranges::find_if(trials, &Trial::crashed);
  if (!job.finals_s || trials.size() < 2 || guilty == trials.end()) return;
  const auto i = guilty - trials.begin();
  RunJob others = job;
  others.configurations.erase(others.configurations.begin() + i);
  others.images.erase(others.images.begin() + i);
  *others.finals_s *= double(others.configurations.size()) / double(trials.size());
  for (const Trial& trial : trials)
    if (&trial != &*guilty) others.known.push_back(trial);
  own_.push_front(std::move(others));
  job.configurations = {guilty->configuration};
  job.images = {job.images[static_cast<std::size_t>(i)]};
  trials = {Trial(*guilty)};
}

/// Gives \p job a second try, if this was its first.
bool RunLane::try_again(RunJob& job) {
  if (std::exchange(job.again, true)) return false;
  waiting(job).push_front(std::move(job));
  return true;
}

/// A kernel prints in each of its many runs. Only the first lines of the first run are shown. A compiler may have
/// printed them too.
void RunLane::report_printed_text(const Configuration& configuration) {
  std::string said = slot_.take_said();
  if (said.empty() || std::exchange(queue_.printed, true)) return;
  constexpr int most_lines = 10;
  std::size_t end = 0;
  for (int line = 0; line < most_lines && end != std::string::npos; ++line) end = said.find('\n', end + (line > 0));
  if (end != std::string::npos) said.resize(end);
  while (said.ends_with('\n')) said.pop_back();
  queue_.options.warn(fmt::format("printed while the kernel ran; the first lines are shown once, here with {}:\n{}",
                                  configuration.text(), said));
}

/// An \p end without a text: the worker's last answer has already reported the trial.
void RunLane::lost(const WorkerEnd& end) {
  if (phase_ == Phase::fill && end.hung && !end.from_outside)
    throw PrepareError(ErrorCode::other, fmt::format("{}: filling the inputs has no end: the worker {}. {}",
                                                     open_.file_name, end.text, kFillFaster));
  // The reference may be meant for fewer sizes than tuner chose.
  if (state_ == State::preparing && !end.from_outside && std::exchange(open_.measure.own_problems, false))
    lost_on_own_ = end.text;
  if (state_ == State::preparing && !end.from_outside)
    return start_failed(
        {end.exited ? fmt::format("{}: the kernel's reference ended the process that ran it: {}; it must return, "
                                  "not call exit()",
                                  open_.file_name, end.text)
                    : fmt::format("{}: the kernel's reference took its worker down, most likely by reading or writing "
                                  "outside its buffers or __shared__ arrays: {}",
                                  open_.file_name, end.text)},
        true);
  if (state_ != State::prepared) return start_failed({"a run worker cannot start: " + end.text});
  const bool is_reported = end.text.empty();
  std::optional<RunJob> running;
  if (!is_reported && !sent_.empty()) {
    running = std::move(sent_.front());
    sent_.pop_front();
  }
  take_back_sent();
  const bool is_not_the_cause = !is_reported && !running;
  if (running && running->is_given_up()) running.reset();
  const bool is_innocent = end.from_outside || (end.hung && !runs_kernel_);
  if (running && !(is_innocent && try_again(*running))) fail(std::move(*running), end);
  if (is_not_the_cause)
    start_failed({"run workers end before they run anything: " + end.text});
  else
    start();
}

/// Jobs that were only queued in the worker's pipe did not cause its loss: they wait for a worker again.
void RunLane::take_back_sent() {
  for (; !sent_.empty(); sent_.pop_back()) {
    if (sent_.back().is_given_up()) continue;
    if (sent_.back().recalled)
      events_.withdrawn(sent_.back().first());
    else
      waiting(sent_.back()).push_front(std::move(sent_.back()));
  }
}

/// A worker was lost while it ran \p job. One of several finalists may be the cause, so each of them is then measured
/// alone, all in the time of one round.
void RunLane::fail(RunJob job, const WorkerEnd& end) {
  if (job.configurations.size() > 1) {
    job.finals_s = *job.finals_s / static_cast<double>(job.configurations.size());
    job.in_new_process = false;  // the next one is new anyway
    for (std::size_t i = job.configurations.size(); i-- > 0;) {
      RunJob alone = job;
      alone.again = false;
      alone.known.clear();
      alone.configurations = {std::move(job.configurations[i])};
      alone.images = {std::move(job.images[i])};
      own_.push_front(std::move(alone));
    }
    return;
  }
  Trial trial = failed_trial(job.first(), end, phase_, runs_kernel_);
  trial.times.compile = job.compile_s;
  suspect_.emplace(std::move(job), std::vector{std::move(trial)});
}

void RunLane::report_suspect() {
  auto known = std::exchange(suspect_, std::nullopt);
  if (known) events_.finished(number_, std::move(known->first), std::move(known->second));
}

void RunLane::report_known() {
  for (RunJob& job : std::exchange(own_, {})) {
    std::vector<Trial> known = std::move(job.known);
    if (!known.empty()) events_.finished(number_, std::move(job), std::move(known));
  }
}

void RunLane::retire() {
  slot_.stop();
  take_back_sent();
  if (suspect_ && !suspect_->first.finals_s && !suspect_->first.lost_with) {
    auto& [job, trials] = *suspect_;
    job.lost_with.emplace(number_, std::move(trials.front()));
    queue_.ready.push_front(std::move(job));
    suspect_.reset();
  }
  if (suspect_ && suspect_->first.finals_s) suspect_.reset();  // other lanes measure finalists too
  report_suspect();
  own_.clear();
}

/// \p reference: the worker ran the kernel's reference. A second such failure is the reference's fault.
void RunLane::start_failed(const Failed& failed, bool reference) {
  const bool is_last = reference ? ++reference_failures_ == 2 : ++start_failures_ == kMostStartFailures;
  if (!is_last && !is_last_start(failed)) return start();
  if (reference) throw PrepareError(failed.code, failed.message);
  throw DeviceLostError(failed.code, failed.message);
}

// ---------------------------------------------------------------- all lanes

RunLanes::RunLanes(const IsolatedOptions& options, const StartWorker& start_here, const Open& open,
                   const std::map<std::string, std::string>& carried, RunLanesEvents events)
    : events_(std::move(events)), queue_{options} {
  const std::string kind = traits(options.backend).is_gpu ? "GPU" : "host";
  const auto add = [&](int device, const StartWorker& start, const std::string& host) {
    Open one = open;
    one.device = device;
    if (!host.empty()) one.measure.carried = carried;
    lanes_.push_back({RunLane(size(), start, std::move(one), events_, queue_)});
    lanes_.back().report.name = (host.empty() ? "" : host + ' ') + kind + ' ' + std::to_string(device);
  };
  for (const int device : options.devices) add(device, start_here, {});
  for (const RemoteHost& host : options.hosts)
    for (const int device : host.devices) add(device, host.start, host.name);
}

/// Calls \p work for each lane in use, and gives lanes up that throw. Rethrows when it is the last one.
template <typename Work>
void RunLanes::for_each(Work work) {
  const auto is_last = [this] { return std::ranges::count_if(lanes_, &Entry::in_use) == 1; };
  for (int i = 0; i < size(); ++i) {
    Entry& entry = lanes_[static_cast<std::size_t>(i)];
    if (!entry.in_use) continue;
    try {
      work(entry.lane);
    } catch (const PrepareError& error) {
      if (is_last()) throw;
      at_fault_.push_back(i);
      give_up(entry, error.what());
    } catch (const WorkerError& error) {
      if (is_last()) {
        report_given_up();
        throw;
      }
      give_up(entry, error.what());
      entry.report.unusable = dynamic_cast<const DeviceLostError*>(&error) != nullptr;
      events_.given_up(i);
    }
  }
}

bool RunLanes::some_are_prepared() const {
  return std::ranges::any_of(lanes_, [](const Entry& one) { return one.in_use && one.lane.prepared(); });
}

void RunLanes::give_up(Entry& entry, const std::string& reason) {
  entry.in_use = false;
  entry.report.lost = reason;
  entry.lane.retire();
}

void RunLanes::report_given_up() {
  for (const int lane : std::exchange(at_fault_, {})) events_.given_up(lane);
}

void RunLanes::report_lost(RunJob job) {
  auto [lane, trial] = std::move(*job.lost_with);
  events_.finished(lane, std::move(job), {std::move(trial)});
}

void RunLanes::report_suspects() {
  for (Entry& entry : lanes_) {
    entry.lane.report_suspect();
    entry.lane.report_known();
  }
  for (RunJob& job : std::exchange(queue_.ready, {}))
    if (job.lost_with) report_lost(std::move(job));
}

void RunLanes::start() {
  for_each([](RunLane& lane) { lane.start(); });
}

void RunLanes::start_finals(const RunJob& job) {
  const bool some = some_are_prepared();
  std::vector<const RunLane*> left;
  for (Entry& entry : lanes_) {
    if (!entry.in_use || (some && !entry.lane.prepared())) continue;
    entry.lane.push_own(job);
    entry.in_finals = true;
    if (!job.in_new_process || !entry.lane.idle()) continue;
    entry.lane.kill();  // all at once, before any of them is waited for
    left.push_back(&entry.lane);
  }
  for_each([&](RunLane& lane) {
    if (std::ranges::find(left, &lane) != left.end()) lane.start();
  });
}

std::vector<int> RunLanes::lanes_in_finals() const {
  std::vector<int> lanes;
  for (int i = 0; i < size(); ++i)
    if (const Entry& entry = lanes_[static_cast<std::size_t>(i)]; entry.in_use && entry.in_finals) lanes.push_back(i);
  return lanes;
}

void RunLanes::give_up_finalists() {
  for_each([](RunLane& lane) { lane.give_up_finalists(); });
}

void RunLanes::end_finals() {
  for (Entry& entry : lanes_) entry.in_finals = false;
}

std::vector<LaneReport> RunLanes::reports() const {
  std::vector<LaneReport> all;
  for (const Entry& entry : lanes_) all.push_back(entry.report);
  return all;
}

void RunLanes::prefer(std::span<const Configuration> order) { put_in_order(queue_.ready, order, &RunJob::first); }

void RunLanes::hurry() {
  if (std::exchange(queue_.hurried, true)) return;
  for_each([](RunLane& lane) { lane.hurry(); });
}

std::vector<Configuration> RunLanes::withdraw(std::span<const Configuration> configurations, Taken taken) {
  std::vector<Configuration> out;
  for (RunJob& job : take_out(queue_.ready, configurations, &RunJob::first)) {
    if (job.lost_with)
      report_lost(std::move(job));
    else
      out.push_back(job.first());
  }
  for_each([&](RunLane& lane) { lane.recall(configurations, taken); });
  return out;
}

void RunLanes::schedule() {
  const bool all_are_prepared =
      std::ranges::all_of(lanes_, [](const Entry& one) { return !one.in_use || one.lane.prepared(); });
  const std::size_t depth = all_are_prepared ? RunLane::kDepth : 1;
  for (std::size_t jobs = 1; jobs <= depth; ++jobs) for_each([&](RunLane& lane) { lane.schedule(jobs); });
}

void RunLanes::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  for_each([&](RunLane& lane) { lane.collect(fds, wake_up); });
}

void RunLanes::react(const std::vector<pollfd>& fds) {
  for_each([&](RunLane& lane) { lane.react(fds); });
  if (!at_fault_.empty() && some_are_prepared()) report_given_up();
}

void RunLanes::stop() {
  for (Entry& entry : lanes_) entry.lane.kill();  // all at once: a process that uses a GPU ends slowly
  for (Entry& entry : lanes_) entry.lane.stop();
}

}  // namespace tuner::worker
