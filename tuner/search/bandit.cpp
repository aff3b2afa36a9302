#include <array>
#include <cmath>
#include <deque>

#include <tuner/search/registry.hpp>

namespace tuner::search {
namespace {

constexpr std::array kArms{"genetic_algorithm", "pso", "diff_evo", "basin_hopping", "mls"};

/// Several strategies, which all learn from all results. The more improvements one found lately, the more often it
/// proposes.
class Bandit final : public BasicStrategy {
 public:
  struct Options {
    Option<std::size_t> window{"window", 100, 1, 1e6};  // number of results that count
    Option<double> exploration{"exploration", 0.05, 0, 100};
    auto all() { return std::tie(window, exploration); }
  };
  Bandit(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), options_(own) {
    for (const char* arm : kArms)
      arms_.push_back(
          make_strategy(arm, space, {options.seed * kArms.size() + arms_.size(), options.expected_trials, {}, {}}));
  }

 private:
  struct Use {
    std::size_t arm;
    bool improved;
  };

  std::optional<Index> next() override {
    origin_ = choose();
    // If another arm has proposed it already, this arm proposes again.
    for (int attempt = 0; attempt < 8; ++attempt) {
      const auto wish = arms_[*origin_]->propose(1);
      if (wish.empty()) return std::nullopt;
      if (history_.is_fresh(wish.front())) return wish.front();
    }
    return std::nullopt;
  }

  /// The area under the curve of improvements in the window, plus a bonus for arms that are rarely used.
  std::size_t choose() const {
    std::vector<double> area(arms_.size(), 0.0);
    std::vector<double> uses(arms_.size(), 0.0);
    for (const Use& use : window_) {
      ++uses[use.arm];
      if (use.improved) area[use.arm] += uses[use.arm];
    }
    std::size_t best = 0;
    double best_merit = -1;
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      if (uses[arm] == 0) return arm;
      const double exploitation = 2 * area[arm] / (uses[arm] * (uses[arm] + 1));
      const double bonus = std::sqrt(2 * std::log2(static_cast<double>(window_.size())) / uses[arm]);
      const double merit = exploitation + options_.exploration * bonus;
      if (merit > best_merit) {
        best_merit = merit;
        best = arm;
      }
    }
    return best;
  }

  void on_result(const Observation& observation, Origin origin) override {
    for (auto& arm : arms_) arm->learn({&observation, 1});
    if (!origin) return;
    window_.push_back({*origin, history_.best() && history_.best()->index == observation.index});
    if (window_.size() > options_.window) window_.pop_front();
  }

  Options options_;
  std::vector<std::unique_ptr<Strategy>> arms_;
  std::deque<Use> window_;  // oldest first
};

}  // namespace

StrategyInfo bandit_entry() {
  return entry_of<Bandit>(
      "bandit",
      "genetic_algorithm, pso, diff_evo, basin_hopping and mls side by side, the recently successful more often",
      "Ansel et al., \"OpenTuner\", PACT 2014 (AUC bandit); Fialho et al., GECCO 2010");
}

}  // namespace tuner::search
