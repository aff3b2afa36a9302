#include <tuner/backend/cuda/device_linker.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>

#include <tests/temporary_folder.hpp>
#include <tuner/backend/cuda/nvrtc_compiler.hpp>

namespace tuner::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHalving = R"(
template <typename T> __global__ void halve(T* data, int n) {
  if (threadIdx.x < n / 2) data[threadIdx.x] += data[threadIdx.x + n / 2];
  if (threadIdx.x == 0 && n > 2) halve<T><<<1, n / 4, 0, cudaStreamTailLaunch>>>(data, n / 2);
}
)";

std::string reason(int major, const std::vector<std::filesystem::path>& folders) {
  const auto result = load_device_linker(major, folders);
  const std::string* const missing = std::get_if<std::string>(&result);
  return missing != nullptr ? *missing : "it loaded";
}

/// e_type of an ELF file: 1 must still be linked, 2 can be loaded.
int elf_type(const std::vector<std::byte>& code) {
  std::uint16_t type = 0;
  if (code.size() >= 18) std::memcpy(&type, code.data() + 16, sizeof type);
  return type;
}

class DeviceLaunchCompile : public ::testing::Test {
 protected:
  void SetUp() override {
    if (find_nvrtc() == nullptr) GTEST_SKIP() << "no libnvrtc on this machine";
    const auto linker = load_device_linker(nvrtc().version / 1000, device_linker_folders(nvrtc()));
    if (const auto* const missing = std::get_if<std::string>(&linker)) GTEST_SKIP() << *missing;
    compiler_ = make_nvrtc_compiler(nvrtc());
  }

  CompileResult compile(const std::string& source, std::vector<std::string> expressions) {
    CompileRequest request{source, "dir/mine.cu", std::move(expressions), {"TUNER=1"}, "sm_90"};
    request.device_launches = true;
    return compiler_->compile(request);
  }

  std::unique_ptr<Compiler> compiler_;
};

TEST_F(DeviceLaunchCompile, GivesACubinThatIsLinkedWithTheDeviceRuntime) {
  const CompileResult result = compile(kHalving, {"halve<int>", "halve<double>"});
  ASSERT_TRUE(std::holds_alternative<Image>(result)) << std::get<CompileError>(result).message;
  const Image& image = std::get<Image>(result);
  EXPECT_EQ(elf_type(image.code), 2);
  const std::string code(reinterpret_cast<const char*>(image.code.data()), image.code.size());
  for (const CompiledFunction& function : image.functions) {
    EXPECT_THAT(code, HasSubstr(".text." + function.symbol)) << "the kernel is an entry of the linked image";
    EXPECT_GT(function.resources.registers, 0);
  }
  EXPECT_EQ(image.functions.at(1).symbol, "_Z5halveIdEvPT_i");
  EXPECT_EQ(image.log, "");
}

TEST_F(DeviceLaunchCompile, GivesPtxForPeopleToRead) {
  CompileRequest request{kHalving, "mine.cu", {"halve<float>"}, {}, "sm_90"};
  request.device_launches = true;
  const auto ptx = compile_to_ptx(nvrtc(), request);
  ASSERT_TRUE(std::holds_alternative<std::string>(ptx));
  EXPECT_THAT(std::get<std::string>(ptx), HasSubstr("_Z5halveIfEvPT_i"));
}

TEST_F(DeviceLaunchCompile, SaysWhatTheLinkerDidNotFind) {
  const CompileResult result =
      compile("extern __device__ int elsewhere(); __global__ void f(int* p) { *p = elsewhere(); }", {"f"});
  ASSERT_TRUE(std::holds_alternative<CompileError>(result));
  EXPECT_THAT(std::get<CompileError>(result).message,
              AllOf(HasSubstr("dir/mine.cu does not link"), HasSubstr("elsewhere")));
}

TEST_F(DeviceLaunchCompile, RefusesWhatIsNoDeviceCode) {
  const auto linker = load_device_linker(nvrtc().version / 1000, device_linker_folders(nvrtc()));
  const std::vector<std::byte> junk(100);
  const auto linked = std::get<DeviceLinker>(linker).link(junk, "sm_90", "junk.cu");
  EXPECT_TRUE(std::holds_alternative<CompileError>(linked));
}

TEST_F(DeviceLaunchCompile, LeavesOtherKernelsUnlinked) {
  const CompileResult result =
      compiler_->compile({"__global__ void f(int* p) { *p = 1; }", "f.cu", {"f"}, {}, "sm_90"});
  ASSERT_TRUE(std::holds_alternative<Image>(result));
  EXPECT_LT(std::get<Image>(result).code.size(), 20000u) << "without the device runtime";
}

TEST_F(DeviceLaunchCompile, SaysWhereTheDeviceRuntimeWasLookedForAndWhatToInstall) {
  const auto linker = load_device_linker(nvrtc().version / 1000, device_linker_folders(nvrtc()));
  const testing::TemporaryFolder folder;  // has nvJitLink and nothing else
  const auto& library = std::get<DeviceLinker>(linker).library;
  std::filesystem::create_symlink(library, folder / library.filename());
  EXPECT_THAT(reason(nvrtc().version / 1000, {folder.path()}),
              AllOf(HasSubstr("libcudadevrt.a was not found"), HasSubstr(folder.path().string()),
                    HasSubstr("install the CUDA toolkit"), HasSubstr("cuda-cudart-dev"), Not(HasSubstr("\n"))));
}

TEST(DeviceLinker, SaysWhichLibraryIsMissingWhereItWasLookedForAndWhatToInstall) {
  const testing::TemporaryFolder folder;
  EXPECT_THAT(reason(99, {folder.path(), "/nowhere"}),
              AllOf(HasSubstr("libnvJitLink.so.99 was not found"), HasSubstr(folder.path().string()),
                    Not(HasSubstr("/nowhere")), HasSubstr("install the CUDA toolkit"), HasSubstr("libnvjitlink-99"),
                    Not(HasSubstr("\n"))));
}

TEST(DeviceLinker, SaysSoWhenTheFileIsNoLibrary) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "libnvJitLink.so.99") << "not a library";
  EXPECT_THAT(reason(99, {folder.path()}), HasSubstr((folder / "libnvJitLink.so.99").string()));
}

TEST(DeviceLinker, AsksForANewerToolkitWhereCudaHasNoSuchLinker) {
  EXPECT_THAT(reason(11, {}), AllOf(HasSubstr("CUDA 12 or newer"), HasSubstr("TUNER_NVRTC")));
}

}  // namespace
}  // namespace tuner::cuda
