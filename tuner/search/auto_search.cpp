#include <algorithm>
#include <cmath>

#include <tuner/search/candidates.hpp>
#include <tuner/search/rank_model.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {

namespace {

constexpr std::size_t kAlwaysRun = 2;   // of what waits, so that the device does not
constexpr std::size_t kLeastPrior = 8;  // results that a model of elsewhere is worth
constexpr double kFinishing = 0.5;      // of the model's doubt, when the budget ends
constexpr std::size_t kJudged = 256;    // of what is wanted, for the probability of an improvement

/// Proposes the candidate (candidates.hpp) with the highest expected improvement by a model of the ranks
/// (rank_model.hpp). Proposals that are compiled and wait for the device are judged once more with what the compiler
/// told of each: the more promising ones run first, and those that fell far behind what could be proposed now are
/// given up.
class Auto final : public BasicStrategy, public Foresight {
 public:
  struct Options {
    Option<std::size_t> start{"start", 6, 1, 1e6};         // spread configurations before the model is asked
    Option<double> start_share{"start_share", 0.6, 0, 1};  // of the expected trials, at most (but four)
    Option<std::size_t> elites{"elites", 5, 1, 1000};      // whose neighbours are candidates
    Option<std::size_t> parents{"parents", 20, 1, 10000};  // that are crossed
    Option<std::size_t> crossings{"crossings", 100, 0, 1e5};
    Option<std::size_t> pool{"pool", 400, 0, 1e5};         // random candidates
    Option<double> boldness{"boldness", 1, 0, 1000};       // weight of the model's doubt
    Option<std::size_t> patience{"patience", 10, 0, 1e6};  // results without an improvement, and an eighth of all
    Option<double> restless{"restless", 4, 0, 1000};       // afterwards every second fit doubts so much more
    Option<double> finish{"finish", 0.2, 0, 1};            // of the expected trials are local search at the end
    Option<bool> compiler{"compiler", true, 0, 1};         // whether it hears the compiler
    Option<double> give_up{"give_up", 0.5, 0, 1};  // share of what could be proposed now below which it does not run
    Option<std::size_t> exchange{"exchange", 2, 0, 1000};  // proposals given up for each result, at most
    Option<std::size_t> trees{"trees", 32, 1, 1000};
    Option<std::size_t> splits{"splits", 12, 1, 1000};  // tried at a node
    Option<std::size_t> leaf{"leaf", 1, 1, 1000};
    auto all() {
      return std::tie(start, start_share, elites, parents, crossings, pool, boldness, patience, restless, finish,
                      compiler, give_up, exchange, trees, splits, leaf);
    }
  };

  Auto(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), options_(own), model_(space, {own.trees, own.splits, own.leaf}, own.compiler) {
    const double most = std::max(4.0, own.start_share * static_cast<double>(planned_trials()));
    start_ = static_cast<std::size_t>(std::min(static_cast<double>(own.start), most));
  }

  void compiled(Index index, const Resources& resources) override { model_.compiled(index, resources); }
  std::optional<std::vector<Index>> reconsider(std::span<const Index> waiting) override;
  std::optional<double> improvement_probability(double factor) override;
  void seed_prior(std::span<const Observation> observations, double weight) override;

 private:
  struct Wanted {
    double merit = 0;
    Index index = 0;
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };

  std::optional<Index> next() override;
  void told(const Observation& observation, Asker) override;

  bool starting() const override { return BasicStrategy::starting() || history_.valid_count() < 2; }
  bool finishing() const {
    return static_cast<double>(history_.known().size()) > (1 - options_.finish) * static_cast<double>(planned_trials());
  }
  bool stagnating() const {
    const std::size_t known = history_.known().size();
    return static_cast<double>(known - improved_at_) >
           static_cast<double>(options_.patience) + static_cast<double>(known) / 8;
  }
  bool fit_is_due() const;
  void refit();
  double merit(Prediction prediction) const;

