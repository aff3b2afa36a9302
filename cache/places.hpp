#pragma once
/// Where problems lie, so that a database finds those near a problem without reading the others. The place of sizes is
/// a number on a Z-order curve: its first bits tell each size roughly, the next ones more exactly. All problems of a
/// cell, a box of sizes, have places in one range, which an index finds. Private to this room.

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <cache/records.hpp>

namespace tuner::cache {

/// Stored beside each record, and so never to be changed: exact integers, the same on every machine.
std::int64_t place_of(const Sizes& sizes);

/// The places of all sizes within a factor of two of \p sizes lie between these; others do too.
std::pair<std::int64_t, std::int64_t> places_near(const Sizes& sizes);

/// A box of sizes, as a query sees it.
struct Cell {
  double bound = 0;        ///< no sizes in it are nearer to the query (distance())
  std::int64_t first = 0;  ///< their places
  int level = 0;           ///< how often a box of all sizes was halved in each dimension
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

/// The cells of half the size that \p cell consists of; without \p all those that may hold sizes within a factor of two
/// of \p sizes. None when it is too small to be divided.
std::vector<Cell> divided(const Cell& cell, const Sizes& sizes, bool all);

}  // namespace tuner::cache
