#pragma once
/// Links relocatable device code with CUDA's device runtime (libcudadevrt.a), so that kernels can launch kernels. Uses
/// nvJitLink (libnvJitLink.so, CUDA 12 or newer), which is found and loaded at run time. Needs no GPU. Thread-safe once
/// loaded.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tuner/backend/cuda/driver/nvrtc.hpp>
#include <tuner/core/result/outcome.hpp>

namespace tuner::cuda {

/// The functions of nvJitLink.h. They are declared here, because some packages with nvrtc.h lack that header. It would
/// also add a version to each name; the library has the names without a version too.
struct NvJitLink {
  using Handle = void*;
  int (*nvJitLinkCreate)(Handle*, unsigned options, const char** option) = nullptr;
  int (*nvJitLinkDestroy)(Handle*) = nullptr;
  int (*nvJitLinkAddData)(Handle, int type, const void* data, std::size_t bytes, const char* name) = nullptr;
  int (*nvJitLinkAddFile)(Handle, int type, const char* file) = nullptr;
  int (*nvJitLinkComplete)(Handle) = nullptr;
  int (*nvJitLinkGetErrorLogSize)(Handle, std::size_t*) = nullptr;
  int (*nvJitLinkGetErrorLog)(Handle, char*) = nullptr;
  int (*nvJitLinkGetLinkedCubinSize)(Handle, std::size_t*) = nullptr;
  int (*nvJitLinkGetLinkedCubin)(Handle, void*) = nullptr;
};

class DeviceLinker {
 public:
  /// Links \p cubin, relocatable device code for \p architecture ("sm_90"), to a cubin that can be loaded. \p name: for
  /// messages.
  std::variant<std::vector<std::byte>, CompileError> link(std::span<const std::byte> cubin,
                                                          const std::string& architecture,
                                                          const std::string& name) const;

  NvJitLink functions;
  std::filesystem::path library;         ///< the file that was loaded
  std::filesystem::path device_runtime;  ///< libcudadevrt.a
};

/// Folders that may contain the libraries that belong to \p nvrtc, best first: its own, toolkits, Python packages. They
/// need not exist.
std::vector<std::filesystem::path> device_linker_folders(const Nvrtc& nvrtc);

/// Loads nvJitLink of CUDA \p major from the first of \p folders that has it, else from the loader's search path, and
/// finds libcudadevrt.a in \p folders. On failure, a sentence: what is missing, where it was searched for, and what to
/// install.
std::variant<DeviceLinker, std::string> load_device_linker(int major,
                                                           const std::vector<std::filesystem::path>& folders);

}  // namespace tuner::cuda
