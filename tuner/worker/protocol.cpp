#include <tuner/worker/protocol.hpp>

#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

#include <tuner/core/kernel/kernel_spec.hpp>

namespace tuner {

// The members of every struct that travels between a session and its workers, for transfer().

constexpr Phase last(Phase) { return Phase::measure; }
constexpr Use last(Use) { return Use::graph; }
constexpr ErrorCode last(ErrorCode) { return ErrorCode::cache; }

auto fields(DeviceKey& v) {
  return std::tie(v.backend, v.compute_capability, v.sm_count, v.l2_bytes, v.memory_bus_bits, v.max_shared_bytes,
                  v.registers_per_sm, v.cpu);
}
auto fields(DeviceLimits& v) {
  return std::tie(v.warp_size, v.sm_count, v.max_threads_per_block, v.max_block, v.max_grid, v.shared_bytes_per_block,
                  v.max_shared_bytes, v.shared_bytes_per_sm, v.reserved_shared_bytes, v.registers_per_block,
                  v.registers_per_sm, v.max_registers_per_thread, v.max_threads_per_sm, v.max_blocks_per_sm,
                  v.fp32_lanes_per_sm, v.cooperative_launch, v.compute_capability);
}
auto fields(Environment& v) { return std::tie(v.driver, v.compiler); }
auto fields(Ceilings& v) { return std::tie(v.read, v.copy, v.write, v.loaded_latency_ns); }
auto fields(Device& v) { return std::tie(v.key, v.limits, v.environment, v.name, v.index, v.ceilings); }
auto fields(ProblemSize& v) { return std::tie(v.sizes, v.choices); }
auto fields(RecordedLaunch& v) { return std::tie(v.inputs, v.outputs, v.scalars, v.digest); }
auto fields(MeasureOptions& v) {
  return std::tie(v.seed, v.use, v.verify, v.second_inputs, v.own_problems, v.interleave_all, v.guard_bytes,
                  v.min_samples, v.max_samples, v.target_width, v.max_seconds, v.finalist_rounds, v.finalist_samples,
                  v.abandon_factor, v.abandon_samples, v.batch_below_ns, v.hang_floor_s, v.first_run_s, v.metrics,
                  v.metrics_for_all, v.recorded, v.carried);
}

auto fields(SourceLocation& v) { return std::tie(v.file, v.line, v.column); }
auto fields(CompileOption& v) { return std::tie(v.text, v.origin); }
auto fields(CompileRequest& v) {
  return std::tie(v.source, v.file_name, v.expressions, v.defines, v.architecture, v.device_launches, v.options,
                  v.macros, v.include_paths, v.carried, v.in_background);
}
auto fields(IncludedFile& v) { return std::tie(v.path, v.text); }
auto fields(SourceFile& v) { return std::tie(v.path, v.text, v.line, v.of_reference); }
auto fields(CompiledFunction& v) { return std::tie(v.expression, v.symbol, v.resources); }
auto fields(Image& v) { return std::tie(v.code, v.functions, v.log); }

auto fields(CompileError& v) { return std::tie(v.message, v.log, v.machine_fault); }
auto fields(LaunchError& v) { return std::tie(v.message, v.machine_fault); }
auto fields(Timeout& v) { return std::tie(v.message); }
auto fields(WrongResult& v) { return std::tie(v.message); }
auto fields(Invalid& v) { return std::tie(v.reason); }
auto fields(Trial& v) { return std::tie(v.configuration, v.outcome, v.resources, v.verified, v.crashed, v.times); }

}  // namespace tuner

