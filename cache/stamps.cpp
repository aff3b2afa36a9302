#include <cache/stamps.hpp>

#include <cstdio>
#include <ctime>

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <fmt/format.h>
#include <zlib.h>

namespace tuner::cache {

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

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  // crc32_z takes lengths above 32 bits, crc32() does not.
  return static_cast<std::uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace tuner::cache
