#include <tuner/session/wisdom/trial_store.hpp>

#include <algorithm>
#include <stdexcept>

#include <tuner/session/wisdom/record_conversion.hpp>

namespace tuner {

TrialStore::TrialStore(cache::Database& database, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                       StoreOptions options)
    : database_(database), options_(std::move(options)) {
  key_ = {context_of(spec, size, device, options_.objective), options_.conditions};
  known_quarantine();
  writer_ = std::make_unique<cache::SessionWriter>(database_, key_, options_.session);
  standing_ = writer_->best();
  const auto is_configuration = [](const std::string& text) {
    try {
      return !Configuration::parse(text).empty();
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  if (standing_ &&
      ((quarantine_ && quarantine_->contains(standing_->configuration)) || !is_configuration(standing_->configuration)))
    standing_.reset();
  if (standing_ && options_.resume) resumed_effort_ = stored_effort(*standing_);
}

std::optional<TrialStore::Reasons> TrialStore::in_quarantine() try {
  Reasons reasons;
  for (const cache::QuarantineRecord& record : database_.quarantined(key_.device.key, key_.kernel, key_.problem))
    reasons.emplace(record.configuration, record.reason);
  if (database_.why_unknown()) return std::nullopt;  // memory stands in for a file that nobody could read
  return reasons;
} catch (const cache::Unavailable&) {
  return std::nullopt;
}

const std::optional<TrialStore::Reasons>& TrialStore::known_quarantine() {
  if (!quarantine_) quarantine_ = in_quarantine();
  return quarantine_;
}

std::vector<Trial> TrialStore::resume() {
  std::vector<Trial> trials;
  if (!options_.resume) return trials;
  for (const cache::TrialRecord& record :
       cache::answer_or_nothing([&] { return cache::finished_trials(database_, key_); }))
    if (std::optional<Trial> trial = from_record(record); trial && !lacks_metrics(*trial))
      trials.push_back(std::move(*trial));
  return trials;
}

bool TrialStore::lacks_metrics(const Trial& trial) const {
  const Measurement* const measured = trial.measurement();
  return measured != nullptr && std::any_of(options_.metrics.begin(), options_.metrics.end(),
                                            [&](const auto& name) { return !measured->metrics.contains(name); });
}

std::optional<std::string> TrialStore::quarantined(const Configuration& configuration) {
  if (!options_.resume) return std::nullopt;  // measured again, and released if it works now
  const std::optional<Reasons>& known = known_quarantine();
  if (!known) return std::nullopt;
  const auto at = known->find(configuration.text());
  return at == known->end() ? std::nullopt : std::optional(at->second);
}

std::optional<Configuration> TrialStore::standing() const {
  if (options_.resume || !standing_) return std::nullopt;
  return Configuration::parse(standing_->configuration);
}

std::optional<std::string> TrialStore::objection(const Configuration& configuration) {
  const std::optional<Reasons> now = in_quarantine();
  if (!now) return std::nullopt;
  const auto at = now->find(configuration.text());
  return at == now->end() ? std::nullopt : std::optional(at->second);
}

void TrialStore::append(const Trial& trial) {
  if (is_machine_fault(trial.outcome)) return;
  writer_->add(to_record(trial));
  const std::string configuration = trial.configuration.text();
  if (standing_ && standing_->configuration == configuration) standing_.reset();
  if (!trial.crashed) {
    // While it is not known what is in quarantine, this may be.
    if (trial.verified && (!known_quarantine() || quarantine_->erase(configuration) > 0))
      database_.lift_quarantine(key_.device.key, key_.kernel, key_.problem, configuration);
    return;
  }
  const std::string reason(message(trial.outcome));
  database_.quarantine(key_.device, key_.kernel, key_.problem, configuration, reason);
  if (quarantine_) quarantine_->emplace(configuration, reason);
}

std::optional<std::string> TrialStore::finish(const Trial* best, std::optional<Spent> spent,
                                              const cache::BestOrigin& origin) {
  writer_->flush();
  // Times of two sessions do not compare well. A resumed session had the trials of the standing one at hand.
  const bool stays =
      best && standing_ &&
      (!options_.resume || (options_.objective.is_time() && standing_->median_ns < best->measurement()->median_ns));
  if (best && options_.decides && !stays) writer_->set_best(best->configuration.text(), origin);
  if (stays && options_.decides && options_.resume) writer_->set_effort(standing_->configuration, origin.effort);
  if (!options_.decides) spent.emplace().part = true;  // nobody resumes it
  if (spent) writer_->finish(text(*spent));
  return stays && options_.decides ? std::optional(standing_->configuration) : std::nullopt;
}

}  // namespace tuner
