#pragma once
/// Decides whether one configuration is slower than another, from times that were measured in turns in several
/// placements. Pure. If both are equally fast, at most 1 verdict in 1000 is `slower` or `faster`.
///
/// A placement is one process that has loaded both configurations and allocated their buffers. Where code and data lie
/// changes a time by more than samples of one process show. So a placement counts as one observation: the logarithm of
/// the ratio of both times. Without a difference these logarithms are symmetric around 0, whatever their distribution,
/// because A and B are interchangeable. So the exact signed-rank test applies, and its interval contains the ratio as
/// often as it says (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd ed., sections 3.1 and 3.3).

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace tuner {

/// B against A.
enum class Difference { slower, faster, same, undecided };
std::string_view name(Difference difference);

/// Times of both in one placement, measured in turns. The placement must not favour one of them: which one is loaded
/// first is drawn by lot.
struct PlacementTimes {
  std::vector<double> a_ns, b_ns;
};

/// The numbers of placements after which compare_pairs() looks at the times. With fewer than the first one, no
/// difference reaches the confidence.
inline constexpr std::array<std::size_t, 6> kLooks = {12, 16, 20, 24, 32, 48};

struct PairedComparison {
  Difference verdict = Difference::undecided;
  double ratio = std::numeric_limits<double>::quiet_NaN();  ///< the time of B over that of A
  double low = 0;                                           ///< contains the ratio with a probability of `confidence`
  double high = std::numeric_limits<double>::infinity();
  double p = 1;                ///< The probability of such a difference, in either direction, if there is none.
  double confidence = 0;       ///< 0: before the first look.
  std::size_t placements = 0;  ///< those that the numbers above describe; all if there was no look yet
  std::size_t next_look = 0;   ///< the number of placements that can say more; 0: none can
};

/// The result of the first look that decides, else of the last one. `same`: the interval of the ratio lies between
/// 1 / (1 + margin) and 1 + margin; this is asked first. `slower`, `faster`: the interval excludes 1. The confidence
/// allows for all looks, so placements can be added until something is decided. Throws std::invalid_argument if a
/// placement has no time of one of them, or a time that is not above 0.
PairedComparison compare_pairs(std::span<const PlacementTimes> placements, double margin = 0.01);

}  // namespace tuner
