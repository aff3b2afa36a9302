#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include <tests/support/gpu_fixture.hpp>

/// A fault or a hang destroys the context, so each happens in a separate process: this program again, with one
/// DISABLED_ test that prints its result and calls _exit (a normal exit may wait for the hanging kernel).

namespace tuner::cuda {
namespace {

std::string output_of(const std::string& test) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) return "cannot find this program";
  const std::string command = "timeout 60 '" + std::string(path.data(), static_cast<std::size_t>(length)) +
                              "' --gtest_also_run_disabled_tests --gtest_filter='GpuFaultsChild.DISABLED_" + test +
                              "' 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot start a process";
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), read);
  ::pclose(pipe);
  return output;
}

constexpr const char* kFaulty = R"(
__global__ void wild(int* address) { *address = 1; }
__global__ void misaligned(char* data) { *reinterpret_cast<double*>(data + 1) = 1; }
__global__ void trap() { __trap(); }
__global__ void hang(volatile int* flag) { while (*flag == 0) {} }
)";

class GpuFaultsChild : public GpuTest {
 protected:
  [[noreturn]] static void say(const std::string& what) {
    std::string after = "later calls work";
    try {
      backend().allocate(4);
    } catch (const Error& error) {
      after = std::string("later: ") + error.what();
    }
    std::cout << "SAW " << what << " usable=" << backend().usable() << ' ' << after << std::endl;
    ::_exit(0);
  }
  [[noreturn]] static void run_and_say(const Launch& work, double timeout_s) {
    const std::string first = run(work, timeout_s);
    say(first + " / again: " + run(work, timeout_s));
  }
};

TEST_F(GpuFaultsChild, DISABLED_IllegalAddress) {
  const auto module = load(kFaulty, {"wild"});
  run_and_say(launch(*module, 0, 1, 1, {Argument::of(std::uint64_t{0x123456780000})}), 10);
}

TEST_F(GpuFaultsChild, DISABLED_Misaligned) {
  const auto module = load(kFaulty, {"misaligned"});
  const auto memory = backend().allocate(64);
  run_and_say(launch(*module, 0, 1, 1, {Argument::of(memory->address())}), 10);
}

TEST_F(GpuFaultsChild, DISABLED_Trap) {
  const auto module = load(kFaulty, {"trap"});
  run_and_say(launch(*module, 0, 1, 1, {}), 10);
}

TEST_F(GpuFaultsChild, DISABLED_TrapWhileSampled) {
  const auto module = load(kFaulty, {"trap"});
  const Launch work = launch(*module, 0, 1, 1, {});
  const SampleResult result = backend().sample({&work, 1}, {});
  const LaunchError* error = std::get_if<LaunchError>(&result);
  say(error != nullptr ? error->message : "no error");
}

TEST_F(GpuFaultsChild, DISABLED_Hang) {
  const auto module = load(kFaulty, {"hang"});
  const auto flag = backend().allocate(4);
  backend().fill_bytes(flag->address(), 0, 4);
  run_and_say(launch(*module, 0, 1, 1, {Argument::of(flag->address())}), 0.2);
}

TEST_F(GpuFaultsChild, DISABLED_DestroyAfterHang) {
  auto own = make_cuda_backend();
  const CompileResult compiled = own->compiler().compile({kFaulty, "test.cu", {"hang"}, {}, own->architecture()});
  auto loaded = own->load(std::get<Image>(compiled));
  auto module = std::get<std::unique_ptr<Module>>(std::move(loaded));
  auto flag = own->allocate(4);
  own->fill_bytes(flag->address(), 0, 4);
  const Launch work = launch(*module, 0, 1, 1, {Argument::of(flag->address())});
  const std::string first = failure(own->run({&work, 1}, 0.2));
  flag.reset();
  module.reset();
  own.reset();
  std::cout << "SAW " << first << " and destroyed everything" << std::endl;
  ::_exit(0);
}

class GpuFaults : public GpuTest {};

TEST_F(GpuFaults, AnIllegalAddressIsALaunchErrorAndEndsTheBackend) {
  EXPECT_THAT(output_of("IllegalAddress"),
              AllOf(HasSubstr("SAW launch: the kernel faulted: CUDA_ERROR_ILLEGAL_ADDRESS"), HasSubstr("usable=0"),
                    HasSubstr("again: launch: the context of"), HasSubstr("later: the context of")));
}

TEST_F(GpuFaults, AMisalignedAddressIsALaunchError) {
  EXPECT_THAT(output_of("Misaligned"), AllOf(HasSubstr("CUDA_ERROR_MISALIGNED_ADDRESS"), HasSubstr("usable=0")));
}

TEST_F(GpuFaults, ATrapIsALaunchErrorWhenRunAndWhenSampled) {
  EXPECT_THAT(output_of("Trap"),
              AllOf(HasSubstr("SAW launch: the kernel faulted: CUDA_ERROR_"), HasSubstr("usable=0")));
  EXPECT_THAT(output_of("TrapWhileSampled"),
              AllOf(HasSubstr("SAW the kernel faulted: CUDA_ERROR_"), HasSubstr("usable=0")));
}

TEST_F(GpuFaults, AHangIsATimeoutAndEndsTheBackend) {
  EXPECT_THAT(output_of("Hang"), AllOf(HasSubstr("SAW timeout: still running after 0.2"), HasSubstr("usable=0")));
}

TEST_F(GpuFaults, DestroyingWhatAHangingKernelUsesDoesNotWaitForIt) {
  EXPECT_THAT(output_of("DestroyAfterHang"), HasSubstr("SAW timeout: still running after 0.2"));
}

}  // namespace
}  // namespace tuner::cuda
