#include <cache/claim.hpp>

#include <string>

#include <cache/sha256.hpp>

namespace tuner::cache {

Claim::Claim(const std::filesystem::path& database, std::string_view what, Disk& disk)
    : file_(database.string() + ".claims"),
      byte_(static_cast<std::int64_t>(std::stoull(sha256_hex(what).substr(0, 16), nullptr, 16) >> 2)),
      disk_(disk) {}

bool Claim::take() {
  const auto now = disk_.now();
  if (held_) return true;
  if (refused_ && now - *refused_ < std::chrono::seconds(1)) return false;
  const bool taken = disk_.lock(file_, byte_, held_) != Disk::Lock::refused;
  refused_ = taken ? std::nullopt : std::optional(now);
  return taken;
}

}  // namespace tuner::cache
