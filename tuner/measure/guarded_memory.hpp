#pragma once
/// Device memory that shows writes out of bounds. Internal to the measure room.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tuner/backend/backend.hpp>

namespace tuner {

/// Device memory with guards on both sides, which show writes out of bounds: [guard and shift][data][guard]. Each
/// memory has different numbers in its guards, so that a copy of another buffer's guard is noticed too. Around floating
/// numbers, every second number of a guard is NaN, so that a sum with one of them is noticed. Movable; empty when it is
/// constructed by default.
class GuardedMemory {
 public:
  GuardedMemory() = default;
  /// \p shift: bytes from an aligned address to the data. \p number: chooses the numbers in the guards. \p floating:
  /// bytes of a floating number of the data; 0: there are none. Throws Error if there is no room.
  GuardedMemory(Backend& backend, std::size_t bytes, std::size_t shift, std::size_t guard_bytes, std::uint64_t number,
                std::size_t floating);

  bool is_made() const { return memory_ != nullptr; }
  DevicePointer data() const { return memory_->address() + front_; }
  std::size_t bytes() const { return bytes_; }

  /// Whether there is room for \p bytes of data and its guards.
  bool has_room(std::size_t bytes) const { return is_made() && memory_->bytes() >= front_ + bytes + guard_bytes_; }
  /// Changes the size of the data to \p bytes. Precondition: has_room().
  void resize(std::size_t bytes);

  void write_guards() const;
  /// Until the next write_guards().
  void fill_guards_with_zeros() const;
  /// The changed byte of a guard that is nearest to the data, in bytes from its beginning; nullopt: none.
  std::optional<std::ptrdiff_t> broken() const;

 private:
  Backend* backend_ = nullptr;
  std::unique_ptr<DeviceMemory> memory_;
  std::size_t guard_bytes_ = 0;
  std::size_t front_ = 0, bytes_ = 0, back_ = 0;
  std::vector<unsigned char> guards_;  // contents, as long as the longer guard
};

}  // namespace tuner
