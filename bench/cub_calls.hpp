#pragma once
/// The part of against_cub that needs nvcc: CUB's calls, and kernels that fill, flush and compare. Uses nothing of
/// tuner. All work is enqueued on the given stream; errors of the runtime throw std::runtime_error.

#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace bench {

enum class Element { int32, float32, float64, half };

/// Throws std::runtime_error with the runtime's message and \p call if \p result is an error.
void check(cudaError_t result, const char* call);

/// "3.0.1".
std::string cub_version();

/// Temporary storage that cub_sum() needs for \p n elements.
std::size_t cub_sum_bytes(Element element, std::size_t n);
/// Enqueues cub::DeviceReduce of \p n elements of device memory. \p out: one result, of the type that tuner::reduce
/// gives. Sums half in float (TransformReduce, whose loads stay vectors), all other types with Sum. Counts with 32 bits
/// where \p n fits, because CUB is fastest then.
void cub_sum(Element element, void* storage, std::size_t bytes, const void* data, std::size_t n, void* out,
             cudaStream_t stream);
/// cub::DeviceTransform: c[i] = a[i] + b[i].
void cub_add(const float* a, const float* b, float* c, std::size_t n, cudaStream_t stream);

/// Element i becomes a number that depends only on i and \p seed: multiples of 1/256 in [0, 1), for int32 in [-126,
/// 129]. Sums of 2^30 of them are exact in double and fit in int32.
void fill(Element element, void* data, std::size_t n, std::uint32_t seed, cudaStream_t stream);
/// Reads \p bytes (a multiple of 16) at \p data, which evicts the old contents of L2.
void read_all(const void* data, std::size_t bytes, cudaStream_t stream);
/// How many of \p n 32-bit words differ. Waits for \p stream.
std::uint64_t count_differences(const void* a, const void* b, std::size_t n, cudaStream_t stream);

/// An empty kernel with three parameters (two pointers and a 64-bit number), for cuLaunchKernel.
CUfunction empty_kernel();

}  // namespace bench
