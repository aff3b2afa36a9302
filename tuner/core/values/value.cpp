#include <tuner/core/values/value.hpp>

#include <cmath>

#include <tuner/core/values/characters.hpp>

namespace tuner {

std::string Value::text() const {
  if (is_integer()) return std::to_string(std::get<std::int64_t>(data_));
  if (is_boolean()) return std::get<bool>(data_) ? "true" : "false";
  return std::get<std::string>(data_);
}

std::optional<double> Value::fraction() const {
  if (!is_string() || (string().find('.') == std::string::npos && string().find("e-") == std::string::npos))
    return std::nullopt;
  const auto number = number_of<double>(string());
  return number && std::isfinite(*number) ? number : std::nullopt;
}

Value Value::parse(std::string_view text) {
  if (text == "true") return Value(true);
  if (text == "false") return Value(false);
  if (const auto number = number_of<std::int64_t>(text)) return Value(*number);
  return Value(std::string(text));
}

}  // namespace tuner
