#include <tuner/search/chains.hpp>

namespace tuner::search {

namespace {
constexpr std::size_t free_steps = 2000;  // over known ground, before a chain counts as caught
constexpr std::size_t most_chains = 64;
}  // namespace

std::optional<Index> ChainStrategy::walk(std::unique_ptr<Chain>& chain) {
  for (std::size_t step = 0; step < free_steps; ++step) {
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
  if (chains_.size() < most_chains) {
    chains_.push_back(start());
    return walk(chains_.back());
  }
  return std::nullopt;
}

}  // namespace tuner::search
