#pragma once
/// A search space with too many valid configurations to list them: draws them, tests them, and estimates their number.
/// Internal to the room.

#include <optional>
#include <vector>

#include <tuner/core/space/enumerated_space.hpp>
#include <tuner/core/space/prefixes.hpp>

namespace tuner {

class DrawnSpace final : public ValidityTest {
 public:
  DrawnSpace(std::vector<TuningParameter> parameters, const std::vector<Conjunct>& conjuncts, const Bindings& fixed)
      : prefixes_(std::move(parameters), conjuncts, fixed) {}

  const Prefixes& prefixes() const { return prefixes_; }
  bool holds(std::span<const std::uint16_t> digits) const override;
  std::optional<Digits> draw(const Below& below) const override;
  /// Always the same valid configuration.
  std::optional<Digits> any() const;

  /// The number of valid configurations. Takes some milliseconds, and always gives the same. If the estimates of single
  /// ways differ too much, it is more than 1.
  ///
  /// Source: Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29 (1975).
  SpaceCount estimate() const;

 private:
  std::optional<Digits> draw(const Below& below, int attempts) const;
  bool complete(std::size_t depth, Prefixes::State& state, std::size_t& steps, const Below& below) const;
  double dive(const Below& below) const;

  Prefixes prefixes_;
};

}  // namespace tuner
