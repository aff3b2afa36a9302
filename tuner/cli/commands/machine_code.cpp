#include <tuner/cli/commands/machine_code.hpp>

#include <algorithm>
#include <filesystem>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tuner/backend/cuda/compile/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/driver/architecture.hpp>
#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/backend/host/compile/process.hpp>
#include <tuner/backend/traits.hpp>
#include <tuner/core/values/program_path.hpp>
#include <tuner/error.hpp>
#include <tuner/measure/expressions.hpp>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const CompileError& error) { throw Error(fmt::format("{}\n{}", error.message, error.log)); }

/// A program of the toolkit: on the PATH, or in the `bin` beside the folder that NVRTC was loaded from. Empty: absent.
fs::path toolkit_program(const char* name) {
  if (const fs::path found = find_program(name); !found.empty()) return found;
  fs::path folder = cuda::nvrtc().library;
  for (int up = 0; up < 4 && folder.has_relative_path(); ++up) {
    folder = folder.parent_path();
    if (const fs::path found = find_program((folder / "bin" / name).string()); !found.empty()) return found;
  }
  return {};
}

/// A file without a name that holds \p code, for programs that read files.
class MemoryFile {
 public:
  explicit MemoryFile(const std::vector<std::byte>& code) : file_(::memfd_create("cubin", MFD_CLOEXEC)) {
    for (std::size_t done = 0; file_ >= 0 && done < code.size();) {
      const ssize_t now = ::write(file_, code.data() + done, code.size() - done);
      if (now <= 0) throw Error("there is no memory for the machine code");
      done += static_cast<std::size_t>(now);
    }
  }
  ~MemoryFile() { ::close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_); }

 private:
  int file_;
};

}  // namespace

Device device_of(const std::string& architecture) {
  Device device;
  device.key.backend = kCudaBackend;
  device.name = architecture;
  device.limits = cuda::limits_of_architecture(architecture);
  device.key.compute_capability = device.limits.compute_capability;
  return device;
}

CompileRequest code_request(const KernelSpec& spec, const ProblemSize& size, const DeviceLimits& limits,
                            const std::string& architecture, const Configuration& configuration) {
  CompileRequest request = compile_request(spec, size, limits, architecture, configuration, architecture);
  const cuda::Nvrtc& nvrtc = cuda::nvrtc();
  const auto& known = nvrtc.architectures;
  if (std::find(known.begin(), known.end(), limits.compute_capability) != known.end()) return request;
  throw Error(fmt::format("{} does not compile for {}; set TUNER_NVRTC to one that does", nvrtc.library.string(),
                          architecture));
}

Image machine_code(const CompileRequest& request) {
  CompileResult result = cuda::make_nvrtc_compiler(cuda::nvrtc())->compile(request);
  if (const auto* const error = std::get_if<CompileError>(&result)) fail(*error);
  return std::get<Image>(std::move(result));
}

std::string ptx(const CompileRequest& request) {
  auto result = cuda::compile_to_ptx(cuda::nvrtc(), request, {.line_info = true});
  if (const auto* const error = std::get_if<CompileError>(&result)) fail(*error);
  return std::get<std::string>(std::move(result));
}

std::string sass(const CompileRequest& request) {
  const Image image = machine_code(request);
  std::vector<std::string> command;
  if (const fs::path nvdisasm = toolkit_program("nvdisasm"); !nvdisasm.empty())
    command = {nvdisasm.string(), "--print-code"};
  else if (const fs::path cuobjdump = toolkit_program("cuobjdump"); !cuobjdump.empty())
    command = {cuobjdump.string(), "--dump-sass"};
  else
    throw Error(
        "machine code needs nvdisasm or cuobjdump, which are not on the PATH nor in the CUDA toolkit: install "
        "cuda-nvdisasm or cuda-cuobjdump; --ptx needs neither");
  const MemoryFile file(image.code);
  command.push_back(file.path());
  const host::ProcessResult ran = host::run_process(command, {.timeout_s = 60});
  if (ran.exit_code != 0) throw Error(fmt::format("{} failed: {}{}", command[0], ran.error, ran.output));
  return ran.output;
}

}  // namespace tuner::cli
