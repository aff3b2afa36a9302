#include <tuner/worker/serialise.hpp>

namespace tuner::worker {

void Writer::put(std::string_view text) { put(std::as_bytes(std::span(text.data(), text.size()))); }

void Writer::put(std::span<const std::byte> bytes) {
  put(std::uint64_t{bytes.size()});
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
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
  std::uint64_t count = 0;
  get(count);
  if (count > bytes_.size() / bytes)
    throw ProtocolError("message claims " + std::to_string(count) + " elements in " + std::to_string(bytes_.size()) +
                        " bytes");
  return static_cast<std::size_t>(count);
}

void Reader::get(bool& value) {
  std::uint8_t byte = 0;
  get(byte);
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

void Reader::end() const {
  if (!bytes_.empty()) throw ProtocolError("message has " + std::to_string(bytes_.size()) + " bytes too many");
}

void Reader::bad_enumerator() { throw ProtocolError("message has an unknown enumerator"); }

}  // namespace tuner::worker
