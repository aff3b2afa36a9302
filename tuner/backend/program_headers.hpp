#pragma once
/// Headers of CUDA's libraries, tools and samples, and of the programs around kernels. Their functions run on the host,
/// so no kernel needs them.

#include <algorithm>
#include <string_view>

namespace tuner {

/// Both compilers find them with program_header_text(), unless the author has a file of that name.
inline constexpr std::string_view kProgramHeaders =
    "ATen/ATen.h ATen/cuda/CUDAApplyUtils.cuh ATen/cuda/CUDAContext.h ATen/cuda/Exceptions.h Python.h "
    "c10/cuda/CUDAException.h c10/cuda/CUDAGuard.h "
    "c10/cuda/CUDAStream.h cublas.h cublasLt.h cublasXt.h cublas_api.h cublas_v2.h cudaProfiler.h cuda_profiler_api.h "
    "cudnn.h cufft.h cufftXt.h curand.h cusolverDn.h cusolverSp.h cub/device/device_radix_sort.cuh "
    "cub/device/device_reduce.cuh cub/device/device_scan.cuh "
    "cub/device/device_select.cuh cub/device/device_segmented_reduce.cuh cusolver_common.h cusparse.h cusparse_v2.h "
    "cuda_gl_interop.h driver_functions.h GL/freeglut.h GL/gl.h GL/glew.h GL/glext.h GL/glu.h GL/glut.h GLFW/glfw3.h "
    "gtest/gtest.h "
    "helper_cuda.h helper_functions.h helper_gl.h helper_image.h helper_string.h helper_timer.h "
    "mpi.h nccl.h npp.h nppi.h opencv2/core.hpp opencv2/core/core.hpp opencv2/highgui.hpp opencv2/highgui/highgui.hpp "
    "opencv2/imgcodecs.hpp opencv2/imgproc.hpp opencv2/imgproc/imgproc.hpp opencv2/opencv.hpp "
    "nvToolsExt.h nvToolsExtCuda.h nvml.h nvtx3/nvToolsExt.h nvtx3/nvToolsExtCuda.h "
    "nvtx3/nvtx3.hpp pybind11/pybind11.h thrust/complex.h thrust/copy.h thrust/device_malloc.h thrust/device_ptr.h "
    "thrust/device_vector.h thrust/execution_policy.h thrust/extrema.h thrust/fill.h thrust/for_each.h "
    "thrust/generate.h "
    "thrust/host_vector.h thrust/inner_product.h thrust/random.h thrust/reduce.h thrust/remove.h thrust/scan.h "
    "thrust/sequence.h thrust/sort.h thrust/functional.h thrust/transform.h thrust/transform_reduce.h thrust/unique.h "
    "torch/all.h "
    "torch/extension.h torch/script.h torch/serialize/tensor.h torch/torch.h torch/types.h torch/version.h";

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
  if (name.starts_with("cusparse")) return "#pragma once\ntypedef struct cusparseContext* cusparseHandle_t;\n";
  if (name.starts_with("cusolver")) return "#pragma once\ntypedef struct cusolverDnContext* cusolverDnHandle_t;\n";
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
