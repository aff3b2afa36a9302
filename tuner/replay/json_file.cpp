#include <tuner/replay/json_file.hpp>

#include <algorithm>
#include <cmath>

#include <boost/interprocess/streams/bufferstream.hpp>

#include <tuner/replay/read_recording.hpp>

namespace tuner::replay {

namespace {

using nlohmann::json;
/// Names of members and numbers of elements (from 0), from the outermost value to the innermost.
using Path = std::vector<std::string>;

/// `file:line:column: `; both count from 1, columns in bytes.
std::string place_at(std::string_view text, std::size_t position, const std::string& origin) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return origin + ':' + std::to_string(line) + ':' + std::to_string(column) + ": ";
}

/// Builds the value of a text, up to the text's end if that comes too early. Finds the place of the value at a path;
/// if a name is given twice, that of its last value.
class Builder final : public nlohmann::json_sax<json> {
 public:
  Builder(std::string_view text, const std::string& origin, Path wanted = {})
      : text_(text), origin_(origin), wanted_(std::move(wanted)), stream_(text.data(), text.size()) {
    json::sax_parse(stream_, this);
  }
  json root;
  std::size_t found = 0;

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // never called for text
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    path_.back() = std::move(name);
    return passed();
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) override;

 private:
  bool passed() {
    end_of_last_ = static_cast<std::size_t>(stream_.rdbuf()->pubseekoff(0, std::ios::cur, std::ios::in));
    return true;
  }
  bool put(json value) {
    arrive();
    add(std::move(value));
    return passed();
  }
  bool open(json value) {
    arrive();
    if (open_.size() == kMostJsonDepth)
      throw RecordingError(place_at(text_, beginning(), origin_) + "nested more than " +
                           std::to_string(kMostJsonDepth) + " levels deep; is this a recording?");
    open_.push_back(std::move(value));
    path_.emplace_back();
    return passed();
  }
  bool close() {
    json complete = std::move(open_.back());
    open_.pop_back();
    path_.pop_back();
    add(std::move(complete));
    has_entry_ = has_entry_ || open_.size() == 2;
    return passed();
  }
  void add(json value);
  /// Call this at the beginning of a value.
  void arrive();
  std::size_t beginning() const { return text_.find_first_not_of(" \t\r\n,:\xEF\xBB\xBF", end_of_last_); }

  std::string_view text_;
  const std::string& origin_;
  Path wanted_;
  boost::interprocess::ibufferstream stream_;
  std::size_t end_of_last_ = 0;  // one past the last token
  std::vector<json> open_;
  Path path_;               // within the open values
  bool has_entry_ = false;  // an entry at depth 2 is complete
};

void Builder::add(json value) {
  if (open_.empty()) {
    root = std::move(value);
  } else if (open_.back().is_array()) {
    open_.back().push_back(std::move(value));
  } else {
    open_.back()[path_.back()] = std::move(value);
  }
}

void Builder::arrive() {
  if (!wanted_.empty() && !open_.empty() && open_.back().is_array()) path_.back() = std::to_string(open_.back().size());
  if (path_ == wanted_) found = beginning();
}

bool Builder::parse_error(std::size_t position, const std::string&, const json::exception& error) {
  if (position > text_.size() && has_entry_) {
    // An entry at depth 2 that is not complete is dropped: to close it would make up half a result.
    for (; open_.size() > 2; open_.pop_back()) path_.pop_back();
    while (!open_.empty()) close();
    return false;
  }
  // `[json.exception.parse_error.101] parse error at line 1, column 2: what is wrong`, or, without a place,
  // `[json.exception.out_of_range.406] number overflow parsing '1e400'`
  const std::string message = error.what();
  const bool placed = dynamic_cast<const json::parse_error*>(&error) != nullptr;
  const std::size_t at = placed ? std::max<std::size_t>(position, 1) - 1 : beginning();
  throw RecordingError(place_at(text_, at, origin_) +
                       "not JSON: " + message.substr(placed ? message.find(": ") + 2 : message.find(' ') + 1));
}

json built(std::string_view text, const std::string& origin) {
  if (std::count(text.begin(), text.end(), ',') >= static_cast<std::ptrdiff_t>(kMostJsonValues))
    throw RecordingError(origin + ": more than " + std::to_string(kMostJsonValues) + " values; is this a recording?");
  return std::move(Builder(text, origin).root);
}

/// Adds the way from \p here to \p wanted to \p path; false when \p wanted is not in \p here.
bool find(const json& here, const json& wanted, Path& path) {
  if (&here == &wanted) return true;
  if (!here.is_structured()) return false;
  for (const auto& item : here.items()) {
    path.push_back(item.key());
    if (find(item.value(), wanted, path)) return true;
    path.pop_back();
  }
  return false;
}

}  // namespace

JsonFile::JsonFile(std::string_view text, std::string origin)
    : text_(text), origin_(std::move(origin)), root_(built(text, origin_)) {}

void JsonFile::fail(const json& object, const std::string& key, const std::string& complaint) const {
  Path path;
  find(root_, object.contains(key) ? object[key] : object, path);
  throw RecordingError(place_at(text_, Builder(text_, origin_, path).found, origin_) + complaint);
}

const json& member(const json& object, const std::string& key) {
  static const json none;
  const auto at = object.find(key);
  return at == object.end() ? none : *at;
}

std::string text_or_empty(const json& object, const std::string& key) {
  const json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

double number_or(const json& object, const std::string& key, double fallback, const Fail& fail) {
  const json& value = member(object, key);
  if (value.is_null()) return fallback;
  if (!value.is_number()) fail(object, key, '\'' + key + "' is not a number");
  return value.get<double>();
}

double time_or(const json& object, const std::string& key, double fallback, const Fail& fail) {
  const double value = number_or(object, key, fallback, fail);
  if (value < 0) fail(object, key, '\'' + key + "' is negative");
  return value;
}

double objective(const json& object, const std::string& key, std::string_view name, bool rate, const Fail& fail) {
  const double value = object[key].get<double>();
  if (!rate && value < 0 && name.find("time") != std::string_view::npos) fail(object, key, "a time is negative");
  if (!rate) return value;
  if (!(value > 0)) fail(object, key, "a rate is above 0");
  return 1 / value;
}

Value json_value(const json& value) {
  if (value.is_boolean()) return Value(value.get<bool>());
  if (value.is_number_integer()) return Value(value.get<std::int64_t>());
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < 9e15) return Value(static_cast<std::int64_t>(number));
  }
  return Value(value.is_string() ? value.get<std::string>() : value.dump());
}

bool is_rate(std::string_view objective) {
  return objective.ends_with("/s") || objective.ends_with("/W") || objective.ends_with("/J");
}

}  // namespace tuner::replay
