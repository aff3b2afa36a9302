#pragma once
/// What against_cub needs of nvcc: CUB's own calls, and kernels that fill, flush and compare. Nothing of tuner in here.
/// Everything is enqueued on the given stream; errors of the runtime are thrown as std::runtime_error.

#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace bench {

enum class Element { int32, float32, float64, half };

/// Throws std::runtime_error with the runtime's message and \p call unless \p result is success.
void check(cudaError_t result, const char* call);

/// "3.0.1".
std::string cub_version();

/// Temporary storage that cub_sum() needs for \p n elements.
std::size_t cub_sum_bytes(Element element, std::size_t n);
/// cub::DeviceReduce of \p n elements of device memory into one result at \p out, of the type that tuner::reduce gives:
/// half is summed in float (TransformReduce, whose loads stay vectors), the rest by Sum. Counts in 32 bits where they
/// fit, as CUB is fastest then.
void cub_sum(Element element, void* storage, std::size_t bytes, const void* data, std::size_t n, void* out,
             cudaStream_t stream);
/// cub::DeviceTransform: c[i] = a[i] + b[i].
void cub_add(const float* a, const float* b, float* c, std::size_t n, cudaStream_t stream);

/// Element i becomes a number that depends on i and \p seed only: multiples of 1/256 in [0, 1), for int32 in
/// [-126, 129]. Sums of 2^30 of them are exact in double and fit in int32.
void fill(Element element, void* data, std::size_t n, std::uint32_t seed, cudaStream_t stream);
/// Reads \p bytes (a multiple of 16) at \p data, which evicts what L2 held.
void read_all(const void* data, std::size_t bytes, cudaStream_t stream);
/// How many of \p n 32-bit words differ. Waits for \p stream.
std::uint64_t count_differences(const void* a, const void* b, std::size_t n, cudaStream_t stream);

/// A kernel that does nothing with its three parameters (two pointers and a 64-bit number), for cuLaunchKernel.
CUfunction empty_kernel();

}  // namespace bench
