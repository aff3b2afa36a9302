#include <algorithm>
#include <cmath>
#include <limits>

#include <tuner/search/acquisition.hpp>
#include <tuner/search/features.hpp>
#include <tuner/search/forest.hpp>
#include <tuner/search/nearest_valid.hpp>
#include <tuner/search/registry.hpp>
#include <tuner/search/spread.hpp>

namespace tuner::search {

namespace {

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
    double target = best;
    if (option("rank") > 0) {
      std::vector<std::pair<double, std::size_t>> order;
      for (std::size_t i = 0; i < known.size(); ++i) order.emplace_back(known[i].objective, i);
      std::sort(order.begin(), order.end());
      const double n = static_cast<double>(order.size());
      for (std::size_t i = 0; i < order.size();) {
        std::size_t j = i;
        while (j < order.size() && order[j].first == order[i].first) ++j;
        for (std::size_t k = i; k < j; ++k)
          y[order[k].second] =
              std::min(std::log((static_cast<double>(i + j - 1) * 0.5 + option("rank")) / n), std::log(option("cap")));
        i = j;
      }
      target = std::log(option("rank") / n);
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
    const auto parents = history_.elites(static_cast<std::size_t>(option("parents")));
    EnumeratedSpace::Digits a(space().parameters().size());
    auto b = a;
    for (int i = 0; i < option("children") && parents.size() > 1; ++i) {
      const auto pick = [&] {
        std::size_t k = random_.below(parents.size());
        return parents[std::min(k, random_.below(parents.size()))].index;
      };
      space().digits(pick(), a);
      space().digits(pick(), b);
      for (std::size_t p = 0; p < a.size(); ++p) {
        if (random_.chance(0.5)) a[p] = b[p];
        if (random_.chance(1.2 / static_cast<double>(features_.width())))
          a[p] = static_cast<std::uint16_t>(random_.below(space().parameters()[p].values.size()));
      }
      const auto v = nearest_valid(space(), random_, a);
      if (v && history_.is_fresh(*v)) candidates.push_back(*v);
    }
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
      ranked.emplace_back(expected_improvement(p, target), i);
    }
    const std::size_t keep = std::min<std::size_t>(ranked.size(), due_ + 8);
    std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(keep), ranked.end(),
                      [](auto& u, auto& v) { return u.first > v.first; });
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
  return {{"auto",
           "",
           "",
           {{"start", 10},
            {"refit", 16},
            {"cap", 0.4},
            {"trees", 32},
            {"splits", 12},
            {"leaf", 2},
            {"elites", 5},
            {"pool", 500},
            {"kappa", 1},
            {"parents", 20},
            {"children", 0},
            {"rank", 0}}},
          &make<Auto>};
}

}  // namespace tuner::search
