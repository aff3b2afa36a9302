#pragma once
/// A fixture for tests that compile with NVRTC.

#include <variant>

#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/error.hpp>

#include <tests/support/testing.hpp>

namespace tuner::cuda {

/// Skipped without NVRTC.
class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
    compiler_ = make_nvrtc_compiler(nvrtc());
  }

  /// The message of a failed compilation; empty if it succeeded.
  static std::string error(const CompileResult& result) {
    const auto* const failed = std::get_if<CompileError>(&result);
    return failed != nullptr ? failed->message : "";
  }
  /// Throws the message of a failed compilation.
  static Image image(const CompileResult& result) {
    if (std::holds_alternative<CompileError>(result)) throw Error(error(result));
    return std::get<Image>(result);
  }
  static std::string text(const Image& image) {
    return {reinterpret_cast<const char*>(image.code.data()), image.code.size()};
  }

  /// A compiler that counts its calls of NVRTC in calls_.
  static std::unique_ptr<Compiler> counting_compiler() {
    static const Nvrtc counting = [] {
      Nvrtc table = nvrtc();
      table.nvrtcCompileProgram = [](nvrtcProgram program, int count, const char* const* options) {
        ++calls_;
        return nvrtc().nvrtcCompileProgram(program, count, options);
      };
      return table;
    }();
    return make_nvrtc_compiler(counting);
  }

  static inline int calls_ = 0;
  std::unique_ptr<Compiler> compiler_;
};

}  // namespace tuner::cuda
