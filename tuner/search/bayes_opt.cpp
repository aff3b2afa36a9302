#include <algorithm>

#include <tuner/search/candidates.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/gaussian_process.hpp>
#include <tuner/search/registry.hpp>

namespace tuner::search {
namespace {

/// A Gaussian process for the logarithm of the objective. Maximises expected improvement over neighbours of the best
/// and random configurations. With more than max_rows results, the model uses only the best and the latest.
class BayesOpt final : public BasicStrategy {
 public:
  struct Options {
    Option<std::size_t> start{"start", 10, 1, 1e6};
    Option<std::size_t> pool{"pool", 200, 0, 1e6};           // random candidates
    Option<std::size_t> max_rows{"max_rows", 160, 8, 2000};  // for the model
    auto all() { return std::tie(start, pool, max_rows); }
  };
  BayesOpt(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), options_(own), features_(space) {
    start_ = std::min<std::size_t>(own.start, std::max<std::size_t>(3, (planned_trials() + 4) / 5));
  }

 private:
  std::optional<Index> next() override {
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

  void on_result(const Observation& observation, Origin) override {
    improved_ = improved_ || (history_.best() && history_.best()->index == observation.index);
  }

  /// The rows for the model: all, or the best and the latest.
  std::vector<Known> rows() const {
    const std::size_t most = options_.max_rows;
    std::vector<Known> rows = history_.known();
    if (rows.size() <= most) return rows;
    std::vector<Known> latest(rows.end() - static_cast<std::ptrdiff_t>(most / 2), rows.end());
    rows.resize(rows.size() - most / 2);
    std::ranges::nth_element(rows, rows.begin() + static_cast<std::ptrdiff_t>(most / 2), {}, &Known::objective);
    rows.resize(most / 2);
    rows.insert(rows.end(), latest.begin(), latest.end());
    return rows;
  }

  void refit() {
    improved_ = false;
    const std::vector<Known> seen = rows();
    until_refit_ = 1 + history_.known().size() / 24;
    const std::vector<double> targets = capped_levels(seen);
    const std::size_t attempts = seen.size() < 60 ? 8 : seen.size() < 120 ? 4 : 1;
    model_.fit(features_.rows(seen), features_.width(), targets, attempts, random_);
    const double best = *std::min_element(targets.begin(), targets.end());
    std::vector<float> row(features_.width());
    std::vector<std::pair<double, Index>> ranked;
    for (const Index index : candidates(history_, random_, {5, 5, 0, 0, options_.pool}, false)) {
      features_.write(index, row.data());
      ranked.emplace_back(model_.mean(row.data()), index);
    }
    // The deviation costs much more than the mean: it is computed only for the promising ones and a few others.
    const std::size_t most = std::min<std::size_t>(ranked.size(), 64);
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(most), ranked.end());
    ranked.resize(std::min<std::size_t>(ranked.size(), most + 32));
    for (auto& [merit, index] : ranked) {
      features_.write(index, row.data());
      merit = expected_improvement(model_.predict(row.data()), best);
    }
    std::sort(ranked.begin(), ranked.end());
    queue_.clear();
    for (const auto& [merit, index] : ranked) queue_.push_back(index);
  }

  Options options_;
  Features features_;
  GaussianProcess model_;
  std::vector<Index> queue_;  // best last
  std::size_t until_refit_ = 0;
  bool improved_ = false;
};

}  // namespace

StrategyInfo bayes_opt_entry() {
  return entry_of<BayesOpt>(
      "bayes_opt", "Bayesian optimisation: Gaussian process on the logarithm of the objective, expected improvement",
      "Snoek, Larochelle, Adams, \"Practical Bayesian optimization of machine learning algorithms\", NIPS 2012; "
      "Willemsen, van Nieuwpoort, van Werkhoven, \"Bayesian optimization for auto-tuning GPU kernels\", PMBS 2021");
}

}  // namespace tuner::search
