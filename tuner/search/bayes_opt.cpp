#include <algorithm>
#include <cmath>

#include <tuner/search/acquisition.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/gaussian_process.hpp>
#include <tuner/search/registry.hpp>
#include <tuner/search/spread.hpp>

namespace tuner::search {

namespace {

/// A Gaussian process on the logarithm of the objective and expected improvement over the neighbourhoods of the best
/// and random configurations. Past max_rows results the model sees the best and the latest only.
class BayesOpt final : public BasicStrategy {
 public:
  struct Options {
    std::size_t start = 10;
    std::size_t pool = 200;      // random candidates
    std::size_t max_rows = 160;  // that the model sees
    void visit(auto&& option) {
      option("start", start, 1, 1e6);
      option("pool", pool, 0, 1e6);
      option("max_rows", max_rows, 8, 2000);
    }
  };
  BayesOpt(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options),
        options_(own),
        start_(std::min(static_cast<double>(own.start), std::max(3.0, 0.2 * static_cast<double>(planned_trials())))),
        spread_(space),
        features_(space) {}

 private:
  std::optional<Index> next() override {
    if (static_cast<double>(made_) < start_) return spread_.next(history_, random_);
    if (history_.valid_count() < 2 || features_.width() == 0) return std::nullopt;
    if (until_refit_ == 0 || improved_) refit();
    while (!queue_.empty()) {
      const Index index = queue_.back();
      queue_.pop_back();
      if (!history_.is_fresh(index)) continue;
      --until_refit_;
      return index;
    }
    until_refit_ = 0;
    return std::nullopt;
  }

  void proposed(Index index) override {
    ++made_;
    spread_.seen(index);
  }

  void told(const Observation& observation) override {
    improved_ = improved_ || (history_.best() && history_.best()->index == observation.index);
  }

  /// The rows the model sees: all, or the best and the latest.
  std::vector<Known> rows() const {
    const std::size_t most = options_.max_rows;
    std::vector<Known> rows = history_.known();
    if (rows.size() <= most) return rows;
    std::vector<Known> latest(rows.end() - static_cast<std::ptrdiff_t>(most / 2), rows.end());
    rows.resize(rows.size() - most / 2);
    std::nth_element(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(most / 2), rows.end(),
                     [](const Known& a, const Known& b) { return a.objective < b.objective; });
    rows.resize(most / 2);
    rows.insert(rows.end(), latest.begin(), latest.end());
    return rows;
  }

  void refit() {
    improved_ = false;
    const std::vector<Known> seen = rows();
    until_refit_ = 1 + history_.known().size() / 24;
    std::vector<double> levels;
    for (const Known& row : seen)
      if (std::isfinite(row.objective)) levels.push_back(level(row.objective));
    std::sort(levels.begin(), levels.end());
    // Slow configurations differ for many reasons that do not matter: everything past the median, failures too,
    // counts as the median.
    const double cap = levels[levels.size() / 2];
    const std::size_t width = features_.width();
    std::vector<float> matrix(seen.size() * width);
    std::vector<double> targets;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      features_.write(seen[i].index, matrix.data() + i * width);
      targets.push_back(std::isfinite(seen[i].objective) ? std::min(level(seen[i].objective), cap) : cap);
    }
    const std::size_t attempts = seen.size() < 60 ? 8 : seen.size() < 120 ? 4 : 1;
    model_.fit(matrix, width, targets, attempts, random_);
    rank_candidates(levels.front());
  }

  static double level(double objective) { return objective > 0 ? std::log(objective) : objective; }

  void rank_candidates(double best) {
    std::vector<Index> candidates;
    for (const Known& elite : history_.elites(5))
      for (const Index index : space().neighbours(elite.index, Neighbourhood::hamming))
        if (history_.is_fresh(index)) candidates.push_back(index);
    for (std::size_t i = 0; i < options_.pool; ++i)
      if (const auto index = history_.random_fresh(random_)) candidates.push_back(*index);
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::vector<float> row(features_.width());
    std::vector<std::pair<double, Index>> ranked;
    for (const Index index : candidates) {
      features_.write(index, row.data());
      ranked.emplace_back(model_.mean(row.data()), index);
    }
    // The deviation costs much more than the mean: only the promising ones and a few others are asked for it.
    const std::size_t most = std::min<std::size_t>(ranked.size(), 64);
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most), ranked.end());
    const std::size_t others = std::min<std::size_t>(ranked.size(), most + 32);
    ranked.resize(others);
    for (auto& [merit, index] : ranked) {
      features_.write(index, row.data());
      merit = expected_improvement(model_.predict(row.data()), best);
    }
    std::sort(ranked.begin(), ranked.end());
    queue_.clear();
    for (const auto& [merit, index] : ranked) queue_.push_back(index);
  }

  Options options_;
  double start_;
  Spread spread_;
  Features features_;
  GaussianProcess model_;
  std::vector<Index> queue_;  // best last
  std::size_t until_refit_ = 0;
  bool improved_ = false;
  std::size_t made_ = 0;
};

}  // namespace

StrategyEntry bayes_opt_entry() {
  return entry_of<BayesOpt>(
      "bayes_opt", "Bayesian optimisation: Gaussian process on the logarithm of the objective, expected improvement",
      "Snoek, Larochelle, Adams, \"Practical Bayesian optimization of machine learning algorithms\", NIPS 2012; "
      "Willemsen, van Nieuwpoort, van Werkhoven, \"Bayesian optimization for auto-tuning GPU kernels\", PMBS 2021");
}

}  // namespace tuner::search
