#include <cache/records/json.hpp>

namespace tuner {

Json json_of_text(std::string_view text) { return Json::parse(text); }

Json json_or_discarded(std::string_view text) {
  return nests_deeply(text) ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
}

bool nests_deeply(std::string_view text) {
  constexpr int kMost = 32;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{') && ++depth > kMost)
      return true;
    else if (!in_string && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

std::string json_fault(const Json::exception& error) {
  const std::string_view message = error.what();
  const bool has_place = dynamic_cast<const Json::parse_error*>(&error) != nullptr;
  return std::string(message.substr(has_place ? message.find(": ") + 2 : message.find(' ') + 1));
}

std::string text_of_json(const Json& value, int indent, bool ascii) {
  return value.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

}  // namespace tuner
