#pragma once
/// Maps the sizes of a problem to a place, so that a database finds nearby problems without reading all others. A place
/// is a number on a Z-order curve: its first bits give each size roughly, later bits more exactly. All problems in a
/// cell (a box of sizes) have places in one range, which an index finds. Private to this room.

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <cache/records/stored_records.hpp>

namespace tuner::cache {

/// Stored beside each record, so it must never change. Uses exact integers: the result is the same on every machine.
std::int64_t place_of(const Sizes& sizes);

/// The places of all sizes within a factor of two of \p sizes lie in this range. Other sizes may lie there too.
std::pair<std::int64_t, std::int64_t> places_near(const Sizes& sizes);

/// A box of sizes and its distance from a query.
struct Cell {
  double bound = 0;        ///< a lower bound for the distance() of sizes in it from the query
  std::int64_t first = 0;  ///< their places
  int level = 0;           ///< how often the box of all sizes was halved in each dimension
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

/// The cells of half the size that make up \p cell. Unless \p all, only those that may hold sizes within a factor of
/// two of \p sizes. Empty when \p cell is too small to divide.
std::vector<Cell> divided(const Cell& cell, const Sizes& sizes, bool all);

}  // namespace tuner::cache
