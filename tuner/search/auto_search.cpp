#include <algorithm>
#include <cmath>
#include <limits>

#include <tuner/search/features.hpp>
#include <tuner/search/forest.hpp>
#include <tuner/search/registry.hpp>
#include <tuner/search/spread.hpp>

namespace tuner::search {

namespace {

double expected_improvement(const Prediction& p, double best) {
  const double s = std::max(p.deviation, 1e-9);
  const double z = (best - p.mean) / s;
  return s * (z * 0.5 * std::erfc(-z * M_SQRT1_2) + std::exp(-0.5 * z * z) * 0.3989422804014327);
}

class Auto final : public BasicStrategy {
 public:
  Auto(const EnumeratedSpace& space, const StrategyOptions& options)
      : BasicStrategy(space, options), spread_(space), features_(space) {}

 private:
  std::optional<Index> next() override {
    if (made_ < option("start")) return spread_.next(history_, random_);
    if (history_.valid_count() < 3) return std::nullopt;
    if (due_ == 0 || improved_ || queue_.empty()) refit();
    while (!queue_.empty()) {
      const Index i = queue_.back();
      queue_.pop_back();
      if (history_.is_fresh(i)) {
        --due_;
        return i;
      }
    }
    return std::nullopt;
  }
  void proposed(Index index) override {
    ++made_;
    spread_.seen(index);
  }
  void told(const Observation& o) override {
    if (history_.best() && history_.best()->index == o.index) improved_ = true;
  }

  void refit() {
    improved_ = false;
    queue_.clear();
    const auto& known = history_.known();
    due_ = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(known.size()) / option("refit")));
    std::vector<double> logs;
    for (const Known& k : known)
      if (std::isfinite(k.objective)) logs.push_back(std::log(std::max(k.objective, 1e-300)));
    std::vector<double> sorted = logs;
    std::sort(sorted.begin(), sorted.end());
    const double best = sorted.front();
    const double cap = sorted[static_cast<std::size_t>(option("cap") * static_cast<double>(sorted.size() - 1))];
    const std::size_t w = features_.width();
    std::vector<float> rows;
    std::vector<double> y;
    for (const Known& k : known) {
      rows.resize(rows.size() + w);
      features_.write(k.index, rows.data() + rows.size() - w);
      y.push_back(std::isfinite(k.objective) ? std::min(std::log(std::max(k.objective, 1e-300)), cap) : cap);
    }
    ForestOptions fo;
    fo.trees = static_cast<std::size_t>(option("trees"));
    fo.tried_splits = static_cast<std::size_t>(option("splits"));
    fo.leaf = static_cast<std::size_t>(option("leaf"));
    forest_.fit(rows, w, y, fo, random_);
    std::vector<Index> candidates;
    for (const Known& k : history_.elites(static_cast<std::size_t>(option("elites"))))
      for (const Index i : space().neighbours(k.index, Neighbourhood::hamming))
        if (history_.is_fresh(i)) candidates.push_back(i);
    for (int i = 0; i < option("pool"); ++i)
      if (const auto f = history_.random_fresh(random_)) candidates.push_back(*f);
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::vector<std::pair<double, Index>> ranked;
    std::vector<float> row(w);
    for (const Index i : candidates) {
      features_.write(i, row.data());
      Prediction p = forest_.predict(row.data());
      p.deviation *= option("kappa");
      ranked.emplace_back(expected_improvement(p, best), i);
    }
    const std::size_t keep = std::min<std::size_t>(ranked.size(), due_ + 8);
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(keep), ranked.end(),
                      [](auto& a, auto& b) { return a.first > b.first; });
    for (std::size_t i = keep; i-- > 0;) queue_.push_back(ranked[i].second);
  }

  Spread spread_;
  Features features_;
  Forest forest_;
  std::vector<Index> queue_;
  std::size_t due_ = 0;
  bool improved_ = false;
  int made_ = 0;
};

}  // namespace

StrategyEntry auto_entry() {
  return {{"auto", "", "", {{"start", 10}, {"refit", 16}, {"cap", 1}, {"trees", 32}, {"splits", 12}, {"leaf", 2}, {"elites", 5}, {"pool", 500}, {"kappa", 1}}},
          &make<Auto>};
}

}  // namespace tuner::search
