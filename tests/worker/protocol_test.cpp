#include <tuner/worker/protocol.hpp>

#include <cmath>
#include <cstring>

#include <tests/support/testing.hpp>

namespace tuner::worker {
namespace {

/// One of each kind, with every member set.
std::vector<Message> samples() {
  Configuration configuration{{"block", 32}, {"cache", "plain"}, {"unroll", true}};
  Image image{{std::byte{1}, std::byte{2}}, {{"f<1>", "_Z1f", {32, 4, 8, 16, 24, 2, 0.5}}}, "warning"};
  Device device;
  device.key = {"cuda", 90, 132, 1 << 20, 6144, 232448, 65536, ""};
  device.limits.max_grid = {7, 8, 9};
  device.environment = {"13.0", "nvrtc 13.0"};
  device.name = "H200";
  Open open;
  open.role = Role::run;
  open.backend = "cuda";
  open.gpus = {80, 90};
  open.device = 3;
  open.source = "text";
  open.file_name = "k.cu";
  open.size = {{{"n", 5}}, {{"T", "float"}}};
  open.measure.target_width = 0.25;
  open.measure.metrics = {"ipc", "energy"};
  open.measure.metrics_for_all = true;
  Trial measured;
  measured.configuration = configuration;
  Measurement measurement;
  measurement.samples_ns = {1, 2, 3};
  measurement.median_ns = 2;
  measurement.metrics = {{"energy", 0.5}};
  measurement.no_metrics = "not permitted";
  measured.outcome = measurement;
  measured.resources = Resources{};
  measured.verified = true;
  measured.times.load = 0.25;
  Trial failed;
  failed.outcome = CompileError{"no", "log"};
  Trial slow;
  slow.outcome = Timeout{"hangs"};
  Trial invalid;
  invalid.outcome = Invalid{"limit"};
  return {
      open,
      Prepare{image},
      Prepare{},
      Compile{{"text", "k.cu", {"f<1>"}, {"A=1"}, "sm_90", {}, {}, true, {}, true, {{"-G", {"k.cu", 3, 4}}}, {"B=3"}}},
      Evaluate{configuration, image, 12.5},
      LaunchOnce{configuration, image},
      Remeasure{{configuration}, {image}, 1.5, {configuration}, 2},
      Quit{},
      Opened{device, "nvrtc"},
      Prepared{},
      Failed{"no device", true, ErrorCode::context_lost},
      PhaseReport{Phase::measure, 2.5, true},
      CompileAnswer{image, 0.5},
      CompileAnswer{CompileError{"no", "log"}, 0.5},
      Recall{},
      Ran{{measured}, true},
      Ran{{slow}, false},
      Ran{{measured, failed, invalid}, true},
      Warning{"CXX is not used"},
      Recall{true},
      Hurry{},
      Beat{0.25},
      LastWords{11}};
}

Message passed_on(const Message& message) {
  Decoder decoder;
  decoder.feed(encode(message));
  return decoder.next().value();
}

TEST(Protocol, CarriesEveryMessageUnchanged) {
  for (const Message& message : samples()) {
    const Message back = passed_on(message);
    EXPECT_EQ(back.index(), message.index());
    EXPECT_EQ(encode(back), encode(message));
  }
  const Message trials = passed_on(samples()[15]), open = passed_on(samples()[0]);
  const Trial& trial = std::get<Ran>(trials).trials.at(0);
  EXPECT_EQ(trial.configuration.text(), "block=32 cache=plain unroll=true");
  ASSERT_NE(trial.measurement(), nullptr);
  EXPECT_EQ(trial.measurement()->samples_ns, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(trial.measurement()->metrics.at("energy"), 0.5);
  EXPECT_EQ(trial.measurement()->no_metrics, "not permitted");
  EXPECT_TRUE(trial.verified);
  EXPECT_EQ(trial.times.load, 0.25);
  EXPECT_EQ(std::get<Open>(open).measure.metrics, (std::vector<std::string>{"ipc", "energy"}));
  EXPECT_TRUE(std::get<Open>(open).measure.metrics_for_all);
}

TEST(Protocol, AcceptsMessagesInPiecesOfAnySize) {
  std::vector<std::byte> stream;
  for (const Message& message : samples()) {
    const auto bytes = encode(message);
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  for (const std::size_t piece : {1u, 7u, 64u}) {
    Decoder decoder;
    std::size_t count = 0;
    for (std::size_t i = 0; i < stream.size(); i += piece) {
      decoder.feed(std::span(stream).subspan(i, std::min(piece, stream.size() - i)));
      while (decoder.next()) ++count;
    }
    EXPECT_EQ(count, samples().size());
  }
}

TEST(Protocol, NamesTheVersionsWhenTheyDiffer) {
  auto bytes = encode(Quit{});
  bytes[4] = std::byte{kProtocolVersion + 1};
  Decoder decoder;
  decoder.feed(bytes);
  EXPECT_THAT(error_of([&] { decoder.next(); }), HasSubstr("version " + std::to_string(kProtocolVersion + 1)));
}

TEST(Protocol, RejectsBadMagicTypesAndLengths) {
  const auto with = [](std::size_t at, auto value) {
    auto bytes = encode(Failed{"text", false, {}});
    std::memcpy(bytes.data() + at, &value, sizeof value);
    Decoder decoder;
    decoder.feed(bytes);
    return decoder.next();
  };
  EXPECT_THROW(with(0, std::uint32_t{0}), ProtocolError);
  EXPECT_THROW(with(6, std::uint16_t{99}), ProtocolError);
  EXPECT_THROW(with(8, kMaxMessageBytes + 1), ProtocolError);
  EXPECT_THROW(with(8, std::uint64_t{3}), ProtocolError) << "ends early";
  EXPECT_THROW(with(16, std::uint64_t{1} << 60), ProtocolError) << "a text longer than its message";
  EXPECT_THROW(with(28, std::uint8_t{7}), ProtocolError) << "a truth value of 7";
  auto longer = encode(Quit{});
  longer[8] = std::byte{1};
  longer.push_back(std::byte{0});
  Decoder decoder;
  decoder.feed(longer);
  EXPECT_THROW(decoder.next(), ProtocolError) << "bytes too many";
}

}  // namespace
}  // namespace tuner::worker
