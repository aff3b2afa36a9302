#pragma once
/// The right to do something, such as to tune a problem, that one process at a time has among those that share a
/// database. The kernel keeps it: it ends with its process, however that ends, so nobody has to judge whether an owner
/// is still alive. (A child that was forked meanwhile and never calls exec keeps it too.) Not for what must never
/// happen twice: where files cannot be locked, everybody has the right.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace tuner::cache {

class Claim {
 public:
  /// Takes nothing yet. \p database: an existing file; the locks are on bytes of the empty `FILE.claims` beside it.
  /// \p what: any text, the same in all processes; two texts meet by chance once in 2^62.
  Claim(const std::filesystem::path& database, std::string_view what);
  ~Claim();  ///< gives it back
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// True when it is this object's now, or when no claim can be kept there (a folder that cannot be written to, a file
  /// system without locks): then every process is for itself. False while another object has it, of this process or
  /// another one. Does not wait. Asks the file at most once a second, since a thousand processes may share it: until
  /// then what another object had is taken to be still its.
  bool take();

 private:
  bool ask() const;

  int descriptor_;
  std::optional<std::chrono::steady_clock::time_point> refused_;
  std::int64_t byte_;
};

}  // namespace tuner::cache
