#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include <tuner/search/apart_values.hpp>
#include <tuner/search/candidates.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/rank_model.hpp>
#include <tuner/search/registry.hpp>
#include <tuner/search/transfer.hpp>

namespace tuner::search {
namespace {

constexpr std::size_t kAlwaysRun = 2;   // waiting proposals that always run, so that the device never waits
constexpr std::size_t kLeastPrior = 8;  // a model of other results needs at least this many

/// With this rank correlation or less, results of other problems are dropped.
constexpr double kDisagreement = -0.4;

/// The number of results at which an oddity of 1 (features.hpp) divides the merit of a configuration by e.
///
/// Source: Hvarfner et al., "piBO: augmenting acquisition functions with user beliefs for Bayesian optimization", ICLR
/// 2022.
constexpr double kHabit = 10;

constexpr std::size_t kFewTrials = 60;  // with fewer expected, no value is visited
constexpr std::size_t kVisitEvery = 3;  // one in so many proposals is a visit, while there are values to visit

constexpr double kFinishing = 0.5;    // weight of the model's doubt at the end of the budget
constexpr std::size_t kJudged = 256;  // wanted configurations that the probability of an improvement considers

/// Proposes the candidate (candidates.hpp) with the highest expected improvement in a model of ranks (rank_model.hpp).
/// Judges compiled proposals that wait for the device again, with the compiler's report: the more promising ones run
/// first, and those much worse than a new proposal are given up. Unusual configurations (features.hpp) have less
/// merit while few results are known. Every third proposal visits a value that few configurations can take
/// (apart_values.hpp).
class Auto final : public BasicStrategy {
 public:
  struct Options {
    Option<std::size_t> start{"start", 4, 1, 1e6};  // spread configurations before the model
    Option<bool> habits{"habits", true, 0, 1};      // whether what is usual for kernels counts

    Option<std::size_t> seeds{"seeds", 12, 0, 1e6};        // the first trials follow results of other problems
    Option<std::size_t> elites{"elites", 5, 1, 1000};      // the best, whose neighbours are candidates
    Option<std::size_t> parents{"parents", 20, 1, 10000};  // the best, which are crossed
    Option<std::size_t> crossings{"crossings", 100, 0, 1e5};
    Option<std::size_t> repairs{"repairs", 100, 0, 1e5};   // changes of one value that need a change of another
    Option<std::size_t> pool{"pool", 400, 0, 1e5};         // random candidates
    Option<double> boldness{"boldness", 0.5, 0, 1000};     // weight of the model's doubt
    Option<std::size_t> patience{"patience", 10, 0, 1e6};  // results without an improvement, plus an eighth of all
    Option<double> restless{"restless", 4, 0, 1000};       // after these, the factor of the doubt in every second fit

    Option<std::size_t> visits{"visits", 10, 0, 1e6};  // to each value that is apart, at most a twentieth of the trials
    Option<double> finish{"finish", 0.2, 0, 1};        // share of the expected trials for local search at the end
    Option<bool> compiler{"compiler", true, 0, 1};     // whether it uses the compiler's report

    Option<double> give_up{"give_up", 0.5, 0, 1};          // share of a new proposal's merit, below which none runs
    Option<std::size_t> exchange{"exchange", 2, 0, 1000};  // largest number of proposals given up for each result
    Option<std::size_t> trees{"trees", 32, 1, 1000};
    Option<std::size_t> splits{"splits", 12, 1, 1000};  // tried at a node
    Option<std::size_t> leaf{"leaf", 1, 1, 1000};
    auto all() {
      return std::tie(start, habits, seeds, elites, parents, crossings, repairs, pool, boldness, patience, restless,
                      visits, finish, compiler, give_up, exchange, trees, splits, leaf);
    }
  };

  Auto(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options),
        options_(own),
        model_(space, {own.trees, own.splits, own.leaf}, own.compiler),
        apart_(space, {own.trees, own.splits, own.leaf}, options.seed),
        all_habits_(space) {
    start_ = own.start;
    heed_habits(true);
  }

  void compiled(Index index, const Resources& resources) override { model_.compiled(index, resources); }
  std::optional<std::vector<Index>> reconsider(std::span<const Index> waiting) override;
  std::optional<double> improvement_probability(double factor) override;
  bool uses_prior() const override { return model_.has_choice(); }
  void seed_prior(std::span<const Observation> observations, double weight) override;

 private:
  struct Wanted {
    double merit = 0;
    Index index = 0;
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };

  std::optional<Index> next() override;
  void on_result(const Observation& observation, Origin) override;

  bool starting() const override { return !transfer_ && (BasicStrategy::starting() || history_.valid_count() < 2); }
  bool finishing() const {
    return static_cast<double>(history_.known().size()) > (1 - options_.finish) * static_cast<double>(planned_trials());
  }
  bool stagnating() const {
    const std::size_t known = history_.known().size();
    return static_cast<double>(known - improved_at_) >
           static_cast<double>(options_.patience) + static_cast<double>(known) / 8;
  }
  /// A search that expects few trials can spare none.
  std::size_t visits_of_value() const {
    return planned_trials() < kFewTrials ? 0 : std::min<std::size_t>(options_.visits, planned_trials() / 20);
  }
  std::optional<Index> next_seed();
  void drop_prior();
  /// Known results say more than habits.
  void heed_habits(bool heed) { habits_ = heed && options_.habits ? &all_habits_ : nullptr; }
  bool fit_is_due() const;
  void refit();
  double improvement(Prediction prediction) const;
  /// The improvement; less for what is unusual, while few results are known.
  double merit(Index index, Prediction prediction) const;

