#include <tuner/convert/json_text.hpp>

#include <fmt/format.h>

#include <tuner/core/error.hpp>

namespace tuner::convert {

nlohmann::json parse_json(const std::string& text, int most, const std::filesystem::path& file) {
  using Json = nlohmann::json;
  return Json::parse(text, [&](int level, Json::parse_event_t, const Json&) {
    if (level > most) throw Error(fmt::format("{}: it is nested too deeply", file.string()));
    return true;
  });
}

std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string beginning_of(const nlohmann::json& value) { return text_of(value).substr(0, 120); }

}  // namespace tuner::convert
