#include <tuner/search/chains.hpp>

namespace tuner::search {

namespace {
constexpr std::size_t kFreeSteps = 2000;  // over known ground, before a chain counts as caught
constexpr std::size_t kMostChains = 64;
}  // namespace

void Chain::advance(double objective) {
  if (left_ == 0) {
    const auto next = step(objective);
    return next ? void(wanted_ = *next) : restart();
  }
  if (left_ == samples_ || objective < best_objective_) {
    best_ = wanted_;
    best_objective_ = objective;
  }
  wanted_ = --left_ > 0 ? history_.anywhere(random_) : begin(best_, best_objective_);
}

std::optional<Index> ChainStrategy::walk(std::unique_ptr<Chain>& chain) {
  for (std::size_t step = 0; step < kFreeSteps; ++step) {
    const Index wanted = chain->wanted();
    switch (history_.state(wanted)) {
      case State::fresh:
        return wanted;
      case State::pending:
        return std::nullopt;
      case State::valid:
      case State::failed:
        chain->advance(history_.objective(wanted));
        break;
    }
  }
  chain = start();  // caught: begin elsewhere
  return std::nullopt;
}

std::optional<Index> ChainStrategy::next() {
  for (auto& chain : chains_)
    if (const auto wanted = walk(chain)) return wanted;
  if (chains_.size() < kMostChains) {
    chains_.push_back(start());
    return walk(chains_.back());
  }
  return std::nullopt;
}

}  // namespace tuner::search
