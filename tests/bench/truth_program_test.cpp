// bench/truth as people run it, on the host backend with tiny problems: what it prints and writes, not its times.

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include <tests/support/temporary_folder.hpp>
#include <tests/support/testing.hpp>

namespace tuner {
namespace {

using Json = nlohmann::json;

constexpr const char* kScale = R"(
#pragma tuner kernel scale
#pragma tuner size n : int = 512
#pragma tuner parameter block = 32 64
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner grid max(1, ceil_div(n, block))
#pragma tuner block block
#pragma tuner arguments x, y, n
#pragma tuner instantiate scale<block>
#pragma tuner default block=64
#pragma tuner reference default
#pragma tuner verify n=100
template <int block>
__global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * block + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
)";

struct Output {
  int status = -1;
  std::string text;
  bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
};

Output truth(const std::string& arguments) {
  Output output;
  FILE* const pipe = ::popen((std::string(TRUTH_PROGRAM) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.text.append(buffer.data(), n);
  const int status = ::pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

TEST(TruthProgram, MeasuresEachPartByItselfAndJoinsThem) {
  const testing::TemporaryFolder folder;
  const std::string kernel = folder.write("scale.cu", kScale).string();
  const std::string a = (folder / "a.json").string(), b = (folder / "b.json").string();
  const std::string small =
      "--device host --budget 60 --class-budget 60 --trials 2 --seeds 2 --samples 2 --draws 1 "
      "--comparisons 1 --placements 1 --problem " +
      kernel;
  const Output first = truth(small + " --part winners --part 3 --json " + a);
  EXPECT_TRUE(first.has("1. Regret of 2 winners")) << first.text;
  EXPECT_TRUE(first.has("2. Of 1 pairs of tunings")) << first.text;
  EXPECT_TRUE(first.has("3. Told over had")) << first.text;
  const Output second =
      truth(small + " --part classes --part 5 --json " + b + " --problem \"bench/data/slowed.cu n=200 steps=100\"");
  EXPECT_TRUE(second.has("4. Regret of a size class at 1 sizes")) << second.text;
  EXPECT_TRUE(second.has("5. Of 28 equal pairs")) << second.text;

  const Output joined = truth("--join " + a + " " + b);
  for (const char* number : {"\n1. ", "\n2. ", "\n3. ", "\n4. ", "\n5. "})
    EXPECT_TRUE(joined.has(number)) << joined.text;
  EXPECT_EQ(joined.status, joined.has("NOT HELD") ? 1 : 0) << joined.text;

  std::ifstream file(a);
  const Json findings = Json::parse(file).at("findings");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].at("seeds").size(), 2u);
  for (const auto& [configuration, times] : findings[0].at("replays").items())
    EXPECT_EQ(times.size(), 2u) << configuration;
  EXPECT_EQ(findings[1].at("had").size(), 4u);
}

TEST(TruthProgram, PlansWithoutMeasuring) {
  const Output plan = truth("--plan --device host --part told --problem \"reduce n=2^10\"");
  EXPECT_EQ(plan.status, 0) << plan.text;
  EXPECT_TRUE(plan.has("told: reduce n=1024\n")) << plan.text;
  EXPECT_TRUE(plan.has(" together\n")) << plan.text;
}

TEST(TruthProgram, RefusesWhatItDoesNotUnderstand) {
  const testing::TemporaryFolder folder;
  const std::string other = folder.write("other.json", "{}").string();
  for (const auto& [arguments, message] :
       {std::pair<std::string, std::string>{"--part 6", "--part 6: not a number"},
        {"--unknown", "unknown option --unknown"},
        {"--seeds", "--seeds needs a value"},
        {"--plan --problem \"reduce n\"", "n: it is NAME=VALUE"},
        {"--plan --problem \"reduce n=2^70\"", "'2^70' is too large: give at most 2^53"},
        {"--join", "--join needs files"},
        {"--join " + other, "was not written by truth --json"}}) {
    const Output output = truth(arguments);
    EXPECT_EQ(output.status, 1) << arguments;
    EXPECT_TRUE(output.has(message)) << output.text;
  }
}

}  // namespace
}  // namespace tuner
