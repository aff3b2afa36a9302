#include <tuner/worker/protocol.hpp>

#include <cstring>

namespace tuner::worker {
namespace {

constexpr std::uint32_t kMagic = 0x574e5554;  // "TUNW"

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t type;
  std::uint64_t bytes;
};
static_assert(sizeof(Header) == 16);

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  Header header{kMagic, kProtocolVersion, static_cast<std::uint16_t>(message.index()), 0};
  Writer out;
  out.raw(&header, sizeof header);
  std::visit([&](const auto& values) { transfer(out, values); }, message);
  std::vector<std::byte> bytes = out.take();
  header.bytes = bytes.size() - sizeof header;
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

void Decoder::feed(std::span<const std::byte> bytes) {
  if (begin_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<Message> Decoder::next() {
  const std::span<const std::byte> bytes = std::span(buffer_).subspan(begin_);
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic) throw ProtocolError("no message begins here");
  if (header.version != kProtocolVersion)
    throw ProtocolError("protocol version " + std::to_string(header.version) + ", this is version " +
                        std::to_string(kProtocolVersion) + ": the worker program belongs to another release");
  Message message;
  choose(message, header.type);
  if (header.bytes > kMaxMessageBytes)
    throw ProtocolError("message of " + std::to_string(header.bytes) + " bytes is too long");
  if (bytes.size() - sizeof header < header.bytes) return std::nullopt;
  Reader in(bytes.subspan(sizeof header, header.bytes));
  std::visit([&](auto& values) { transfer(in, values); }, message);
  if (in.left() > 0) throw ProtocolError("message has " + std::to_string(in.left()) + " bytes too many");
  begin_ += sizeof header + header.bytes;
  return message;
}

}  // namespace tuner::worker
