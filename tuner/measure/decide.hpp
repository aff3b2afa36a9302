#pragma once
/// Names a winner among measured trials. The fastest must be ahead by more than the noise; otherwise it is a tie,
/// which goes to the kernel's default where it takes part in it, else to the simplest configuration: fewest registers,
/// then canonical text order. A configuration that is slower than the default never wins.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <tuner/core/outcome.hpp>

namespace tuner {

/// A configuration that takes less than this part of the default's time is ahead of it, whatever luck it had.
inline constexpr double kClearLead = 0.8;
/// A smaller lead of one over another may be where code and data came to lie: seen between two loadings of one short
/// kernel on an H200.
inline constexpr double kPlacementNs = 200;

struct DecideOptions {
  double min_lead = 0.002;                ///< leads below this part are ties however quiet the measurements are
  double min_lead_ns = 0;                 ///< so are leads below this, whatever max_loss says: perhaps kPlacementNs
  double max_loss = 0.01;                 ///< nothing whose median is slower by more than this is ever called a tie
  std::optional<std::size_t> default_at;  ///< position of the kernel's default among the finalists
};

struct Standings {
  std::size_t winner = 0;
  std::size_t fastest = 0;        ///< lowest median; differs from winner when a tie went to a simpler one
  std::vector<std::size_t> ties;  ///< all that cannot be told from the fastest, without the winner, fastest first
};

/// \p finalists: at least one, each with a measurement. Two of one Trial::round with equally many
/// samples are compared in pairs: a tie is where the 95% interval of the median ratio reaches down to the least lead.
/// Otherwise a tie is where their intervals overlap.
/// Throws std::invalid_argument when a trial has no measurement or there is none.
Standings decide(std::span<const Trial> finalists, const DecideOptions& options = {});

}  // namespace tuner
