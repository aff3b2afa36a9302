#pragma once
/// Headers of CUDA's libraries, tools and samples, and of the programs around kernels. Their functions run on the host,
/// so no kernel needs them.

#include <algorithm>
#include <string_view>

namespace tuner {

/// Both compilers find them with program_header_text(), unless the author has a file of that name.
inline constexpr std::string_view kProgramHeaders =
    "ATen/ATen.h ATen/cuda/CUDAApplyUtils.cuh ATen/cuda/CUDAContext.h ATen/cuda/Exceptions.h GL/freeglut.h GL/gl.h "
    "GL/glew.h GL/glext.h GL/glu.h GL/glut.h GLFW/glfw3.h Python.h c10/cuda/CUDAException.h c10/cuda/CUDAGuard.h "
    "c10/cuda/CUDAStream.h cub/device/device_adjacent_difference.cuh cub/device/device_copy.cuh "
    "cub/device/device_for.cuh cub/device/device_histogram.cuh cub/device/device_memcpy.cuh "
    "cub/device/device_merge.cuh cub/device/device_merge_sort.cuh cub/device/device_partition.cuh "
    "cub/device/device_radix_sort.cuh cub/device/device_reduce.cuh cub/device/device_run_length_encode.cuh "
    "cub/device/device_scan.cuh cub/device/device_segmented_radix_sort.cuh cub/device/device_segmented_reduce.cuh "
    "cub/device/device_segmented_sort.cuh cub/device/device_select.cuh cub/device/device_transform.cuh cublas.h "
    "cublasLt.h cublasXt.h cublas_api.h cublas_v2.h cudaProfiler.h cuda_gl_interop.h cuda_profiler_api.h cudnn.h "
    "cufft.h cufftXt.h curand.h cusolverDn.h cusolverSp.h cusolver_common.h cusparse.h cusparse_v2.h "
    "driver_functions.h gtest/gtest.h helper_cuda.h helper_functions.h helper_gl.h helper_image.h helper_string.h "
    "helper_timer.h mpi.h nccl.h npp.h nppi.h nvToolsExt.h nvToolsExtCuda.h nvml.h nvtx3/nvToolsExt.h "
    "nvtx3/nvToolsExtCuda.h nvtx3/nvtx3.hpp opencv2/core.hpp opencv2/core/core.hpp opencv2/highgui.hpp "
    "opencv2/highgui/highgui.hpp opencv2/imgcodecs.hpp opencv2/imgproc.hpp opencv2/imgproc/imgproc.hpp "
    "opencv2/opencv.hpp pybind11/pybind11.h thrust/addressof.h thrust/adjacent_difference.h thrust/advance.h "
    "thrust/allocate_unique.h thrust/binary_search.h thrust/complex.h thrust/copy.h thrust/count.h "
    "thrust/device_allocator.h thrust/device_delete.h thrust/device_free.h thrust/device_make_unique.h "
    "thrust/device_malloc.h thrust/device_malloc_allocator.h thrust/device_new.h thrust/device_new_allocator.h "
    "thrust/device_ptr.h thrust/device_reference.h thrust/device_vector.h thrust/equal.h thrust/execution_policy.h "
    "thrust/extrema.h thrust/fill.h thrust/find.h thrust/for_each.h thrust/functional.h thrust/gather.h "
    "thrust/generate.h thrust/host_vector.h thrust/inner_product.h thrust/logical.h thrust/memory.h thrust/merge.h "
    "thrust/mismatch.h thrust/pair.h thrust/partition.h thrust/per_device_resource.h thrust/random.h thrust/reduce.h "
    "thrust/remove.h thrust/replace.h thrust/reverse.h thrust/scan.h thrust/scatter.h thrust/sequence.h "
    "thrust/set_operations.h thrust/shuffle.h thrust/sort.h thrust/swap.h thrust/system_error.h thrust/tabulate.h "
    "thrust/transform.h thrust/transform_reduce.h thrust/transform_scan.h thrust/tuple.h thrust/uninitialized_copy.h "
    "thrust/uninitialized_fill.h thrust/unique.h thrust/universal_allocator.h thrust/universal_ptr.h "
    "thrust/universal_vector.h thrust/zip_function.h torch/all.h torch/extension.h torch/script.h "
    "torch/serialize/tensor.h torch/torch.h torch/types.h torch/version.h";

/// The types of the library that programs name beside their kernels; empty for other headers. Those of PyTorch come by
/// using-directives, so that types of the author in the same namespaces hide them.
inline std::string_view program_header_text(std::string_view name) {
  for (const std::string_view folder : {"ATen/", "THC/", "c10/", "torch/"})
    if (name.starts_with(folder))
      return "#ifndef TUNER_TORCH\n#define TUNER_TORCH\n"
             "namespace __tuner_c10 {\nstruct Half { unsigned short x; };\nstruct BFloat16 { unsigned short x; };\n"
             "class Device;\n}\nnamespace __tuner_at {\nclass Tensor;\n}\n"
             "namespace c10 {\nusing namespace ::__tuner_c10;\nnamespace cuda {}\n}\n"
             "namespace at {\nusing namespace ::c10;\nusing namespace ::__tuner_at;\n"
             "namespace cuda {}\nnamespace native {}\n}\n"
             "namespace torch {\nusing namespace ::at;\n}\n#endif\n";
  if (name.starts_with("cublas"))  // its own headers bring half
    return "#pragma once\n#if (defined(TUNER_HOST) || defined(__TUNER_NVCC)) && __has_include(<cuda_fp16.h>)\n"
           "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#endif\ntypedef struct cublasContext* cublasHandle_t;\n"
           "typedef struct cublasLtContext* cublasLtHandle_t;\n"
           "typedef int cublasStatus_t, cublasOperation_t, cublasComputeType_t, cublasGemmAlgo_t, cublasMath_t;\n";
  if (name == "cudnn.h") return "#pragma once\ntypedef struct cudnnContext* cudnnHandle_t;\n";
  if (name.starts_with("cusparse"))
    return "#pragma once\ntypedef struct cusparseContext* cusparseHandle_t;\ntypedef int cusparseStatus_t;\n";
  if (name.starts_with("cusolver"))
    return "#pragma once\ntypedef struct cusolverDnContext* cusolverDnHandle_t;\ntypedef int cusolverStatus_t;\n";
  if (name == "curand.h") return "#pragma once\ntypedef struct curandGenerator_st* curandGenerator_t;\n";
  if (name.starts_with("cufft"))
    return "#pragma once\ntypedef int cufftHandle, cufftResult;\ntypedef float cufftReal;\ntypedef double "
           "cufftDoubleReal;\n"
           "typedef float2 cufftComplex;\ntypedef double2 cufftDoubleComplex;\n";
  if (name.starts_with("GL"))
    return "#pragma once\ntypedef unsigned int GLuint, GLenum, GLbitfield;\ntypedef int GLint, GLsizei;\n"
           "typedef float GLfloat;\ntypedef double GLdouble;\ntypedef unsigned char GLubyte, GLboolean;\n"
           "typedef void GLvoid;\nstruct GLFWwindow;\n";
  if (name == "cuda_gl_interop.h")
    return "#pragma once\ntypedef struct cudaGraphicsResource* cudaGraphicsResource_t;\n";
  if (name == "thrust/pair.h")
    return "#pragma once\n#include <utility>\nnamespace thrust {\nusing std::make_pair;\nusing std::pair;\n}\n";
  if (name == "thrust/tuple.h")
    return "#pragma once\n#include <tuple>\nnamespace thrust {\nusing std::get;\nusing std::make_tuple;\n"
           "using std::tie;\nusing std::tuple;\n}\n";
  if (name == "thrust/swap.h") return "#pragma once\n#include <utility>\nnamespace thrust {\nusing std::swap;\n}\n";
  if (name == "thrust/complex.h")
    return "#pragma once\n#include <complex>\nnamespace thrust {\n"
           "using std::abs; using std::arg; using std::complex; using std::conj; using std::cos; using std::cosh;\n"
           "using std::exp; using std::log; using std::log10; using std::norm; using std::polar; using std::pow;\n"
           "using std::proj; using std::sin; using std::sinh; using std::sqrt; using std::tan; using std::tanh;\n}\n";
  if (name == "helper_timer.h" || name == "helper_functions.h") return "#pragma once\nclass StopWatchInterface;\n";
  return {};
}

/// Calls \p use with each of \p names, which are separated by blanks.
template <typename Use>
void for_each_name(std::string_view names, Use use) {
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(' '));
    use(name);
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
}

}  // namespace tuner
