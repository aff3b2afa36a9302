#pragma once
/// Random numbers that are equal with all standard libraries (their distributions are not). Internal to the room.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

namespace tuner::search {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15u + 0x5DEECE66Du) {}

  std::uint64_t bits() { return engine_(); }
  /// 0 … bound - 1. Its bias of bound / 2^64 does not matter. Precondition: bound > 0.
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }
  /// [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tuner::search