  Options options_;
  RankModel model_;
  std::vector<Wanted> queue_;  // what the model wants next, best last
  double boldness_ = 1;
  std::size_t refits_ = 0;
  std::size_t may_give_up_ = 0;  // proposals, until the next result
  bool improved_ = false;        // since the last fit
  std::size_t improved_at_ = 0;  // results known when the best was found
  struct {
    std::size_t refit = 0;
    double factor = 0;
    std::optional<double> chance;
  } judged_;
};

void Auto::told(const Observation& observation, Asker) {
  if (observation.resources) model_.compiled(observation.index, *observation.resources);
  may_give_up_ = options_.exchange;
  if (!history_.best() || history_.best()->index != observation.index) return;
  improved_ = true;
  improved_at_ = history_.known().size();
}

std::optional<Index> Auto::next() {
  if (!model_.has_choice()) return std::nullopt;
  if (fit_is_due()) refit();
  while (!queue_.empty()) {
    const Index index = queue_.back().index;
    queue_.pop_back();
    if (history_.is_fresh(index)) return index;
  }
  return std::nullopt;
}

/// After an improvement, and less often as one more result changes less: the cost of a proposal stays bounded.
bool Auto::fit_is_due() const {
  return improved_ || !model_.fitted() || queue_.empty() ||
         history_.known().size() - model_.fitted_to() >= 1 + model_.fitted_to() / 16;
}

void Auto::refit() {
  improved_ = false;
  ++refits_;
  model_.fit(history_.known(), random_);
  // Stagnating: every second fit looks where the model knows least, or a run may stay in the first valley it found.
  const bool restless = stagnating() && refits_ % 2 == 0;
  boldness_ = options_.boldness * (finishing() ? kFinishing : restless ? options_.restless : 1);
  queue_.clear();
  const CandidateOptions wanted{options_.elites, options_.parents, options_.crossings, options_.pool};
  for (const Index index : candidates(history_, random_, wanted, finishing()))
    queue_.push_back({merit(model_.predict(index)), index});
  std::sort(queue_.begin(), queue_.end());
}

double Auto::merit(Prediction prediction) const {
  prediction.deviation *= boldness_;
  return expected_improvement(prediction, model_.best_target());
}

std::optional<std::vector<Index>> Auto::reconsider(std::span<const Index> waiting) {
  if (starting() || !model_.has_choice() || !model_.fitted()) return std::nullopt;
  if (fit_is_due()) refit();
  std::vector<Wanted> ranked;
  const std::vector<Prediction> predictions = model_.predict_compiled(waiting, history_.known(), random_);
  for (std::size_t i = 0; i < waiting.size(); ++i) ranked.push_back({merit(predictions[i]), waiting[i]});
  std::stable_sort(ranked.begin(), ranked.end(), [](const Wanted& a, const Wanted& b) { return a.merit > b.merit; });
  const double least = queue_.empty() ? 0 : options_.give_up * queue_.back().merit;
  for (; may_give_up_ > 0 && ranked.size() > kAlwaysRun && ranked.back().merit < least; --may_give_up_)
    ranked.pop_back();
  std::vector<Index> out;
  for (const Wanted& wanted : ranked) out.push_back(wanted.index);
  return out;
}

void Auto::seed_prior(std::span<const Observation> observations, double weight) {
  if (!model_.has_choice() || !(weight > 0)) return;
  std::vector<Known> known;
  for (const Observation& observation : observations)
    if (observation.index < space().size())
      known.push_back({observation.index, observation.objective.value_or(HUGE_VAL)});
  if (known.empty()) return;
  std::sort(known.begin(), known.end(), [](const Known& a, const Known& b) { return a.objective < b.objective; });
  // The better half of the start comes from there, the more the more it is trusted.
  const auto share = static_cast<std::size_t>(std::ceil(0.5 * std::min(weight, 1.0) * static_cast<double>(start_)));
  for (std::size_t i = 0; i < std::min(share, known.size()); ++i)
    if (std::isfinite(known[i].objective)) first_.push_back(known[i].index);
  if (known.size() < kLeastPrior) return;
  model_.learn_prior(known, random_);
  improved_ = true;  // what was known is seen in another light
}

std::optional<double> Auto::improvement_probability(double factor) {
  if (history_.fresh_count() == 0) return 0;
  // However sure the model is: after m results without an improvement the next one improves with about 1 / (m + 2)
  // (Laplace's rule of succession).
  const double record = 1 / (static_cast<double>(history_.known().size() - improved_at_) + 2);
  const bool is_judged = judged_.chance && judged_.refit == refits_ && judged_.factor == factor && !improved_;
  if (!is_judged) {
    if (history_.valid_count() < 8 || starting() || !model_.has_choice()) return std::nullopt;
    std::vector<Index> wanted;
    for (std::size_t i = queue_.size() - std::min(queue_.size(), kJudged); i < queue_.size(); ++i)
      wanted.push_back(queue_[i].index);
    const auto chance = model_.improvement_chance(history_, wanted, factor);
    if (!chance) return std::nullopt;
    judged_ = {refits_, factor, chance};
  }
  return std::max(*judged_.chance, record);
}

}  // namespace

StrategyInfo auto_entry() {
  return entry_of<Auto>(
      "auto",
      "a forest of random trees learns the ranks; neighbourhoods and crossings of the best, by expected improvement",
      "Hutter, Hoos, Leyton-Brown, \"Sequential model-based optimization for general algorithm configuration\", LION "
      "2011; on log ranks, with the neighbourhoods and crossings of local and genetic search as candidates");
}

}  // namespace tuner::search
