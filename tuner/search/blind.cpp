#include <tuner/search/registry.hpp>

namespace tuner::search {
namespace {

/// Every valid configuration, in the order of the space.
class Exhaustive final : public BasicStrategy {
 public:
  using Options = NoOptions;
  Exhaustive(const EnumeratedSpace& space, const StrategyOptions& options, const Options&)
      : BasicStrategy(space, options) {}

 private:
  std::optional<Index> next() override {
    while (const std::optional<Index> at = space().next(next_)) {
      next_ = *at + 1;
      if (history_.is_fresh(*at)) return at;
    }
    if (space().is_open()) next_ += EnumeratedSpace::kNear;
    return std::nullopt;  // the fresh ones were withdrawn after next_ had passed them, or are far
  }

  Index next_ = 0;
};

/// Uniform without replacement, after a start that is spread over the values of all parameters.
class RandomSearch final : public BasicStrategy {
 public:
  struct Options {
    Option<std::size_t> spread_start{"spread_start", 16, 0, 1e6};
    auto all() { return std::tie(spread_start); }
  };
  RandomSearch(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options) {
    start_ = own.spread_start;
  }

 private:
  std::optional<Index> next() override { return std::nullopt; }
};

}  // namespace

StrategyInfo exhaustive_entry() {
  return entry_of<Exhaustive>("exhaustive", "every valid configuration in the order of the space", "-", false);
}

StrategyInfo random_entry() {
  return entry_of<RandomSearch>("random", "uniform without replacement, after a start spread over all values",
                                "Bergstra, Bengio, \"Random search for hyper-parameter optimization\", JMLR 13 (2012)",
                                false);
}

}  // namespace tuner::search
