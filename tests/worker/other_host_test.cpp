// A host without the files of the kernel: its workers have what the session gives them, and nothing else.

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tests/temporary_folder.hpp>
#include <tuner/core/kernel_file.hpp>
#include <tuner/worker/isolated_evaluator.hpp>
#include <tuner/worker/link.hpp>

namespace tuner {
namespace {

namespace fs = std::filesystem;

class OtherHostTest : public ::testing::Test {
 protected:
  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }

  /// Of a kernel whose files are gone when the first worker of the other host starts; this one has no workers.
  Trial evaluated(const MeasureOptions& measure = {}) {
    const KernelSpec spec = read_kernel_file(folder_.path() / "app/kernels/scale.cu");
    IsolatedOptions options;
    options.program = "/nowhere/tuner-worker";
    options.backend = "host";
    options.devices = {0};
    options.compile_workers = 1;
    options.hosts.push_back({"elsewhere", {0}, 1, [this] {
                               fs::remove_all(folder_.path() / "app");
                               return std::make_unique<worker::WorkerProcess>(fs::path(TUNER_BINARY_DIR) /
                                                                              "bin/tuner-worker");
                             }});
    IsolatedEvaluator evaluator(spec, {}, measure, options);
    evaluator.submit(Configuration{{"block", std::int64_t{32}}}, 0);
    Trial trial = evaluator.next();
    EXPECT_FALSE(fs::exists(folder_.path() / "app"));
    return trial;
  }

  const testing::TemporaryFolder folder_;
};

constexpr const char* kScale = R"(
#include "factor.h"
#pragma tuner kernel scale
#pragma tuner size n = 64
#pragma tuner parameter block = 32 64
#pragma tuner in x[n] : float
#pragma tuner out y[n] : float
#pragma tuner fill x = file "../data/x.raw"
#pragma tuner reference file y = "../data/y.raw"
#pragma tuner grid ceil_div(n, block)
#pragma tuner block block
#pragma tuner arguments x, y, n
#pragma tuner instantiate scale<block>
template <int block> __global__ void scale(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * block + threadIdx.x);
  if (i < n) y[i] = factor() * x[i];
}
)";

std::string floats(float each) {
  std::string bytes;
  for (int i = 0; i < 64; ++i) {
    const float value = each * static_cast<float>(i);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

TEST_F(OtherHostTest, HasTheHeadersAndTheNumbersOfTheKernel) {
  write("app/kernels/scale.cu", kScale);
  write("app/kernels/factor.h", "__device__ float factor() { return 3; }\n");
  write("app/data/x.raw", floats(1));
  write("app/data/y.raw", floats(3));
  const Trial trial = evaluated();
  EXPECT_TRUE(trial.verified) << message(trial.outcome);
}

TEST_F(OtherHostTest, ComparesWithTheNumbersThatItWasGiven) {
  write("app/kernels/scale.cu", kScale);
  write("app/kernels/factor.h", "__device__ float factor() { return 3; }\n");
  write("app/data/x.raw", floats(1));
  write("app/data/y.raw", floats(2));
  EXPECT_TRUE(std::holds_alternative<WrongResult>(evaluated().outcome));
}

}  // namespace
}  // namespace tuner
