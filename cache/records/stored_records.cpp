#include <cache/records/stored_records.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <fmt/format.h>

namespace tuner::cache {

std::int64_t now_ms() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string make_uuid() { return boost::uuids::to_string(boost::uuids::random_generator()()); }

std::string instant_text(std::int64_t ms) {
  const std::int64_t second = ms >= 0 ? ms / 1000 : (ms - 999) / 1000;
  const std::time_t time = second;
  std::tm utc{};
  gmtime_r(&time, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, ms - second * 1000);
}

std::optional<std::int64_t> parse_instant(const std::string& text) {
  std::tm utc{};
  int ms = 0;
  const char* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &utc);
  if (rest == nullptr || std::sscanf(rest, ".%3dZ", &ms) != 1) return std::nullopt;
  const auto result = static_cast<std::int64_t>(timegm(&utc)) * 1000 + ms;
  if (instant_text(result) != text) return std::nullopt;
  return result;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size(); begin += words.back().size() + 1)
    words.push_back(text.substr(begin, text.find(' ', begin) - begin));
  return words;
}

std::pair<std::string_view, std::string_view> name_and_value(std::string_view word) {
  const auto equals = std::min(word.find('='), word.size());
  return {word.substr(0, equals), word.substr(std::min(equals + 1, word.size()))};
}

std::string sizes_text(const Sizes& sizes) {
  std::string text;
  for (const auto& [name, value] : sizes) text += (text.empty() ? "" : " ") + name + '=' + std::to_string(value);
  return text;
}

std::optional<Sizes> parse_sizes(const std::string& text) {
  Sizes sizes;
  for (const std::string_view word : words_of(text)) {
    const auto [name, number] = name_and_value(word);
    std::int64_t value = 0;
    const auto* const last = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), last, value);
    if (name.empty() || error != std::errc{} || stop != last || value < 0) return std::nullopt;
    sizes.emplace_hint(sizes.end(), name, value);
  }
  // Only the canonical form is accepted: sorted, no repetition, no spare zeros or blanks.
  if (sizes_text(sizes) != text) return std::nullopt;
  return sizes;
}

namespace {

constexpr double kFactorOfTwo = 1.0 + 1e-9;  // |log2 ratio|

/// |log2 ratio|.
double steps(std::int64_t a, std::int64_t b) {
  if (a == b) return 0;
  if (a == 0 || b == 0) return 64;
  return std::abs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
}

}  // namespace

std::optional<double> distance(const Sizes& a, const Sizes& b) {
  double sum = 0;
  const auto add = [&](const auto& x, const auto& y) {
    sum += steps(x.second, y.second);
    return x.first == y.first;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), add) ? std::optional(sum) : std::nullopt;
}

bool alike(const ProblemRecord& a, const ProblemRecord& b) {
  const auto near = [](const auto& x, const auto& y) {
    return x.first == y.first && steps(x.second, y.second) <= kFactorOfTwo;
  };
  return a.choices == b.choices && std::equal(a.sizes.begin(), a.sizes.end(), b.sizes.begin(), b.sizes.end(), near);
}

}  // namespace tuner::cache
