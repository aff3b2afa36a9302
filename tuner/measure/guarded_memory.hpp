#pragma once
/// Device memory with canaries on both sides: writes out of bounds show. Internal to the measure room.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner {

/// [guard and shift][data][guard]. The guards hold numbers of its own: what was copied from behind another buffer shows
/// too. Movable; empty until it is made.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  /// \p shift: bytes by which the data begins behind where it is aligned; \p number: others have another. Throws Error
  /// when there is no room.
  GuardedMemory(Backend& backend, std::size_t bytes, std::size_t shift, std::size_t guard_bytes, std::uint64_t number);

  bool is_made() const { return memory_ != nullptr; }
  DevicePointer data() const { return memory_->address() + front_; }
  std::size_t bytes() const { return bytes_; }

  /// Whether there is room for \p bytes of data and its guards.
  bool has_room(std::size_t bytes) const { return is_made() && memory_->bytes() >= bytes + 2 * guard_bytes_; }
  /// Makes the data \p bytes long. Precondition: has_room().
  void resize(std::size_t bytes);

  void write_guards() const;
  /// Where a guard was written to, nearest to the data: bytes from its beginning.
  std::optional<std::ptrdiff_t> broken() const;

 private:
  Backend* backend_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t guard_bytes_ = 0;
  std::size_t front_ = 0, bytes_ = 0, back_ = 0;
  std::vector<unsigned char> guards_;  // as many as the longer one has
};

}  // namespace tuner
