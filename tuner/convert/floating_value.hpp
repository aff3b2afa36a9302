#pragma once
/// Floating values of parameters, which are words in kernel files. Internal to the room.

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include <tuner/core/value.hpp>

namespace tuner::convert {

/// The number in \p value, such as `0.5` or `1e-3`; nullopt for integers, truth values and other words.
inline std::optional<double> floating_value(const Value& value) {
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.string();
  if (text.find('.') == std::string::npos && text.find("e-") == std::string::npos) return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace tuner::convert
