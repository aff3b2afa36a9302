#include <cache/query/places.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tuner::cache {
namespace {

/// How many sizes a place encodes, and with how many bits each. Further sizes are ignored.
struct Grid {
  explicit Grid(const Sizes& sizes)
      : axes(std::clamp(static_cast<int>(sizes.size()), 1, 6)), bits(std::min(60 / axes, 30)) {}
  int axes, bits;
};

/// The limit of distance() and alike(), with room for rounding.
constexpr double kReach = 1.0 + 1e-8;

/// The logarithm of \p size, linear between powers of two: exponent and leading bits of a floating number. 0 for 0.
std::int64_t coordinate(std::int64_t size, const Grid& grid) {
  if (size <= 0) return 0;
  const int fraction = grid.bits - 6;  // the exponent is below 64
  const auto number = std::bit_cast<std::int64_t>(static_cast<double>(size));
  return (number >> (52 - fraction)) - (std::int64_t{1023} << fraction) + 1;
}

/// The least size with that coordinate, which must be at least 1.
double size_at(std::int64_t coordinate, const Grid& grid) {
  const int fraction = grid.bits - 6;
  return std::bit_cast<double>((coordinate - 1 + (std::int64_t{1023} << fraction)) << (52 - fraction));
}

std::int64_t place_of(const std::vector<std::int64_t>& coordinates, const Grid& grid) {
  std::int64_t place = 0;
  for (int bit = grid.bits - 1; bit >= 0; --bit)
    for (const std::int64_t one : coordinates) place = place << 1 | (one >> bit & 1);
  return place;
}

std::vector<std::int64_t> coordinates_of(const Sizes& sizes, const Grid& grid, auto&& change) {
  std::vector<std::int64_t> all;
  for (const auto& [name, size] : sizes)
    if (std::ssize(all) < grid.axes) all.push_back(coordinate(change(size), grid));
  if (all.empty()) all.push_back(0);
  return all;
}

/// The least |log2 ratio| of \p size and the sizes with coordinates in [\p first, \p end). More than a factor of two
/// when there are none.
double steps_to(std::int64_t size, std::int64_t first, std::int64_t end, const Grid& grid) {
  if (size == 0) return first == 0 ? 0 : 64;
  if (end <= 1) return 64;  // only 0
  const double low = size_at(std::max<std::int64_t>(first, 1), grid), high = size_at(end, grid);
  const auto number = static_cast<double>(size);
  return number < low ? std::log2(low / number) : number > high ? std::log2(number / high) : 0;
}

}  // namespace

std::int64_t place_of(const Sizes& sizes) {
  const Grid grid(sizes);
  return place_of(coordinates_of(sizes, grid, [](std::int64_t size) { return size; }), grid);
}

std::pair<std::int64_t, std::int64_t> places_near(const Sizes& sizes) {
  const Grid grid(sizes);
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  return {
      place_of(coordinates_of(sizes, grid, [](std::int64_t size) { return size / 2; }), grid),
      place_of(coordinates_of(sizes, grid, [](std::int64_t size) { return size > largest / 2 ? largest : 2 * size; }),
               grid)};
}

std::vector<Cell> divided(const Cell& cell, const Sizes& sizes, bool all) {
  const Grid grid(sizes);
  std::vector<Cell> parts;
  if (cell.level == grid.bits) return parts;
  const int left = grid.bits - cell.level - 1;  // bits of each coordinate that a part leaves open
  for (std::int64_t part = 0; part < std::int64_t{1} << grid.axes; ++part) {
    Cell half{.first = cell.first | part << grid.axes * left, .level = cell.level + 1};
    half.last = half.first | ((std::int64_t{1} << grid.axes * left) - 1);
    bool wanted = true;
    int axis = 0;
    for (auto size = sizes.begin(); size != sizes.end() && axis < grid.axes; ++size, ++axis) {
      std::int64_t first = 0;  // every axes-th bit of the place, starting at the axis
      for (int bit = grid.bits - 1; bit >= 0; --bit)
        first = first << 1 | (half.first >> (grid.axes * bit + grid.axes - 1 - axis) & 1);
      const double steps = steps_to(size->second, first, first + (std::int64_t{1} << left), grid);
      wanted = wanted && (all || steps <= kReach);
      half.bound += steps;
    }
    half.bound = std::max(0.0, half.bound - 1e-9);  // allows for rounding: a cell may seem nearer, never farther
    if (wanted) parts.push_back(half);
  }
  return parts;
}

}  // namespace tuner::cache
