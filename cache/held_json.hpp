#pragma once
/// JSON that is destroyed without memory. The destructor of nlohmann::json allocates for a value that is not empty, and
/// ends the process when that fails. So the parts of a value are destroyed first, each after its own parts.

#include <nlohmann/json.hpp>

namespace tuner {

/// For values that are not nested deeply (nests_deeply()).
template <class Value>
void take_apart(Value& value) noexcept {
  if (!value.is_structured()) return;
  for (Value& part : value) take_apart(part);
  value.clear();
}

template <class Value>
struct Held {
  Held() = default;
  explicit Held(Value&& of) : value(std::move(of)) {}
  ~Held() { take_apart(value); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Value value;
};

}  // namespace tuner
