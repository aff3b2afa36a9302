#include <tuner/replay/replay_evaluator.hpp>

namespace tuner::replay {

namespace {

double nanoseconds_a(const std::string& unit) {
  if (unit == "s") return 1e9;
  if (unit == "ms") return 1e6;
  if (unit == "us") return 1e3;
  return 1;
}

Outcome outcome_of(const RecordedRow& row, const std::string& unit) {
  const std::string where = "recorded as failed";
  switch (row.kind) {
    case OutcomeKind::ok:
      break;
    case OutcomeKind::compile:
      return CompileError{where, {}};
    case OutcomeKind::launch:
      return LaunchError{where};
    case OutcomeKind::timeout:
      return Timeout{where};
    case OutcomeKind::wrong:
      return WrongResult{where};
    case OutcomeKind::invalid:
      return Invalid{where};
  }
  Measurement measurement;
  measurement.median_ns = *row.objective * nanoseconds_a(unit);
  measurement.low_ns = measurement.high_ns = measurement.median_ns;
  measurement.samples_ns = {measurement.median_ns};
  measurement.converged = true;
  return measurement;
}

}  // namespace

void ReplayEvaluator::submit(const Configuration& configuration, double) { waiting_.push_back(configuration); }

std::optional<Event> ReplayEvaluator::next_event(std::chrono::duration<double>) {
  Trial trial;
  trial.configuration = std::move(waiting_.front());
  waiting_.pop_front();
  const auto index = recording_.space.find(trial.configuration);
  if (!index) {
    trial.outcome = Invalid{"not in the recording '" + recording_.name + "'"};
    return trial;
  }
  const RecordedRow& row = recording_.rows[*index];
  trial.outcome = outcome_of(row, recording_.unit);
  trial.verified = row.kind == OutcomeKind::ok;
  trial.times.measure = row.eval_seconds;
  elapsed_seconds_ += row.eval_seconds;
  return trial;
}

}  // namespace tuner::replay
