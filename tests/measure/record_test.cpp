// Buffers of structs: how they are filled and compared, and the messages about them.

#include <cstring>
#include <limits>

#include <tests/support/temporary_folder.hpp>

#include "runner_fixture.hpp"

namespace tuner {
namespace {

struct Star {
  float position[2];
  std::uint8_t bright;  // and three bytes of padding
  int id;
};

class RecordsTest : public RunnerTest {
 protected:
  RecordsTest() {
    RecordType star;
    star.fields = {{"position", ElementType::float32, 2, offsetof(Star, position), false, {}},
                   {"bright", ElementType::uint8, 1, offsetof(Star, bright), false, {}},
                   {"id", ElementType::int32, 1, offsetof(Star, id), false, FillSpec{{Fill::Kind::iota, 0, 0}}}};
    star.bytes = sizeof(Star);
    for (BufferSpec& buffer : spec.buffers) {
      buffer.type = "uint8";
      buffer.components = sizeof(Star);
      buffer.record = star;
      buffer.count = parsed("16 * n");
    }
    for (const char* const name : {"reference", "scale<32>"})
      backend.kernels[name] = [](const Launch& l) { return move(l); };
  }

  /// A correct kernel, which does not write padding.
  static std::optional<Outcome> move(const Launch& launch, int from = 0) {
    const auto* const in = argument<const Star*>(launch, 0);
    auto* const out = argument<Star*>(launch, 1);
    for (int i = from; i < argument<int>(launch, 2); ++i) {
      out[i].position[0] = in[i].position[1];
      out[i].position[1] = in[i].position[0] + 1;
      out[i].bright = in[i].bright;
      out[i].id = in[i].id - 1;  // the first one, -1, equals a poison
    }
    return std::nullopt;
  }
  /// The message about a kernel that is right except for \p change.
  template <typename Change>
  std::string failure(Change change) {
    backend.kernels["scale<32>"] = [change](const Launch& launch) {
      move(launch);
      change(argument<Star*>(launch, 1));
      return std::nullopt;
    };
    const Trial trial = evaluate();
    return trial.verified ? "verified" : std::string(message(trial.outcome));
  }
  Trial evaluate() {
    runner_ = runner();
    return RunnerTest::evaluate(*runner_, block(32));
  }

