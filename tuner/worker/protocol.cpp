#include <tuner/worker/protocol.hpp>

#include <cstring>
#include <utility>

namespace tuner::worker {
namespace {

constexpr std::uint32_t magic = 0x574e5554;  // "TUNW"

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t type;
  std::uint64_t bytes;
};
static_assert(sizeof(Header) == 16);

void write(Writer& out, const Open& m) {
  out.put(m.role);
  out.put(m.backend);
  out.put(m.device);
  out.put(m.warm_up);
  out.put(m.source);
  out.put(m.file_name);
  out.put(m.size);
  out.put(m.measure);
}
void read(Reader& in, Open& m) {
  in.get(m.role, Role::run);
  in.get(m.backend);
  in.get(m.device);
  in.get(m.warm_up);
  in.get(m.source);
  in.get(m.file_name);
  in.get(m.size);
  in.get(m.measure);
}
void write(Writer& out, const Prepare& m) { out.put(m.image); }
void read(Reader& in, Prepare& m) { in.get(m.image); }
void write(Writer& out, const Compile& m) {
  out.put(m.id);
  out.put(m.request);
}
void read(Reader& in, Compile& m) {
  in.get(m.id);
  in.get(m.request);
}
void write(Writer& out, const Evaluate& m) {
  out.put(m.id);
  out.put(m.configuration);
  out.put(m.image);
  out.put(m.best_ns);
}
void read(Reader& in, Evaluate& m) {
  in.get(m.id);
  in.get(m.configuration);
  in.get(m.image);
  in.get(m.best_ns);
}
void write(Writer& out, const Remeasure& m) {
  out.put(m.configurations);
  out.put(m.images);
}
void read(Reader& in, Remeasure& m) {
  in.get(m.configurations);
  in.get(m.images);
  if (m.images.size() != m.configurations.size()) throw ProtocolError("remeasure: one image a configuration, please");
}
void write(Writer&, const Quit&) {}
void read(Reader&, Quit&) {}
void write(Writer& out, const Opened& m) {
  out.put(m.device);
  out.put(m.architecture);
  out.put(m.compiler);
}
void read(Reader& in, Opened& m) {
  in.get(m.device);
  in.get(m.architecture);
  in.get(m.compiler);
}
void write(Writer&, const Prepared&) {}
void read(Reader&, Prepared&) {}
void write(Writer& out, const Failed& m) {
  out.put(m.message);
  out.put(m.final);
}
void read(Reader& in, Failed& m) {
  in.get(m.message);
  in.get(m.final);
}
void write(Writer& out, const PhaseReport& m) {
  out.put(m.phase);
  out.put(m.limit_s);
}
void read(Reader& in, PhaseReport& m) {
  in.get(m.phase, Phase::measure);
  in.get(m.limit_s);
}
void write(Writer& out, const Compiled& m) {
  out.put(m.id);
  out.put(m.result.index() == 0);
  std::visit([&](const auto& result) { out.put(result); }, m.result);
  out.put(m.seconds);
}
void read(Reader& in, Compiled& m) {
  in.get(m.id);
  if (in.get<bool>())
    in.get(m.result.emplace<Image>());
  else
    in.get(m.result.emplace<CompileError>());
  in.get(m.seconds);
}
void write(Writer& out, const Evaluated& m) {
  out.put(m.id);
  out.put(m.trial);
  out.put(m.usable);
}
void read(Reader& in, Evaluated& m) {
  in.get(m.id);
  in.get(m.trial);
  in.get(m.usable);
}
void write(Writer& out, const Remeasured& m) {
  out.put(m.trials);
  out.put(m.usable);
}
void read(Reader& in, Remeasured& m) {
  in.get(m.trials);
  in.get(m.usable);
}

template <std::size_t... Types>
Message read_message(std::uint16_t type, Reader& in, std::index_sequence<Types...>) {
  Message message;
  const bool known = ((type == Types ? (read(in, message.emplace<Types>()), true) : false) || ...);
  if (!known) throw ProtocolError("unknown message type " + std::to_string(type));
  in.end();
  return message;
}

}  // namespace

std::vector<std::byte> encode(const Message& message) {
  Writer out;
  out.put(Header{}.magic);
  out.put(std::uint16_t{0});
  out.put(std::uint16_t{0});
  out.put(std::uint64_t{0});
  std::visit([&](const auto& values) { write(out, values); }, message);
  std::vector<std::byte> bytes = out.take();
  const Header header{magic, protocol_version, static_cast<std::uint16_t>(message.index()),
                      bytes.size() - sizeof(Header)};
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
  if (header.magic != magic) throw ProtocolError("no message begins here");
  if (header.version != protocol_version)
    throw ProtocolError("protocol version " + std::to_string(header.version) + ", this is version " +
                        std::to_string(protocol_version) + ": the worker program belongs to another release");
  if (header.type >= std::variant_size_v<Message>)
    throw ProtocolError("unknown message type " + std::to_string(header.type));
  if (header.bytes > max_message_bytes)
    throw ProtocolError("message of " + std::to_string(header.bytes) + " bytes is too long");
  if (bytes.size() - sizeof header < header.bytes) return std::nullopt;
  Reader in(bytes.subspan(sizeof header, header.bytes));
  Message message = read_message(header.type, in, std::make_index_sequence<std::variant_size_v<Message>>());
  begin_ += sizeof header + header.bytes;
  return message;
}

}  // namespace tuner::worker
