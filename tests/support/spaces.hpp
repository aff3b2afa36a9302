#pragma once
/// Search spaces for tests.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tuner/core/space/enumerated_space.hpp>

namespace tuner::test {

/// `count` integers 0 … count - 1 named \p name.
inline TuningParameter numbers(std::string name, int count) {
  TuningParameter parameter{std::move(name), {}};
  for (int i = 0; i < count; ++i) parameter.values.emplace_back(i);
  return parameter;
}

/// 1, 2, 4 …
inline TuningParameter powers(std::string name, int count) {
  TuningParameter parameter{std::move(name), {}};
  for (int i = 0; i < count; ++i) parameter.values.emplace_back(std::int64_t{1} << i);
  return parameter;
}

/// All combinations for which \p valid holds.
inline EnumeratedSpace product(std::vector<TuningParameter> parameters,
                               const std::function<bool(const EnumeratedSpace::Digits&)>& valid = {}) {
  const MixedRadix radix(parameters);
  std::vector<std::uint64_t> codes;
  EnumeratedSpace::Digits digits(parameters.size());
  for (std::uint64_t code = 0; code < radix.product(); ++code) {
    radix.digits(code, digits);
    if (!valid || valid(digits)) codes.push_back(code);
  }
  return EnumeratedSpace::from_codes(std::move(parameters), std::move(codes));
}

/// Strings, booleans, sizes, a parameter with one value, and a constraint: 4 * 2 * 6 * 5 * 1 less the constrained.
inline EnumeratedSpace mixed_space() {
  std::vector<TuningParameter> parameters{{"algorithm", {"shuffle", "shared", "atomic", "warp"}},
                                          {"padded", {false, true}},
                                          powers("block", 6),
                                          numbers("tile", 5),
                                          {"fixed", {7}}};
  return product(std::move(parameters),
                 [](const EnumeratedSpace::Digits& d) { return d[2] + d[3] < 8 && !(d[0] == 2 && d[1] == 1); });
}

/// Like a kernel: six parameters, 3,584 valid configurations.
inline EnumeratedSpace kernel_space() {
  return product(
      {powers("bx", 8), powers("by", 6), numbers("tx", 4), numbers("ty", 4), numbers("pad", 2), numbers("unroll", 4)},
      [](const EnumeratedSpace::Digits& d) { return d[0] + d[1] >= 4 && d[0] + d[1] <= 8; });
}

}  // namespace tuner::test
