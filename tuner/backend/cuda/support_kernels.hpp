#pragma once
/// tuner's own kernels (support/*.cu, embedded as text).

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/context.hpp>

namespace tuner::cuda {

struct SupportFile {
  std::string_view name, text;
};
/// fill_value.hpp and the files of support/.
std::span<const SupportFile> support_files();

/// The request that compiles \p kernels of \p file ("data.cu") for \p architecture.
CompileRequest support_request(std::string_view file, std::vector<std::string> kernels,
                               const std::string& architecture);

/// A loaded module of support kernels.
class SupportKernels {
 public:
  /// In the current context. Throws Error if they did not compile or do not load.
  explicit SupportKernels(const CompileResult& compiled);

  /// By position in CompileRequest::expressions.
  CUfunction operator[](std::size_t kernel) const { return functions_[kernel]; }
  /// Drops the module: a lost context cannot unload it.
  void leak() noexcept { (void)module_.release(); }

 private:
  UniqueModule module_;
  std::vector<CUfunction> functions_;
};

/// Launches a one-dimensional grid in the current context. Argument types must be the kernel's own.
template <typename... Arguments>
void launch_support(CUfunction function, unsigned blocks, unsigned threads, CUstream stream, Arguments... arguments) {
  void* pointers[] = {&arguments...};
  check(driver().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, nullptr), "cuLaunchKernel");
}

}  // namespace tuner::cuda
