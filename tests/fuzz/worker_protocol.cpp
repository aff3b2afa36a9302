/// libFuzzer: any bytes, in pieces of any length, are messages or a ProtocolError; a message that was read is written
/// as bytes that read as themselves.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <tuner/worker/protocol.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner::worker;
  if (size == 0) return 0;
  const std::size_t piece = data[0] == 0 ? size : data[0];
  std::vector<std::uint8_t> stream(data + 1, data + size);
  // Kept inputs outlive versions of the protocol: the first message is one of this version, except in large pieces.
  constexpr std::size_t version_at = 4;
  if (piece < 128 && stream.size() >= version_at + sizeof kProtocolVersion)
    std::memcpy(stream.data() + version_at, &kProtocolVersion, sizeof kProtocolVersion);
  std::span<const std::byte> left = std::as_bytes(std::span(stream));
  try {
    Decoder decoder;
    while (!left.empty()) {
      const auto now = left.first(std::min(piece, left.size()));
      left = left.subspan(now.size());
      decoder.feed(now);
      while (const std::optional<Message> message = decoder.next()) {
        const auto bytes = encode(*message);
        const auto again = [&]() noexcept {  // what was written must be readable
          Decoder second;
          second.feed(bytes);
          return encode(second.next().value());
        };
        if (again() != bytes) __builtin_trap();
      }
    }
  } catch (const ProtocolError&) {
  }
  return 0;
}
