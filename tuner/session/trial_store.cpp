#include <tuner/session/trial_store.hpp>

#include <algorithm>
#include <stdexcept>

#include <tuner/session/records.hpp>

namespace tuner {

TrialStore::TrialStore(cache::Database& database, const KernelSpec& spec, const ProblemSize& size, const Device& device,
                       StoreOptions options)
    : database_(database), options_(std::move(options)) {
  key_ = {context_of(spec, size, device, options_.objective), options_.conditions};
  quarantine_ = in_quarantine();
  writer_ = std::make_unique<cache::SessionWriter>(database_, key_, options_.session);
  standing_ = writer_->best();
  const auto is_configuration = [](const std::string& text) {
    try {
      return !Configuration::parse(text).empty();
    } catch (const std::invalid_argument&) {
      return false;
    }
  };
  if (standing_ && (quarantine_.contains(standing_->configuration) || !is_configuration(standing_->configuration)))
    standing_.reset();
}

std::map<std::string, std::string> TrialStore::in_quarantine() {
  std::map<std::string, std::string> reasons;
  const auto all =
      cache::answer_or_nothing([&] { return database_.quarantined(key_.device.key, key_.kernel, key_.problem); });
  for (const cache::QuarantineRecord& record : all) reasons.emplace(record.configuration, record.reason);
  return reasons;
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
  const auto at = quarantine_.find(configuration.text());
  return at == quarantine_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<Configuration> TrialStore::standing() const {
  if (options_.resume || !standing_) return std::nullopt;
  return Configuration::parse(standing_->configuration);
}

std::optional<std::string> TrialStore::objection(const Configuration& configuration) {
  const auto reasons = in_quarantine();
  const auto at = reasons.find(configuration.text());
  return at == reasons.end() ? std::nullopt : std::optional(at->second);
}

void TrialStore::append(const Trial& trial) {
  if (is_machine_fault(trial.outcome)) return;
  writer_->add(to_record(trial));
  const std::string configuration = trial.configuration.text();
  if (standing_ && standing_->configuration == configuration) standing_.reset();
  if (!trial.crashed) {
    if (trial.verified && quarantine_.erase(configuration) > 0)
      database_.lift_quarantine(key_.device.key, key_.kernel, key_.problem, configuration);
    return;
  }
  const std::string reason(message(trial.outcome));
  database_.quarantine(key_.device, key_.kernel, key_.problem, configuration, reason);
  quarantine_.emplace(configuration, reason);
}

std::optional<std::string> TrialStore::finish(const Trial* best, std::optional<Spent> spent) {
  writer_->flush();
  // Times of two sessions do not compare well. A resumed session had the trials of the standing one at hand.
  const bool stays =
      best && standing_ &&
      (!options_.resume || (options_.objective.is_time() && standing_->median_ns < best->measurement()->median_ns));
  if (best && options_.decides && !stays) writer_->set_best(best->configuration.text());
  if (!options_.decides) spent.emplace().part = true;  // nobody resumes it
  if (spent) writer_->finish(text(*spent));
  return stays && options_.decides ? std::optional(standing_->configuration) : std::nullopt;
}

}  // namespace tuner
