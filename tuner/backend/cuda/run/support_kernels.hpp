#pragma once
/// tuner's own kernels (support/*.cu, embedded as text). Private to this folder.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/driver/context.hpp>

namespace tuner::cuda {

struct SupportFile {
  std::string_view name, text;
};
/// fill_value.hpp and the files of support/.
std::span<const SupportFile> support_files();

/// The request that compiles \p kernels of \p file ("data.cu") for \p architecture.
CompileRequest support_request(std::string_view file, std::vector<std::string> kernels,
                               const std::string& architecture);

/// Compiles a support_request(), or loads the result of an earlier process from the user's cache folder. Otherwise a
/// worker would compile for a quarter of a second before its first run. Thread-safe.
CompileResult compile_support(Compiler& compiler, const CompileRequest& request);

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

/// Fills, compares and fingerprints device memory (support/data.cu), on one stream of the current context.
class DataKernels {
 public:
  /// The result of compare() on the device; all zero at first.
  struct RawComparison {
    std::uint64_t mismatches = 0;
    std::uint64_t inverted_first = 0;      ///< ~index of the first wrong number; an element may have several parts
    std::uint64_t largest_error_bits = 0;  ///< of a double
    std::uint64_t off = 0, less = 0, nearer = 0;
  };

  DataKernels(const CompileResult& compiled, CUstream stream, int sm_count);
  /// The request whose result is the constructor's \p compiled.
  static CompileRequest request(const std::string& architecture);

  // All are asynchronous. They set \p result to zero first.
  void fill(CUdeviceptr to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed) const;
  void compare(CUdeviceptr actual, CUdeviceptr expected, ElementType type, std::size_t count,
               const Tolerance& tolerance,
               CUdeviceptr result) const;                                           ///< result: a RawComparison
  void fingerprint(CUdeviceptr from, std::size_t bytes, CUdeviceptr result) const;  ///< result: 64 bits

  void leak() noexcept { kernels_.leak(); }

 private:
  unsigned blocks_for(std::size_t items) const;
  void zero(CUdeviceptr result, std::size_t bytes) const;

  SupportKernels kernels_;
  CUstream stream_;
  std::size_t most_blocks_;
};

}  // namespace tuner::cuda
