#include <cache/records.hpp>

#include <charconv>

namespace tuner::cache {

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) {
    if (!text.empty()) text += ' ';
    text += name;
    text += '=';
    text += std::to_string(value);
  }
  return text;
}

std::optional<Sizes> parse_sizes(const std::string& text) {
  Sizes sizes;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find(' ', begin), text.size());
    const auto equals = text.find('=', begin);
    if (equals == std::string::npos || equals >= end || equals == begin) return std::nullopt;
    std::int64_t value = 0;
    const auto* last = text.data() + end;
    const auto [stop, error] = std::from_chars(text.data() + equals + 1, last, value);
    if (error != std::errc{} || stop != last || value < 0) return std::nullopt;
    sizes.emplace_hint(sizes.end(), text.substr(begin, equals - begin), value);
    begin = end + 1;
  }
  // One way to write it: sorted, no repetition, no spare zeros or blanks.
  if (sizes_text(sizes) != text) return std::nullopt;
  return sizes;
}

}  // namespace tuner::cache
