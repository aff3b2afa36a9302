#pragma once
/// Fills, compares and fingerprints device memory with tuner's own kernels (support/data.cu), on one stream of the
/// current context. Private to this folder.

#include <memory>
#include <string>

#include <tuner/backend/backend.hpp>
#include <tuner/backend/cuda/support_kernels.hpp>

namespace tuner::cuda {

/// The number of type \p type in the low bytes of \p bits.
double value_of(ElementType type, std::uint64_t bits);

class DataKernels {
 public:
  /// The result of compare() on the device; all zero at first.
  struct Found {
    std::uint64_t mismatches = 0;
    std::uint64_t inverted_first = 0;      ///< ~index of the first mismatch
    std::uint64_t largest_error_bits = 0;  ///< of a double
  };

  DataKernels(const CompileResult& compiled, CUstream stream, int sm_count);
  /// The request whose result is the constructor's \p compiled.
  static CompileRequest request(const std::string& architecture);

  // All are asynchronous. They set \p result to zero first.
  void fill(CUdeviceptr to, ElementType type, std::size_t count, const Fill& fill, std::uint64_t seed) const;
  void compare(CUdeviceptr actual, CUdeviceptr expected, ElementType type, std::size_t count,
               const Tolerance& tolerance,
               CUdeviceptr result) const;                                           ///< result: a Found
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