  std::unique_ptr<Runner> runner_;
};

TEST_F(RecordsTest, AreComparedWithoutTheirPadding) {
  EXPECT_EQ(failure([](Star* out) { reinterpret_cast<unsigned char*>(out)[9] = 1; }), "verified");
}

TEST_F(RecordsTest, NameTheFieldThatIsWrong) {
  EXPECT_THAT(failure([](Star* out) { out[7].id = 70; }), HasSubstr("c[7].id is 70, expected 6 (1 of 4000 elements"));
  EXPECT_THAT(failure([](Star* out) { out[7].position[1] = 9, out[8].id = 0; }),
              AllOf(HasSubstr("c[7].position[1] is 9, expected 1."), HasSubstr("tolerance"),
                    HasSubstr("(2 of 4000 elements differ)")));
  EXPECT_THAT(failure([](Star* out) { out[9].position[0] = std::numeric_limits<float>::quiet_NaN(); }),
              HasSubstr("c[9].position[0] is nan"));
}

TEST_F(RecordsTest, AllowFloatsTheirTolerance) {
  EXPECT_EQ(failure([](Star* out) { out[7].position[1] *= 1.0000001f; }), "verified");
}

TEST_F(RecordsTest, SeeWhatWasNotWritten) {
  backend.kernels["scale<32>"] = [](const Launch& launch) { return move(launch, 1); };
  EXPECT_THAT(std::string(message(evaluate().outcome)), HasSubstr("c[0].position[0] was not written"));
}

TEST_F(RecordsTest, RefuseAReferenceThatLeavesAFieldOut) {
  backend.kernels["reference"] = [](const Launch& launch) {
    const auto* const in = argument<const Star*>(launch, 0);
    auto* const out = argument<Star*>(launch, 1);
    for (int i = 0; i < argument<int>(launch, 2); ++i) {
      out[i].position[0] = out[i].position[1] = in[i].position[0];
      out[i].bright = 1;
    }
    return std::nullopt;
  };
  EXPECT_THAT(refusal(),
              HasSubstr("the reference does not write c[0].id and 999 more elements on n=1000, or adds to what was "
                        "there. Is the grid large enough, and `c` as long as "
                        "`16 * n` and of the type { float position[2]; uint8 bright; int id; }"));
}

TEST_F(RecordsTest, CompareOnlyTheElementsThatMeanSomething) {
  spec.buffers[1].compared = parsed("i != 7");
  EXPECT_EQ(failure([](Star* out) { out[7].id = 70; }), "verified");
  EXPECT_THAT(failure([](Star* out) { out[8].id = 70; }), HasSubstr("(1 of 3996 compared elements differ)"));
}

TEST_F(RecordsTest, ShowTheirOutputsFieldByField) {
  ASSERT_TRUE(evaluate().verified);
  const HostBuffers outputs = runner_->outputs();
  EXPECT_EQ(outputs.at("c.position").count, 2000u);
  EXPECT_EQ(element(outputs.at("c.id"), 5), 4);
  EXPECT_EQ(element(runner_->expected().at("c.id"), 5), 4);
}

TEST_F(RecordsTest, SeeAnUnwrittenFloatWhereThePoisonOfIntegersIsTakenForIt) {
  // The poison 0xa5a5a5a5 is -3e-16, which the tolerance takes for zero. Bytes with 0xff and 0x5a exclude the others.
  spec.verification.tolerance = Tolerance{0, 1e-6};
  const auto give = [](const Launch& launch, bool whole) {
    auto* const out = argument<Star*>(launch, 1);
    for (int i = 0; i < argument<int>(launch, 2); ++i) {
      if (whole || i != 7) out[i].position[0] = 0;
      out[i].position[1] = 0;
      out[i].bright = i % 2 == 0 ? 0xff : 0x5a;
      out[i].id = i;
    }
    return std::nullopt;
  };
  backend.kernels["reference"] = [give](const Launch& launch) { return give(launch, true); };
  backend.kernels["scale<32>"] = [give](const Launch& launch) { return give(launch, false); };
  EXPECT_THAT(std::string(message(evaluate().outcome)), HasSubstr("c[7].position[0] "));
  backend.kernels["scale<32>"] = [give](const Launch& launch) { return give(launch, true); };
  EXPECT_TRUE(evaluate().verified);
}

TEST_F(RecordsTest, HaveASecondSetOfInputsLikeOtherBuffers) {
  // Right only for the first set: it always returns the results of its first run.
  const auto seen = std::make_shared<std::vector<Star>>();
  backend.kernels["scale<32>"] = [seen](const Launch& launch) {
    if (seen->empty()) {
      move(launch);
      seen->assign(argument<Star*>(launch, 1), argument<Star*>(launch, 1) + argument<int>(launch, 2));
    }
    std::memcpy(argument<Star*>(launch, 1), seen->data(), seen->size() * sizeof(Star));
    return std::nullopt;
  };
  EXPECT_THAT(std::string(message(evaluate().outcome)),
              HasSubstr("right for the inputs it was timed with, but with others c[0].position[0] is "));
}

TEST_F(RecordsTest, AreShiftedByWholeRecords) {
  spec.verification.problems = {{{{"n", 33}}, 1}};
  std::set<std::uintptr_t> places;
  backend.kernels["scale<32>"] = [&places](const Launch& launch) {
    places.insert(reinterpret_cast<std::uintptr_t>(argument<const Star*>(launch, 0)) % 256);
    return move(launch);
  };
  EXPECT_TRUE(evaluate().verified);
  EXPECT_THAT(places, ElementsAre(0, sizeof(Star)));
}

TEST_F(RecordsTest, AreMadeAnewForEachRunOfWhatChangesThem) {
  spec.buffers.resize(1);
  spec.buffers[0].role = BufferRole::inout;
  spec.buffers[0].name = "c";
  spec.launches[0].arguments = spec.verification.reference[0].arguments = {"c", "n"};
  const auto add = [](const Launch& launch) {
    for (int i = 0; i < argument<int>(launch, 1); ++i) ++argument<Star*>(launch, 0)[i].id;
    return std::nullopt;
  };
  backend.kernels = {{"reference", add}, {"scale<32>", add}};
  EXPECT_TRUE(evaluate().verified);
  EXPECT_EQ(element(runner_->expected().at("c.id"), 5), 6);
}

TEST_F(RecordsTest, AreFilledFromAFileByBytesOrByField) {
  const testing::TemporaryFolder folder;
  spec.program.file = folder / "k.cu";
  testing::write_numbers(folder / "ids", std::vector<int>(1000, 77));
  FillSpec from_file;
  from_file.path = "ids";
  spec.buffers[0].record->fields[2].fill = from_file;
  EXPECT_TRUE(evaluate().verified);
  EXPECT_EQ(element(runner_->outputs().at("c.id"), 9), 76);

  testing::write_numbers(folder / "stars", std::vector<Star>(1000, Star{{1, 2}, 3, 4}));
  from_file.path = "stars";
  spec.buffers[0].fill = from_file;
  EXPECT_TRUE(evaluate().verified);
  EXPECT_EQ(element(runner_->outputs().at("c.id"), 9), 3);
}

TEST_F(RecordsTest, MayBeNone) {
  spec.sizes[0].default_value = 0;
  for (LaunchSpec* const launch : {&spec.launches[0], &spec.verification.reference[0]}) launch->grid[0] = parsed("1");
  EXPECT_TRUE(evaluate().verified);
}

TEST_F(RecordsTest, SayWhereAWriteOutOfBoundsIs) {
  EXPECT_THAT(failure([](Star* out) { out[1000].id = 1; }),
              HasSubstr("writes out of bounds: c[1000].id, which has 1000 elements of { float position[2]; "));
}

}  // namespace
}  // namespace tuner
