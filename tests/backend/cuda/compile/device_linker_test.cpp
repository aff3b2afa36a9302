#include <tuner/backend/cuda/compile/device_linker.hpp>

#include <cstring>

#include <tests/support/temporary_folder.hpp>

#include <tests/backend/cuda/nvrtc_fixture.hpp>

namespace tuner::cuda {
namespace {

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

class DeviceLaunchCompile : public NvrtcTest {
 protected:
  void SetUp() override {
    NvrtcTest::SetUp();
    if (IsSkipped()) return;
    const auto linker = load_device_linker(nvrtc().version / 1000, device_linker_folders(nvrtc()));
    if (const auto* const missing = std::get_if<std::string>(&linker)) GTEST_SKIP() << *missing;
    linker_ = std::get<DeviceLinker>(linker);
  }

  static CompileRequest request(const std::string& source, std::vector<std::string> expressions) {
    CompileRequest request{source, "dir/mine.cu", std::move(expressions), {"TUNER=1"}, "sm_90"};
    request.device_launches = true;
    return request;
  }

  std::optional<DeviceLinker> linker_;
};

TEST_F(DeviceLaunchCompile, GivesACubinThatIsLinkedWithTheDeviceRuntime) {
  const Image linked = image(compiler_->compile(request(kHalving, {"halve<int>", "halve<double>"})));
  EXPECT_EQ(elf_type(linked.code), 2);
  for (const CompiledFunction& function : linked.functions) {
    EXPECT_THAT(text(linked), HasSubstr(".text." + function.symbol)) << "the kernel is an entry of the linked image";
    EXPECT_GT(function.resources.registers, 0);
  }
  EXPECT_EQ(linked.functions.at(1).symbol, "_Z5halveIdEvPT_i");
  EXPECT_EQ(linked.log, "");
}

TEST_F(DeviceLaunchCompile, GivesPtxForPeopleToRead) {
  const auto ptx = compile_to_ptx(nvrtc(), request(kHalving, {"halve<float>"}));
  EXPECT_THAT(std::get<std::string>(ptx), HasSubstr("_Z5halveIfEvPT_i"));
}

TEST_F(DeviceLaunchCompile, SaysWhatTheLinkerDidNotFind) {
  const CompileRequest unlinkable =
      request("extern __device__ int elsewhere(); __global__ void f(int* p) { *p = elsewhere(); }", {"f"});
  EXPECT_THAT(error(compiler_->compile(unlinkable)),
              AllOf(HasSubstr("dir/mine.cu does not link"), HasSubstr("elsewhere")));
}

TEST_F(DeviceLaunchCompile, RefusesWhatIsNoDeviceCode) {
  const std::vector<std::byte> junk(100);
  EXPECT_TRUE(std::holds_alternative<CompileError>(linker_->link(junk, "sm_90", "junk.cu")));
}

TEST_F(DeviceLaunchCompile, LeavesOtherKernelsUnlinked) {
  const Image other = image(compiler_->compile({"__global__ void f(int* p) { *p = 1; }", "f.cu", {"f"}, {}, "sm_90"}));
  EXPECT_LT(other.code.size(), 20000u) << "without the device runtime";
}

TEST_F(DeviceLaunchCompile, SaysWhereTheDeviceRuntimeWasLookedForAndWhatToInstall) {
  const testing::TemporaryFolder folder;  // has nvJitLink and nothing else
  const auto& library = linker_->library;
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
  const auto file = folder.write("libnvJitLink.so.99", "not a library");
  EXPECT_THAT(reason(99, {folder.path()}), HasSubstr(file.string()));
}

TEST(DeviceLinker, AsksForANewerToolkitWhereCudaHasNoSuchLinker) {
  EXPECT_THAT(reason(11, {}), AllOf(HasSubstr("CUDA 12 or newer"), HasSubstr("TUNER_NVRTC")));
}

}  // namespace
}  // namespace tuner::cuda
