#include <tuner/worker/prefetching_compiler.hpp>

#include <atomic>
#include <utility>

#include <gtest/gtest.h>

namespace tuner::worker {
namespace {

class CountingCompiler : public Compiler {
 public:
  explicit CountingCompiler(std::atomic<int>& count) : count_(count) {}
  CompileResult compile(const CompileRequest& request) override {
    ++count_;
    if (request.source == "bad") return CompileError{"bad", {}};
    return Image{{}, {{request.expressions.at(0), "symbol", {}}}, {}};
  }
  std::string identity() const override { return "counting"; }

 private:
  std::atomic<int>& count_;
};

CompileRequest request(const std::string& source, const std::string& expression) {
  return {source, "k.cu", {expression}, {}, "sm_90"};
}

TEST(PrefetchingCompiler, CompilesWhatItExpectsOnceAndTheRestWhenAsked) {
  std::atomic<int> count = 0;
  PrefetchingCompiler compiler(std::make_unique<CountingCompiler>(count), {request("a", "f"), request("bad", "g")});
  EXPECT_EQ(std::get<Image>(compiler.compile(request("a", "f"))).functions.at(0).expression, "f");
  EXPECT_EQ(std::get<CompileError>(compiler.compile(request("bad", "g"))).message, "bad");
  EXPECT_EQ(count, 2);
  EXPECT_EQ(std::get<Image>(compiler.compile(request("a", "h"))).functions.at(0).expression, "h");
  EXPECT_EQ(count, 3);
  EXPECT_EQ(compiler.identity(), "counting");
}

}  // namespace
}  // namespace tuner::worker
