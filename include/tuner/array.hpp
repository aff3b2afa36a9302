#pragma once
/// An array where kernels run: device memory on a GPU, ordinary memory on the host backend. For programs and examples
/// that run on both. Programs with their own device memory do not need it. C++17.

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <tuner/problem.hpp>

namespace tuner {
inline namespace TUNER_ABI {

namespace detail {

/// Owns bytes on the device that this thread's launches run on.
class ArrayMemory {
 public:
  explicit ArrayMemory(std::size_t bytes);
  ~ArrayMemory();
  ArrayMemory(ArrayMemory&&) noexcept;
  ArrayMemory& operator=(ArrayMemory&&) noexcept;
  void* address() const;
  void upload(const void* from, std::size_t bytes);
  void download(void* to, std::size_t bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace detail

/// Movable, not copyable. All members throw Error when the device fails.
template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds plain data");

 public:
  /// Allocates \p count elements, uninitialised.
  explicit Array(std::size_t count) : memory_(bytes_of(count)), count_(count) {}
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    memory_.upload(values.data(), count_ * sizeof(T));
  }

  T* data() { return static_cast<T*>(memory_.address()); }
  const T* data() const { return static_cast<const T*>(memory_.address()); }
  std::size_t size() const { return count_; }

  /// Copies the elements to the host. Waits for earlier launches on all streams. Other threads may capture meanwhile.
  std::vector<T> to_vector() const {
    std::vector<T> values(count_);
    memory_.download(values.data(), count_ * sizeof(T));
    return values;
  }

 private:
  static std::size_t bytes_of(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T))
      throw Error(ErrorCode::out_of_memory, "tuner::Array: no memory holds " + std::to_string(count) + " elements");
    return count * sizeof(T);
  }

  detail::ArrayMemory memory_;
  std::size_t count_;
};

}  // namespace TUNER_ABI
}  // namespace tuner
