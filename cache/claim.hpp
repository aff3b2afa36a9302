#pragma once
/// A claim is the right to do one thing, such as tuning a problem. Of all processes that share a database, one at a
/// time has it. The claim ends with its object. The operating system holds the claim and releases it when the process
/// ends in any way. (A child that was forked meanwhile and never calls exec keeps it too.) Not for work that must never
/// happen twice. Where files cannot be locked, every process gets every claim.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include <cache/disk.hpp>

namespace tuner::cache {

class Claim {
 public:
  /// Takes nothing yet. \p database: an existing file. The locks are on bytes of the empty file `FILE.claims` beside
  /// it. \p what: any text, the same in all processes. Two texts collide with a probability of 2^-62.
  Claim(const std::filesystem::path& database, std::string_view what, Disk& disk = real_disk());

  /// Returns true when this object has the claim. Also returns true when the folder cannot be written to or the file
  /// system has no locks; then no process is kept out. Returns false while another object, in this process or another,
  /// has the claim. Does not wait. After a refusal it asks the file again only after one second, since a thousand
  /// processes may share the file.
  bool take();

 private:
  const std::filesystem::path file_;
  const std::int64_t byte_;
  Disk& disk_;
  std::shared_ptr<void> held_;
  std::optional<std::chrono::steady_clock::time_point> refused_;
};

}  // namespace tuner::cache
