#pragma once
/// A value of a tuning parameter for KernelBuilder: an integer, a boolean or a word. C++17.

#include <string>
#include <type_traits>

namespace tuner {

class ValueText {
 public:
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  ValueText(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      text_ = value ? "true" : "false";
    } else {
      text_ = std::to_string(value);
    }
  }
  ValueText(const char* word) : text_(word) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace tuner
