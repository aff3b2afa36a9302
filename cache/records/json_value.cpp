#include <cache/records/json_value.hpp>

#include <algorithm>
#include <numeric>

#include <cache/records/json.hpp>

namespace tuner::cache {
namespace {

/// Of members with equal names, the last one takes the place of the first. Sorts them, because an object from a
/// stranger may have so many that looking for each name would take hours.
void unite_equal_names(JsonValue::Object& members) {
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return members[a].first < members[b].first; });
  std::vector<bool> is_repeated(members.size());
  std::size_t first = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (members[order[i]].first != members[order[first]].first) {
      first = i;
      continue;
    }
    members[order[first]].second = std::move(members[order[i]].second);
    is_repeated[order[i]] = true;
  }
  std::size_t number = 0;
  std::erase_if(members, [&](const auto&) { return is_repeated[number++]; });
}

/// Receives the parts of a text from the parser.
class JsonBuilder {
 public:
  JsonValue result;

  bool null() { return add({nullptr}); }
  bool boolean(bool value) { return add({value}); }
  bool number_integer(std::int64_t value) { return add({value}); }
  bool number_unsigned(std::uint64_t value) { return add({value}); }
  bool number_float(double value, const std::string&) { return add({value}); }
  bool string(std::string& value) { return add({std::move(value)}); }
  bool binary(Json::binary_t&) { return false; }  // JSON has none
  bool start_object(std::size_t) { return open({JsonValue::Object()}); }
  bool start_array(std::size_t) { return open({JsonValue::List()}); }
  bool end_object() {
    unite_equal_names(std::get<JsonValue::Object>(open_.back()->value));
    return open_.pop_back(), true;
  }
  bool end_array() { return open_.pop_back(), true; }
  bool key(std::string& name) {
    auto& members = std::get<JsonValue::Object>(open_.back()->value);
    at_ = &members.emplace_back(std::move(name), JsonValue()).second;
    return true;
  }
  template <class Exception>
  bool parse_error(std::size_t, const std::string&, const Exception& error) {
    throw Exception(error);
  }

 private:
  /// The place of the next value.
  JsonValue& place() {
    if (open_.empty()) return result;
    auto* const list = std::get_if<JsonValue::List>(&open_.back()->value);
    return list != nullptr ? list->emplace_back() : *at_;
  }
  bool add(JsonValue value) {
    place() = std::move(value);
    return true;
  }
  bool open(JsonValue value) {
    JsonValue& here = place();
    here = std::move(value);
    open_.push_back(&here);
    return true;
  }

  std::vector<JsonValue*> open_;  // lists and objects that are not complete; nothing is added beside them meanwhile
  JsonValue* at_ = nullptr;       // the member whose name came last
};

}  // namespace

std::optional<double> JsonValue::number() const {
  if (const auto* const real = as<double>()) return *real;
  if (const auto* const integer = as<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* const natural = as<std::uint64_t>()) return static_cast<double>(*natural);
  return std::nullopt;
}

const JsonValue* JsonValue::member(std::string_view name) const {
  const auto* const members = as<Object>();
  if (members == nullptr) return nullptr;
  const auto at = std::find_if(members->begin(), members->end(), [&](const auto& one) { return one.first == name; });
  return at == members->end() ? nullptr : &at->second;
}

std::string JsonValue::text(bool ascii) const {
  std::string all;
  if (const auto* const members = as<Object>()) {
    for (const auto& [name, one] : *members)
      all += (all.empty() ? "{" : ",") + text_of_json(name, -1, ascii) + ':' + one.text(ascii);
    return all.empty() ? "{}" : all + '}';
  }
  if (const auto* const list = as<List>()) {
    for (const JsonValue& one : *list) all += (all.empty() ? "[" : ",") + one.text(ascii);
    return all.empty() ? "[]" : all + ']';
  }
  return std::visit(
      [&](const auto& one) -> std::string {
        if constexpr (std::is_constructible_v<Json, decltype(one)> && !std::is_same_v<decltype(one), const List&> &&
                      !std::is_same_v<decltype(one), const Object&>)
          return text_of_json(one, -1, ascii);
        else
          return {};
      },
      value);
}

JsonValue read_json(std::string_view text) {
  JsonBuilder builder;
  Json::sax_parse(text, &builder);
  return std::move(builder.result);
}

std::optional<JsonValue> read_json_or_nothing(std::string_view text) try {
  if (nests_deeply(text)) return std::nullopt;
  return read_json(text);
} catch (const Json::exception&) {
  return std::nullopt;
}

bool is_json_object(std::string_view text) {
  const auto value = read_json_or_nothing(text);
  return value && value->as<JsonValue::Object>() != nullptr;
}

}  // namespace tuner::cache
