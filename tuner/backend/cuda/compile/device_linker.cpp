#include <tuner/backend/cuda/compile/device_linker.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace tuner::cuda {
namespace {

namespace fs = std::filesystem;

// nvJitLinkInputType of nvJitLink.h.
constexpr int kCubinInput = 1;
constexpr int kLibraryInput = 6;
constexpr int kLinked = 0;  // nvJitLinkResult

constexpr const char* kDeviceRuntime = "libcudadevrt.a";

std::string listed_folders(const std::vector<fs::path>& folders) {
  std::string text;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) text += (text.empty() ? "" : ", ") + folder.string();
  }
  return text.empty() ? "no folder of a CUDA toolkit" : text;
}

/// Fills in \p table. Returns why \p file cannot be used; empty: it can.
std::string bind_linker(const fs::path& file, NvJitLink& table) {
  Library library(file);
  if (!library) return library.error();
  TUNER_REQUIRE(nvJitLinkCreate)
  TUNER_REQUIRE(nvJitLinkDestroy)
  TUNER_REQUIRE(nvJitLinkAddData)
  TUNER_REQUIRE(nvJitLinkAddFile)
  TUNER_REQUIRE(nvJitLinkComplete)
  TUNER_REQUIRE(nvJitLinkGetErrorLogSize)
  TUNER_REQUIRE(nvJitLinkGetErrorLog)
  TUNER_REQUIRE(nvJitLinkGetLinkedCubinSize)
  TUNER_REQUIRE(nvJitLinkGetLinkedCubin)
  return library.missing().empty() ? "" : file.string() + ": is not nvJitLink";
}

std::string linker_missing(const std::string& what, const std::string& where, const std::string& packages) {
  return "a kernel that launches kernels is linked by CUDA's nvJitLink with libcudadevrt.a: " + what + "; looked in " +
         where + "; install the CUDA toolkit, or only " + packages;
}

}  // namespace

std::variant<std::vector<std::byte>, CompileError> DeviceLinker::link(std::span<const std::byte> cubin,
                                                                      const std::string& architecture,
                                                                      const std::string& name) const {
  const std::string option = "-arch=" + architecture;
  const char* options[] = {option.c_str()};
  NvJitLink::Handle handle = nullptr;
  const bool linked =
      functions.nvJitLinkCreate(&handle, 1, options) == kLinked &&
      functions.nvJitLinkAddData(handle, kCubinInput, cubin.data(), cubin.size(), name.c_str()) == kLinked &&
      functions.nvJitLinkAddFile(handle, kLibraryInput, device_runtime.c_str()) == kLinked &&
      functions.nvJitLinkComplete(handle) == kLinked;
  const auto destroy = [this](NvJitLink::Handle job) { functions.nvJitLinkDestroy(&job); };
  const std::unique_ptr<void, decltype(destroy)> owner(handle, destroy);
  std::size_t size = 0;
  if (linked && functions.nvJitLinkGetLinkedCubinSize(handle, &size) == kLinked) {
    std::vector<std::byte> code(size);
    if (functions.nvJitLinkGetLinkedCubin(handle, code.data()) == kLinked && !code.empty()) return code;
  }
  std::string log;
  if (handle != nullptr && functions.nvJitLinkGetErrorLogSize(handle, &size) == kLinked) {
    log.resize(size);
    if (size > 0 && functions.nvJitLinkGetErrorLog(handle, log.data()) != kLinked) log.clear();
  }
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  const std::string first = log.substr(0, log.find('\n'));
  return CompileError{
      name + " does not link with " + device_runtime.string() + ": " + (first.empty() ? "nvJitLink failed" : first),
      std::move(log)};
}

std::vector<fs::path> device_linker_folders(const Nvrtc& nvrtc) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const fs::path& file : {nvrtc.library, fs::canonical(nvrtc.library, ignored)}) {
    const fs::path folder = file.parent_path();
    if (folder.empty()) continue;
    // Its own folder, and those of the Python packages of CUDA 12, which have a folder for each library.
    for (const fs::path& one : {folder, folder / "../../nvjitlink/lib", folder / "../../cuda_runtime/lib"}) {
      const fs::path plain = one.lexically_normal();
      if (std::find(folders.begin(), folders.end(), plain) == folders.end()) folders.push_back(plain);
    }
  }
  for (const fs::path& toolkit : toolkit_folders()) {
    for (const char* const folder : kLibraryFolders) folders.push_back(toolkit / folder);
  }
  folders.emplace_back("/usr/local/lib");
  folders.emplace_back("/usr/lib/x86_64-linux-gnu");
  folders.emplace_back("/usr/lib/aarch64-linux-gnu");
  return folders;
}

std::variant<DeviceLinker, std::string> load_device_linker(int major, const std::vector<fs::path>& folders) {
  if (major < 12) {
    return "a kernel that launches kernels needs NVRTC of CUDA 12 or newer, not of CUDA " + std::to_string(major) +
           ": install a newer CUDA toolkit, or set TUNER_NVRTC to one";
  }
  DeviceLinker linker;
  std::error_code ignored;
  const std::string name = "libnvJitLink.so." + std::to_string(major);
  std::string reason;
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder / name, ignored)) continue;
    reason = bind_linker(folder / name, linker.functions);
    if (!reason.empty()) continue;
    linker.library = folder / name;
    break;
  }
  if (linker.library.empty() && bind_linker(name, linker.functions).empty()) linker.library = name;
  const std::string version = std::to_string(major);
  if (linker.library.empty()) {
    return linker_missing(reason.empty() ? name + " was not found" : reason, listed_folders(folders),
                          "libnvjitlink-" + version + "-0 or later (Python: nvidia-nvjitlink)");
  }
  std::vector<fs::path> places = folders;
  if (linker.library.has_parent_path()) places.insert(places.begin(), linker.library.parent_path());
  for (const fs::path& folder : places) {
    if (!fs::exists(folder / kDeviceRuntime, ignored)) continue;
    linker.device_runtime = folder / kDeviceRuntime;
    return linker;
  }
  return linker_missing(std::string(kDeviceRuntime) + " was not found", listed_folders(places),
                        "cuda-cudart-dev-" + version + "-0 or later (Python: nvidia-cuda-runtime)");
}

}  // namespace tuner::cuda
