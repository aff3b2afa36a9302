#include <tuner/worker/run_lane.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include <tuner/measure/run_order.hpp>

namespace tuner::worker {
namespace {

constexpr std::size_t depth = 2;
constexpr double between_phases_s = 60;  // copying, comparing, allocating: slow at worst, never hanging

Trial failed_trial(const Configuration& configuration, const Loss& loss, Phase phase) {
  Trial trial;
  trial.configuration = configuration;
  trial.crashed = !loss.innocent;
  const std::string where =
      phase == Phase::prepare ? std::string("while starting") : fmt::format("in phase {}", text(phase));
  if (loss.hung)
    trial.outcome = Timeout{fmt::format("{} {}; its process was killed", loss.message, where)};
  else
    trial.outcome = LaunchError{fmt::format("its process was {} {}", loss.message, where)};
  return trial;
}

}  // namespace

RunLane::RunLane(RunLaneOptions options, RunLaneEvents events, SessionTimes& times)
    : options_(std::move(options)), events_(std::move(events)), times_(times) {}

void RunLane::start() {
  started_ = Clock::now();
  start_worker();
}

void RunLane::start_worker() {
  state_ = State::starting;
  phase_ = Phase::prepare;
  slot_.start(options_.program);
  slot_.send(options_.open);
  slot_.expect_within(options_.open_timeout_s);
}

void RunLane::set_reference(std::shared_ptr<const Image> image) { reference_ = std::move(image); }

void RunLane::prefer(std::span<const Configuration> order) {
  put_in_order(ready_, order, [](const RunJob& job) -> const Configuration& { return job.configuration; });
}

std::vector<Configuration> RunLane::withdraw(std::span<const Configuration> configurations) {
  std::vector<Configuration> out;
  for (RunJob& job :
       take_out(ready_, configurations, [](const RunJob& job) -> const Configuration& { return job.configuration; }))
    out.push_back(std::move(job.configuration));
  return out;
}

void RunLane::remeasure(std::vector<FinalistJob> finalists, double seconds) {
  finalists_ = std::move(finalists);
  finalist_s_ = seconds;
  finalist_trials_.clear();
  one_by_one_ = false;
  finalists_sent_ = false;
}

void RunLane::schedule() {
  if (state_ == State::open && reference_) {
    Prepare prepare;
    if (*reference_) prepare.image = **reference_;
    slot_.send(prepare);
    slot_.expect_within(options_.open_timeout_s);
    state_ = State::preparing;
  }
  if (state_ != State::prepared) return;
  while (sent_.size() < depth && !ready_.empty()) {
    RunJob& job = ready_.front();
    slot_.send(Evaluate{next_id_++, job.configuration, *job.image, best_ns_});
    if (sent_.empty()) {
      wait_before_first_ = seconds_since(idle_since_);
      times_.wait += wait_before_first_;
      expect_work();
    }
    sent_.push_back(std::move(job));
    ready_.pop_front();
  }
  if (sent_.empty() && !finalists_.empty() && !finalists_sent_) send_finalists();
}

void RunLane::expect_work() {
  phase_ = Phase::load;
  slot_.expect_within(between_phases_s);
}

void RunLane::send_finalists() {
  Remeasure message;
  message.seconds = finalist_s_;
  const std::size_t first = one_by_one_ ? finalist_trials_.size() : 0;
  const std::size_t end = one_by_one_ ? first + 1 : finalists_.size();
  for (std::size_t i = first; i < end; ++i) {
    message.configurations.push_back(finalists_[i].configuration);
    message.images.push_back(*finalists_[i].image);
  }
  slot_.send(message);
  expect_work();
  finalists_sent_ = true;
}

void RunLane::collect(std::vector<pollfd>& fds, std::optional<Clock::time_point>& wake_up) {
  slot_.collect(fds, wake_up);
}

void RunLane::react(const std::vector<pollfd>& fds) {
  if (const auto loss = slot_.react(fds, [this](Message message) { handle(std::move(message)); })) lost(*loss);
}

void RunLane::handle(Message message) {
  if (const auto* phase = std::get_if<PhaseReport>(&message)) {
    phase_ = phase->phase;
    if (state_ == State::preparing || !sent_.empty() || finalists_sent_)
      slot_.expect_within(phase->limit_s + options_.grace_s);
  } else if (const auto* opened = std::get_if<Opened>(&message);
             opened != nullptr && state_ == State::starting && opened->device) {
    state_ = State::open;
    slot_.expect_nothing();
    events_.opened(*opened->device, opened->architecture);
  } else if (std::holds_alternative<Prepared>(message) && state_ == State::preparing) {
    state_ = State::prepared;
    slot_.expect_nothing();
    (void)slot_.take_said();  // nothing that a configuration printed
    (times_.run_restarts == 0 ? times_.start : times_.restart) += seconds_since(started_);
    idle_since_ = Clock::now();
  } else if (auto* answer = std::get_if<Evaluated>(&message); answer != nullptr && !sent_.empty()) {
    evaluated(std::move(*answer));
  } else if (auto* trials = std::get_if<Remeasured>(&message); trials != nullptr && finalists_sent_) {
    remeasured(std::move(*trials));
  } else if (const auto* failed = std::get_if<Failed>(&message)) {
    slot_.stop();
    if (state_ == State::prepared)
      lost({false, false, "ended by an error: " + failed->message});
    else if (failed->final)
      events_.failed(failed->message, true);
    else
      start_failed("the device cannot be opened: " + failed->message, false);
  } else {
    throw ProtocolError("unexpected message from a run worker");
  }
}

void RunLane::evaluated(Evaluated answer) {
  RunJob job = std::move(sent_.front());
  sent_.pop_front();
  tell_what_was_printed(job.configuration);
  start_failures_ = 0;
  answer.trial.times.compile = job.compile_s;
  answer.trial.times.wait = std::exchange(wait_before_first_, 0);
  const bool innocent = std::holds_alternative<Timeout>(answer.trial.outcome) && slot_.was_stopped() && try_again(job);
  if (const Measurement* m = answer.trial.measurement(); m != nullptr && answer.trial.verified) set_best(m->median_ns);
  if (sent_.empty()) {
    idle_since_ = Clock::now();
    slot_.expect_nothing();
  } else {
    expect_work();
  }
  if (!innocent) events_.finished(std::move(job), std::move(answer.trial));
  if (!answer.usable) lost({});
}

/// Gives \p job a second try, if this was its first.
bool RunLane::try_again(RunJob& job) {
  if (std::exchange(job.again, true)) return false;
  ready_.push_front(std::move(job));
  return true;
}

/// A kernel prints in each of its many runs: the first lines are shown, and no others.
void RunLane::tell_what_was_printed(const Configuration& configuration) {
  std::string said = slot_.take_said();
  if (said.empty() || std::exchange(printed_, true)) return;
  constexpr int most_lines = 10;
  std::size_t end = 0;
  for (int line = 0; line < most_lines && end != std::string::npos; ++line) end = said.find('\n', end + (line > 0));
  if (end != std::string::npos) said.resize(end);
  while (said.ends_with('\n')) said.pop_back();
  std::fprintf(stderr, "tuner: the kernel prints, which is shown once, here with %s:\n%s\n",
               configuration.text().c_str(), said.c_str());
}

void RunLane::remeasured(Remeasured answer) {
  slot_.expect_nothing();
  finalists_sent_ = false;
  const std::size_t expected = one_by_one_ ? 1 : finalists_.size();
  if (answer.trials.size() != expected) throw ProtocolError("a finalist is missing");
  for (Trial& trial : answer.trials) finalist_trials_.push_back(std::move(trial));
  idle_since_ = Clock::now();
  start_failures_ = 0;
  if (finalist_trials_.size() == finalists_.size()) {
    finalists_.clear();
    events_.remeasured(std::move(finalist_trials_));
  }
  if (!answer.usable) lost({});
}

/// \p loss without a message: its last answer has already told what happened.
void RunLane::lost(const Loss& loss) {
  slot_.stop();
  if (state_ == State::preparing && !loss.innocent)
    return start_failed(
        fmt::format("{}: the kernel's reference took its worker down, most likely by reading or writing "
                    "outside its buffers: {}",
                    options_.open.file_name, loss.message),
        true);
  if (state_ != State::prepared) return start_failed("a run worker cannot start: " + loss.message, false);
  const bool told = loss.message.empty();
  const bool guiltless = !told && sent_.empty() && !finalists_sent_;
  if (!told && !sent_.empty()) {
    RunJob guilty = std::move(sent_.front());
    sent_.pop_front();
    if (!loss.innocent || !try_again(guilty)) {
      Trial trial = failed_trial(guilty.configuration, loss, phase_);
      trial.times.compile = guilty.compile_s;
      events_.finished(std::move(guilty), std::move(trial));
    }
  }
  // What was only queued in its pipe is innocent.
  while (!sent_.empty()) {
    ready_.push_front(std::move(sent_.back()));
    sent_.pop_back();
  }
  if (finalists_sent_) {
    finalists_sent_ = false;
    if (one_by_one_) {
      finalist_trials_.push_back(failed_trial(finalists_[finalist_trials_.size()].configuration, loss, phase_));
      if (finalist_trials_.size() == finalists_.size()) {
        finalists_.clear();
        events_.remeasured(std::move(finalist_trials_));
      }
    } else {
      one_by_one_ = true;
      finalist_trials_.clear();
    }
  }
  ++times_.run_restarts;
  started_ = Clock::now();
  if (guiltless)
    start_failed("run workers end before they run anything: " + loss.message, false);
  else
    start_worker();
}

/// \p reference: the kernel's reference is to blame, if it happens again.
void RunLane::start_failed(const std::string& message, bool reference) {
  if (++start_failures_ >= (reference ? 2 : options_.max_start_failures)) return events_.failed(message, reference);
  start_worker();
}

}  // namespace tuner::worker