namespace tuner::worker {

constexpr Role last(Role) { return Role::run; }

auto fields(Open& m) {
  return std::tie(m.role, m.backend, m.gpus, m.device, m.source, m.file_name, m.sources, m.size, m.measure);
}
auto fields(Prepare& m) { return std::tie(m.image); }
auto fields(Compile& m) { return std::tie(m.request); }
auto fields(Evaluate& m) { return std::tie(m.configuration, m.image, m.best_ns); }
auto fields(LaunchOnce& m) { return std::tie(m.configuration, m.image); }
auto fields(Remeasure& m) { return std::tie(m.configurations, m.images, m.seconds, m.checked, m.placement); }
auto fields(Recall& m) { return std::tie(m.running); }
auto fields(Opened& m) { return std::tie(m.device, m.compiler); }
auto fields(Prepared& m) { return std::tie(m.remarks); }
auto fields(Failed& m) { return std::tie(m.message, m.final, m.code); }
auto fields(PhaseReport& m) { return std::tie(m.phase, m.limit_s, m.runs_kernel); }
auto fields(CompileAnswer& m) { return std::tie(m.result, m.seconds); }
auto fields(Ran& m) { return std::tie(m.trials, m.usable); }
auto fields(Warning& m) { return std::tie(m.text); }
auto fields(Beat& m) { return std::tie(m.seconds); }
auto fields(LastWords& m) { return std::tie(m.signal); }

// ---------------------------------------------------------------- values as bytes
//
// Little-endian, lengths before contents, for processes of one build. Reading never trusts a length. transfer() serves
// both directions. A struct can be sent if a function fields() for it exists.

class Writer {
 public:
  static constexpr bool reading = false;
  void raw(const void* from, std::size_t count) {
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  static constexpr bool reading = true;
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  /// Throws ProtocolError when the bytes end too early.
  void raw(void* to, std::size_t count) {
    if (count > left())
      throw ProtocolError("message ends early: " + std::to_string(count) + " bytes wanted, " + std::to_string(left()) +
                          " left");
    if (count > 0) std::memcpy(to, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
};

/// A type with values from 0 to last(). Takes one byte.
constexpr bool last(bool) { return true; }
template <typename T>
concept Bounded = std::same_as<T, bool> ||(std::is_enum_v<T>&& requires(T value) { last(value); });
template <typename T>
concept Struct = requires(T& value) {
  fields(value);
};
template <typename T>
concept TupleLike = requires {
  std::tuple_size<T>::value;
};
/// Text or numbers in one piece of memory.
template <typename T>
concept Flat =
    std::same_as<T, std::string> || std::same_as<T, std::vector<std::byte>> || std::same_as<T, std::vector<double>>;

template <typename Stream, typename T>
void transfer(Stream& stream, T& value);

/// The number of elements, which stands before them. Each takes at least \p bytes, so the number is checked against the
/// bytes that are left.
template <typename Stream>
std::size_t transfer_count(Stream& stream, std::size_t size, std::size_t bytes) {
  std::uint64_t count = size;
  transfer(stream, count);
  if constexpr (Stream::reading)
    if (count > stream.left() / bytes)
      throw ProtocolError("message claims " + std::to_string(count) + " elements in " + std::to_string(stream.left()) +
                          " bytes");
  return static_cast<std::size_t>(count);
}

/// Reads one element after the other, so that a false length takes no more memory than the bytes that follow it.
template <typename Element, typename Stream, typename T>
void transfer_elements(Stream& stream, T& values) {
  std::size_t count = transfer_count(stream, values.size(), 1);
  if constexpr (Stream::reading) {
    for (values.clear(); count > 0; --count) {
      Element element{};
      transfer(stream, element);
      values.insert(values.end(), std::move(element));
    }
  } else {
    for (const auto& element : values) transfer(stream, element);
  }
}
template <typename Stream, typename T>
void transfer_container(Stream& stream, std::vector<T>& values) {
  transfer_elements<T>(stream, values);
}
template <typename Stream, typename K, typename V>
void transfer_container(Stream& stream, std::map<K, V>& values) {
  transfer_elements<std::pair<K, V>>(stream, values);
}
template <typename Stream, typename T>
void transfer_container(Stream& stream, std::optional<T>& value) {
  bool there = value.has_value();
  transfer(stream, there);
  if constexpr (Stream::reading) value = there ? std::optional<T>(std::in_place) : std::nullopt;
  if (there) transfer(stream, *value);
}
/// Makes \p value hold an empty alternative \p index. Throws ProtocolError when there is none.
template <typename... T>
void choose(std::variant<T...>& value, std::size_t index) {
  const auto choose_one_of = [&]<std::size_t... Each>(std::index_sequence<Each...>) {
    return ((index == Each ? (static_cast<void>(value.template emplace<Each>()), true) : false) || ...);
  };
  if (!choose_one_of(std::index_sequence_for<T...>()))
    throw ProtocolError("message has a value of unknown type " + std::to_string(index));
}
template <typename Stream, typename... T>
void transfer_container(Stream& stream, std::variant<T...>& value) {
  auto index = static_cast<std::uint8_t>(value.index());
  transfer(stream, index);
  if constexpr (Stream::reading) choose(value, index);
  std::visit([&](auto& each) { transfer(stream, each); }, value);
}
template <typename Stream>
void transfer_container(Stream& stream, Configuration& configuration) {
  std::string text = configuration.text();
  transfer(stream, text);
  if constexpr (Stream::reading) try {
      configuration = Configuration::parse(text);
    } catch (const std::invalid_argument& error) {
      throw ProtocolError(error.what());
    }
}

template <typename Stream, typename T>
void transfer(Stream& stream, T& value) {
  if constexpr (std::is_const_v<T>) {
    static_assert(!Stream::reading);
    transfer(stream, const_cast<std::remove_const_t<T>&>(value));  // writing does not change it
  } else if constexpr (Bounded<T>) {
    auto number = static_cast<std::uint8_t>(value);
    transfer(stream, number);
    if (number > static_cast<std::uint8_t>(last(value)))
      throw ProtocolError("message has the value " + std::to_string(number) + " where there is none");
    if constexpr (Stream::reading) value = static_cast<T>(number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    stream.raw(&value, sizeof value);
  } else if constexpr (Flat<T>) {
    const std::size_t count = transfer_count(stream, value.size(), sizeof value[0]);
    if constexpr (Stream::reading) value.resize(count);
    stream.raw(value.data(), count * sizeof value[0]);
  } else if constexpr (TupleLike<T>) {
    std::apply([&](auto&... each) { (transfer(stream, each), ...); }, value);
  } else if constexpr (std::is_empty_v<T>) {
  } else if constexpr (Struct<T>) {
    std::apply([&](auto&... each) { (transfer(stream, each), ...); }, fields(value));
  } else {
    transfer_container(stream, value);
  }
}

// ---------------------------------------------------------------- messages
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
