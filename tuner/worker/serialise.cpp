#include <tuner/worker/serialise.hpp>

namespace tuner::worker {

void Writer::put(const Configuration& configuration) {
  put(std::uint64_t{configuration.entries().size()});
  for (const auto& [name, value] : configuration.entries()) {
    put(name);
    put(static_cast<std::uint8_t>(value.is_integer() ? 0 : value.is_boolean() ? 1 : 2));
    if (value.is_string())
      put(value.string());
    else
      put(value.integer());
  }
}

void Reader::get(Configuration& configuration) {
  configuration = {};
  for (std::size_t count = get_count(1); count > 0; --count) {
    const auto name = get<std::string>();
    const auto type = get<std::uint8_t>();
    if (type > 2) throw ProtocolError("message has a value of unknown type");
    if (type == 2)
      configuration.set(name, get<std::string>());
    else if (const auto number = get<std::int64_t>(); type == 1)
      configuration.set(name, number != 0);
    else
      configuration.set(name, number);
  }
}

std::span<const std::byte> Reader::need(std::size_t count) {
  if (count > bytes_.size())
    throw ProtocolError("message ends early: " + std::to_string(count) + " bytes wanted, " +
                        std::to_string(bytes_.size()) + " left");
  const auto result = bytes_.first(count);
  bytes_ = bytes_.subspan(count);
  return result;
}

std::size_t Reader::get_count(std::size_t bytes) {
  const auto count = get<std::uint64_t>();
  if (count > bytes_.size() / bytes)
    throw ProtocolError("message claims " + std::to_string(count) + " elements in " + std::to_string(bytes_.size()) +
                        " bytes");
  return static_cast<std::size_t>(count);
}

void Reader::get(bool& value) {
  const auto byte = get<std::uint8_t>();
  if (byte > 1) throw ProtocolError("message has a truth value of " + std::to_string(byte));
  value = byte == 1;
}

void Reader::get(std::string& text) {
  const auto bytes = need(get_count(1));
  text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void Reader::get(std::vector<std::byte>& result) {
  const auto bytes = need(get_count(1));
  result.assign(bytes.begin(), bytes.end());
}

void Reader::get(std::vector<double>& values) {
  values.resize(get_count(sizeof(double)));
  const auto bytes = need(values.size() * sizeof(double));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

void Reader::end() const {
  if (!bytes_.empty()) throw ProtocolError("message has " + std::to_string(bytes_.size()) + " bytes too many");
}

}  // namespace tuner::worker
