#include <tuner/cli/stored_devices.hpp>

#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include <cache/browse.hpp>

#include <tuner/cli/arguments.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::cli {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

}  // namespace

std::vector<cache::DeviceRecord> stored_devices(std::span<cache::Database> databases) {
  std::map<std::string, cache::DeviceRecord> by_key;
  for (cache::Database& database : databases) {
    for (const cache::SessionRecord& one : cache::sessions(database))
      by_key.emplace(one.key.device.key, one.key.device);
    for (const cache::BestRecord& one : cache::best_rows(database)) by_key.emplace(one.device.key, one.device);
  }
  std::vector<cache::DeviceRecord> all;
  for (const auto& [key, device] : by_key) all.push_back(device);
  return all;
}

const cache::DeviceRecord& find_device(const std::vector<cache::DeviceRecord>& known, std::string_view text,
                                       std::string_view option) {
  std::vector<const cache::DeviceRecord*> exact, partial;
  std::string names;
  for (const cache::DeviceRecord& one : known) {
    if (one.key == text || one.name == text) exact.push_back(&one);
    if (lower_case(one.name + '\n' + one.key).find(lower_case(text)) != std::string::npos) partial.push_back(&one);
    names += (names.empty() ? "" : ", ") + in_quotes(one.name.empty() ? one.key : one.name);
  }
  if (exact.size() == 1) return *exact[0];
  if (exact.empty() && partial.size() == 1) return *partial[0];
  throw UsageError(
      fmt::format("{}: {} is {}; there are results of {}", option, in_quotes(text),
                  exact.size() + partial.size() > 0 ? "not one device alone" : "no device of these results",
                  names.empty() ? "none" : names));
}

}  // namespace tuner::cli
