#pragma once

namespace tuner {

/// The number of valid configurations of a search space, as far as it is known.
struct SpaceCount {
  enum class Kind { exact, about, more_than };
  double number = 0;
  Kind kind = Kind::exact;
};

}  // namespace tuner
