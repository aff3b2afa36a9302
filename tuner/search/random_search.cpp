#include <tuner/search/registry.hpp>
#include <tuner/search/spread.hpp>

namespace tuner::search {

namespace {

/// Uniform without replacement, after a start that is spread over the values of every parameter.
class RandomSearch final : public BasicStrategy {
 public:
  struct Options {
    std::size_t spread_start = 16;
    void visit(auto&& option) { option("spread_start", spread_start, 0, 1e6); }
  };
  RandomSearch(const EnumeratedSpace& space, const StrategyOptions& options, const Options& own)
      : BasicStrategy(space, options), spread_(space), start_(own.spread_start) {}

 private:
  std::optional<Index> next() override {
    return made_ < start_ ? spread_.next(history_, random_) : history_.random_fresh(random_);
  }
  void proposed(Index index) override {
    if (++made_ <= start_) spread_.seen(index);
  }

  Spread spread_;
  std::size_t start_;
  std::size_t made_ = 0;
};

}  // namespace

StrategyEntry random_entry() {
  return entry_of<RandomSearch>("random", "uniform without replacement, after a start spread over all values",
                                "Bergstra, Bengio, \"Random search for hyper-parameter optimization\", JMLR 13 (2012)");
}

}  // namespace tuner::search
