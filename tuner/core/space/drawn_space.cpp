#include <tuner/core/space/drawn_space.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace tuner {
namespace {

constexpr std::size_t kMostSteps = std::size_t{1} << 13;  // of one attempt to draw
constexpr int kAttempts = 8, kAttemptsAtFirst = 32;
constexpr int kDives = 512;             // for an estimate
constexpr std::size_t kMostLooks = 64;  // at values of one parameter, in a dive
constexpr double kSure = 0.25;          // the largest relative error of an estimate that counts as one

/// Numbers that are the same each time.
ValidityTest::Below numbers() {
  return
      [engine = std::mt19937_64(1)](std::size_t bound) mutable { return static_cast<std::size_t>(engine() % bound); };
}

}  // namespace

bool DrawnSpace::holds(std::span<const std::uint16_t> digits) const {
  const Prefixes::Predicate* pending = nullptr;
  for (const Prefixes::Predicate& predicate : prefixes_.predicates()) {
    const auto verdict = predicate.compiled.check(digits);
    if (verdict == CompiledExpression::Verdict::yes) continue;
    if (verdict == CompiledExpression::Verdict::no || predicate.failing_is_no) return false;
    pending = &predicate;
  }
  return pending == nullptr || pending->compiled.holds(digits);  // throws
}

/// Tries the values of one parameter after the other in a random order. False if none works, or after kMostSteps.
bool DrawnSpace::complete(std::size_t depth, Prefixes::State& state, std::size_t& steps, const Below& below) const {
  if (depth == prefixes_.depth()) return Prefixes::require_answers(state), true;
  const std::size_t count = prefixes_.parameters()[prefixes_.parameter(depth)].values.size();
  const std::size_t pending = state.pending.size();
  // Of a long list, a few values anywhere come first: else those after many that are not valid are drawn more often.
  const std::size_t anywhere = count > 8 ? 4 : 0, first = below(count);
  for (std::size_t i = 0; i < anywhere + count && ++steps <= kMostSteps; ++i) {
    const std::size_t digit = i < anywhere ? below(count) : (first + i) % count;
    if (prefixes_.bind(depth, digit, state) && complete(depth + 1, state, steps, below)) return true;
    state.pending.resize(pending);
  }
  prefixes_.release(depth, state);
  return false;
}

std::optional<ValidityTest::Digits> DrawnSpace::draw(const Below& below) const { return draw(below, kAttempts); }

std::optional<ValidityTest::Digits> DrawnSpace::draw(const Below& below, int attempts) const {
  for (; attempts > 0; --attempts) {
    Prefixes::State state(prefixes_.depth());
    if (!prefixes_.admits_any(state)) return std::nullopt;
    std::size_t steps = 0;
    if (complete(0, state, steps, below)) return std::move(state.digits);
    if (steps <= kMostSteps) return std::nullopt;  // all were tried
  }
  return std::nullopt;
}

std::optional<ValidityTest::Digits> DrawnSpace::any() const { return draw(numbers(), kAttemptsAtFirst); }

/// The product of the numbers of values that may be completed, on a random way down; 0 if it ends early.
double DrawnSpace::dive(const Below& below) const {
  Prefixes::State state(prefixes_.depth());
  if (!prefixes_.admits_any(state)) return 0;
  double product = 1;
  std::vector<std::size_t> admitted;
  for (std::size_t depth = 0; depth < prefixes_.depth(); ++depth) {
    const std::size_t count = prefixes_.parameters()[prefixes_.parameter(depth)].values.size();
    const std::size_t looks = std::min(count, kMostLooks), pending = state.pending.size();
    admitted.clear();
    for (std::size_t i = 0; i < looks; ++i) {
      const std::size_t digit = looks == count ? i : below(count);
      if (prefixes_.bind(depth, digit, state)) admitted.push_back(digit);
      state.pending.resize(pending);
    }
    if (admitted.empty()) return 0;
    product *= static_cast<double>(count) * static_cast<double>(admitted.size()) / static_cast<double>(looks);
    prefixes_.bind(depth, admitted[below(admitted.size())], state);
  }
  return product;
}

SpaceCount DrawnSpace::estimate() const {
  const Below below = numbers();
  double sum = 0, squares = 0;
  for (int i = 0; i < kDives; ++i) {
    const double one = dive(below);
    sum += one;
    squares += one * one;
  }
  const double mean = sum / kDives, variance = std::max(0.0, squares / kDives - mean * mean);
  if (prefixes_.predicates().empty()) return {mean, SpaceCount::Kind::exact};
  const bool is_sure = mean > 0 && std::sqrt(variance / kDives) <= kSure * mean;
  return is_sure ? SpaceCount{mean, SpaceCount::Kind::about} : SpaceCount{1, SpaceCount::Kind::more_than};
}

}  // namespace tuner
