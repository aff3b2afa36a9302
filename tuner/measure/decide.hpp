#pragma once
/// Names a winner among measured trials. The fastest wins if it leads by more than the noise. Otherwise it is a tie.
/// The kernel's default wins a tie if it takes part in it, else the simplest configuration: the one with the fewest
/// registers, then the first in canonical text order. A configuration that is slower than the default never wins.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <tuner/core/outcome.hpp>

namespace tuner {

/// A configuration that takes less than this part of the default's time is certainly faster.
inline constexpr double kClearLead = 0.8;
/// A smaller lead may result from the placement of code and data in memory. On an H200, the times of one short kernel
/// differed by this much after it was loaded again.
inline constexpr double kPlacementNs = 200;

struct DecideOptions {
  double min_lead_ns = 0;                 ///< a smaller lead is always a tie
  std::optional<std::size_t> default_at;  ///< position of the kernel's default among the finalists
};

struct Standings {
  std::size_t winner = 0;
  std::size_t fastest = 0;        ///< lowest median; another than the winner if a tie went to a simpler one
  std::vector<std::size_t> ties;  ///< all that are as fast as the fastest, except the winner; fastest first
};

/// A lead of less than 0.2% or DecideOptions::min_lead_ns is a tie. A larger lead is not a tie if it is also above 1%;
/// otherwise the noise decides. Two trials with the same Trial::round and the same number of samples are compared
/// sample by sample. They tie if the 95% interval of the median ratio reaches down to the least lead. Others tie if
/// their intervals overlap. Throws std::invalid_argument if there are no \p finalists or one has no measurement.
Standings decide(std::span<const Trial> finalists, const DecideOptions& options = {});

}  // namespace tuner
