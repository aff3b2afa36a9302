#pragma once
/// Calls whose sizes are in the same classes share a plan, so they are served with one configuration.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace tuner {

/// How many low bits of \p size may vary within its class; \p sizes: how many sizes the kernel has. Classes divide each
/// power of two into eighths for one size, quarters for two and halves for three, to keep their number small. Each
/// small size is its own class.
inline int bits_within_class(std::int64_t size, std::size_t sizes) {
  const int bits = sizes >= 4 ? 0 : 4 - static_cast<int>(sizes);
  return size < std::int64_t{2} << bits ? 0 : std::bit_width(static_cast<std::uint64_t>(size)) - 1 - bits;
}

/// The lowest size of the class of \p size.
inline std::int64_t class_begin(std::int64_t size, std::size_t sizes) {
  const int within = bits_within_class(size, sizes);
  return size >> within << within;
}

/// The lowest sizes of the classes of \p sizes.
inline std::map<std::string, std::int64_t> class_begin(std::map<std::string, std::int64_t> sizes) {
  for (auto& [name, size] : sizes) size = class_begin(size, sizes.size());
  return sizes;
}

/// The highest sizes of the classes of \p sizes.
inline std::map<std::string, std::int64_t> class_end(std::map<std::string, std::int64_t> sizes) {
  for (auto& [name, size] : sizes) size |= (std::int64_t{1} << bits_within_class(size, sizes.size())) - 1;
  return sizes;
}

/// Whether \p measured belongs to the classes that begin with \p lowest.
inline bool is_of_class(const std::map<std::string, std::int64_t>& measured,
                        const std::map<std::string, std::int64_t>& lowest) {
  return std::equal(measured.begin(), measured.end(), lowest.begin(), lowest.end(),
                    [&](const auto& size, const auto& low) {
                      return size.first == low.first && class_begin(size.second, measured.size()) == low.second;
                    });
}

}  // namespace tuner