  Options options_;
  RankModel model_;
  ApartValues apart_;
  Habits all_habits_;
  std::optional<Transfer> transfer_;  // while results of other problems lead
  std::size_t seeds_ = 0;             // the most proposals of transfer_
  std::size_t seeded_ = 0;            // its proposals
  std::set<Index> visits_;            // proposals of apart_ without a result
  std::size_t since_visit_ = 0;       // proposals
  std::vector<Wanted> queue_;         // the model's next proposals, best last
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

void Auto::on_result(const Observation& observation, Origin) {
  visits_.erase(observation.index);
  if (observation.resources) model_.compiled(observation.index, *observation.resources);
  may_give_up_ = options_.exchange;
  if (transfer_ && history_.known().size() <= options_.seeds &&
      transfer_->agreement(history_).value_or(1) <= kDisagreement)
    drop_prior();
  if (!history_.best() || history_.best()->index != observation.index) return;
  improved_ = true;
  improved_at_ = history_.known().size();
}

std::optional<Index> Auto::next() {
  if (!model_.has_choice()) return std::nullopt;
  if (transfer_) {
    if (const auto seed = next_seed()) return seed;
    if (starting()) return std::nullopt;
  }
  if (!finishing() && ++since_visit_ >= kVisitEvery) {
    since_visit_ = 0;
    if (const auto index = apart_.next(history_, visits_of_value())) {
      visits_.insert(*index);
      return index;
    }
  }
  if (fit_is_due()) refit();
  while (!queue_.empty()) {
    const Index index = queue_.back().index;
    queue_.pop_back();
    if (history_.is_fresh(index)) return index;
  }
  return std::nullopt;
}

/// Ends the lead of other problems when there is nothing more to propose.
std::optional<Index> Auto::next_seed() {
  std::optional<Index> seed;
  if (seeded_ < seeds_ && history_.known().size() < options_.seeds) seed = transfer_->next(history_);
  if (seed) {
    ++seeded_;
  } else {
    transfer_.reset();
  }
  return seed;
}

/// Goes on as if nothing was known of other problems.
void Auto::drop_prior() {
  transfer_.reset();
  model_.forget_prior();
  heed_habits(true);
  start_ += seeded_;
  improved_ = true;
}

/// Fits after an improvement, and less often when there are many results, so that the cost of a proposal stays bounded.
bool Auto::fit_is_due() const {
  return improved_ || !model_.fitted() || queue_.empty() ||
         history_.known().size() - model_.fitted_to() >= 1 + model_.fitted_to() / 16;
}

void Auto::refit() {
  improved_ = false;
  ++refits_;
  model_.fit(history_.known(), random_);
  // While stagnating, every second fit looks where the model knows least. Otherwise a run may stay in its first valley.
  const bool restless = stagnating() && refits_ % 2 == 0;
  boldness_ = options_.boldness * (finishing() ? kFinishing : restless ? options_.restless : 1);
  queue_.clear();
  const CandidateOptions wanted{options_.elites, options_.parents, options_.crossings, options_.repairs, options_.pool};
  for (const Index index : candidates(history_, random_, wanted, finishing()))
    queue_.push_back({merit(index, model_.predict(index)), index});
  std::sort(queue_.begin(), queue_.end());
}

double Auto::improvement(Prediction prediction) const {
  prediction.deviation *= boldness_;
  return expected_improvement(prediction, model_.best_target());
}

double Auto::merit(Index index, Prediction prediction) const {
  if (!habits_) return improvement(prediction);
  return improvement(prediction) *
         std::exp(-kHabit * habits_->oddity(index) / static_cast<double>(history_.known().size()));
}

std::optional<std::vector<Index>> Auto::reconsider(std::span<const Index> waiting) {
  if (starting() || !model_.has_choice() || !model_.fitted()) return std::nullopt;
  if (fit_is_due()) refit();
  std::vector<Wanted> ranked;
  const std::vector<Prediction> predictions = model_.predict_compiled(waiting, history_.known(), random_);
  // The compiler's report says more than habits. The model cannot judge a visit: it always runs, and first.
  for (std::size_t i = 0; i < waiting.size(); ++i)
    ranked.push_back({visits_.contains(waiting[i]) ? HUGE_VAL : improvement(predictions[i]), waiting[i]});
  std::ranges::stable_sort(ranked, std::greater(), &Wanted::merit);
  const double least = queue_.empty() ? 0 : options_.give_up * improvement(model_.predict(queue_.back().index));
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
    if (space().has(observation.index)) known.push_back({observation.index, observation.objective.value_or(HUGE_VAL)});
  const auto valid = std::ranges::count_if(known, [](const Known& one) { return std::isfinite(one.objective); });
  if (valid == 0) return;
  std::ranges::sort(known, {}, &Known::objective);
  transfer_.emplace(space(), known);
  heed_habits(false);
  // Few results are the best of a search, or of several: after some of them the others add nothing.
  seeds_ = std::min(options_.seeds.value, 2 + static_cast<std::size_t>(valid) / 4);
  if (known.size() < kLeastPrior) return;
  model_.learn_prior(known, random_);
  improved_ = true;  // the prior changes the model: fit again
}

std::optional<double> Auto::improvement_probability(double factor) {
  if (history_.fresh_count() == 0) return std::nullopt;  // the search ends by itself when all that was proposed ended
  // A lower bound, however sure the model is. After m results without an improvement, the next one improves with a
  // probability of about 1 / (m + 2) (Laplace's rule of succession).
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
      "2011. It is used on log ranks, with the neighbourhoods and crossings of local and genetic search as candidates");
}

}  // namespace tuner::search
