#pragma once
/// std::span (ISO C++20) for texts in C++17, too. Its size is always known at run time only.
#include <cstddef>
#include <iterator>
#include <type_traits>

namespace cuda::std {

using namespace ::std;

inline constexpr size_t dynamic_extent = ~size_t(0);

template <typename T, size_t extent = dynamic_extent>
class span {
 public:
  using element_type = T;
  using value_type = remove_cv_t<T>;
  using size_type = size_t;
  using iterator = T*;
  constexpr span() = default;
  constexpr span(T* begin, size_t size) : begin_(begin), size_(size) {}
  constexpr span(T* begin, T* end) : begin_(begin), size_(static_cast<size_t>(end - begin)) {}
  template <size_t n>
  constexpr span(T (&array)[n]) : begin_(array), size_(n) {}
  template <typename C, typename = enable_if_t<is_convertible<decltype(::std::data(declval<C&>())), T*>::value>>
  constexpr span(C& all) : begin_(::std::data(all)), size_(::std::size(all)) {}
  template <typename U, size_t n, typename = enable_if_t<is_convertible<U*, T*>::value>>
  constexpr span(const span<U, n>& other) : begin_(other.data()), size_(other.size()) {}
  constexpr T* data() const { return begin_; }
  constexpr size_t size() const { return size_; }
  constexpr size_t size_bytes() const { return size_ * sizeof(T); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return begin_[i]; }
  constexpr T& front() const { return begin_[0]; }
  constexpr T& back() const { return begin_[size_ - 1]; }
  constexpr T* begin() const { return begin_; }
  constexpr T* end() const { return begin_ + size_; }
  constexpr span<T> first(size_t count) const { return {begin_, count}; }
  constexpr span<T> last(size_t count) const { return {end() - count, count}; }
  constexpr span<T> subspan(size_t at, size_t count = dynamic_extent) const {
    return {begin_ + at, count == dynamic_extent ? size_ - at : count};
  }

 private:
  T* begin_ = nullptr;
  size_t size_ = extent == dynamic_extent ? 0 : extent;
};
template <typename T, size_t n>
span(T (&)[n]) -> span<T>;
template <typename T>
span(T*, size_t) -> span<T>;

}  // namespace cuda::std
