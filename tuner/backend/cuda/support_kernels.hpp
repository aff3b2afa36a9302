#pragma once
/// tuner's own kernels (support/*.cu, embedded as text), compiled when they are first needed.

#include <string>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/context.hpp>

namespace tuner::cuda {

extern const char* const kFillValueSource;  ///< tuner/backend/fill_value.hpp
extern const char* const kDataSource;       ///< tuner_support::fill, compare, fingerprint; follows kFillValueSource
extern const char* const kSamplingSource;   ///< tuner_support::hold, stamp, flush
extern const char* const kStreamingSource;  ///< tuner_support::read, copy

/// A loaded module of them.
class SupportKernels {
 public:
  /// In the current context. \p kernels: name expressions. Throws Error when they do not compile or load.
  SupportKernels(Compiler& compiler, const std::string& architecture, const std::string& source,
                 const std::string& file_name, std::vector<std::string> kernels);

  /// By position in \p kernels.
  CUfunction operator[](std::size_t kernel) const { return functions_[kernel]; }
  /// The handle is given up: a lost context cannot unload it.
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
