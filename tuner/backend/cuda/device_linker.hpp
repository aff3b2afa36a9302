#pragma once
/// Links what NVRTC compiled as relocatable device code with CUDA's device runtime, so that its kernels can launch
/// kernels: nvJitLink (libnvJitLink.so, CUDA 12 or newer), found and loaded at run time, and libcudadevrt.a, which it
/// reads. Needs no GPU. Thread-safe once loaded.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/core/outcome.hpp>

namespace tuner::cuda {

/// nvJitLink.h's functions. Written out, because the header is not in every package that has NVRTC's, and there turns
/// the names into those of one version; the library has them without a version too.
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
  /// \p cubin of relocatable device code for \p architecture ("sm_90"), linked: a cubin that loads. \p name is used in
  /// messages.
  std::variant<std::vector<std::byte>, CompileError> link(std::span<const std::byte> cubin,
                                                          const std::string& architecture,
                                                          const std::string& name) const;

  NvJitLink functions;
  std::filesystem::path library;         ///< the file that was loaded
  std::filesystem::path device_runtime;  ///< libcudadevrt.a
};

/// Folders where the libraries that belong to \p nvrtc may lie, best first: beside it, toolkits, Python packages. They
/// need not exist.
std::vector<std::filesystem::path> device_linker_folders(const Nvrtc& nvrtc);

/// nvJitLink and libcudadevrt.a of CUDA \p major from the first of \p folders that have them, nvJitLink from the
/// loader's own path otherwise; or in one sentence what is missing, where it was looked for and what to install.
std::variant<DeviceLinker, std::string> load_device_linker(int major,
                                                           const std::vector<std::filesystem::path>& folders);

}  // namespace tuner::cuda
