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
    while (next_ < space().size() && !history_.is_fresh(static_cast<Index>(next_))) ++next_;
    if (next_ == space().size()) return std::nullopt;  // what is fresh still was withdrawn behind us
    return static_cast<Index>(next_);
  }

  std::size_t next_ = 0;
};

}  // namespace

StrategyEntry exhaustive_entry() {
  return entry_of<Exhaustive>("exhaustive", "every valid configuration in the order of the space", "-");
}

}  // namespace tuner::search
