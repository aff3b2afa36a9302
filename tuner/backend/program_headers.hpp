#pragma once
/// Headers of CUDA's libraries, tools and samples, and of the programs around kernels. Their functions run on the host,
/// so no kernel needs them.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tuner/core/cpp/includes.hpp>
#include <tuner/core/cpp/scanner.hpp>

namespace tuner {

/// Both compilers find them with program_header_text(), unless the author has a file of that name.
inline constexpr std::string_view kProgramHeaders =
    "Python.h cublas.h cublasLt.h cublasXt.h cublas_api.h cublas_v2.h cudaProfiler.h cuda_gl_interop.h "
    "cuda_profiler_api.h cudnn.h cufft.h cufftXt.h curand.h cusolverDn.h cusolverSp.h cusolver_common.h cusparse.h "
    "cusparse_v2.h driver_functions.h helper_cuda.h helper_functions.h helper_gl.h helper_image.h helper_string.h "
    "helper_timer.h mpi.h nccl.h npp.h nppi.h nvToolsExt.h nvToolsExtCuda.h nvml.h";
/// The same for all headers that a text includes from these folders.
inline constexpr std::string_view kProgramFolders =
    "ATen/ GL/ GLFW/ THC/ c10/ cub/device/ gtest/ nvtx3/ opencv2/ pybind11/ thrust/ torch/";

/// Headers of these folders that are not empty, apart from PyTorch's and OpenGL's.
inline constexpr std::string_view kProgramTexts[] = {"thrust/complex.h", "thrust/functional.h", "thrust/pair.h",
                                                     "thrust/swap.h", "thrust/tuple.h"};

/// thrust/functional.h
inline constexpr std::string_view kThrustFunctional = R"(#pragma once
#define TUNER_FUNCTOR(name, type, result)                                                          \
  template <class T = void>                                                                        \
  struct name {                                                                                    \
    __host__ __device__ constexpr type operator()(const T& a, const T& b) const { return result; } \
  };                                                                                               \
  template <>                                                                                      \
  struct name<void> {                                                                              \
    template <class A, class B>                                                                    \
    __host__ __device__ constexpr auto operator()(const A& a, const B& b) const { return result; } \
  };
#define TUNER_UNARY(name, type, result)                                                \
  template <class T = void>                                                            \
  struct name {                                                                        \
    __host__ __device__ constexpr type operator()(const T& a) const { return result; } \
  };                                                                                   \
  template <>                                                                          \
  struct name<void> {                                                                  \
    template <class A>                                                                 \
    __host__ __device__ constexpr auto operator()(const A& a) const { return result; } \
  };
namespace thrust {
TUNER_FUNCTOR(plus, T, a + b)
TUNER_FUNCTOR(minus, T, a - b)
TUNER_FUNCTOR(multiplies, T, a * b)
TUNER_FUNCTOR(divides, T, a / b)
TUNER_FUNCTOR(modulus, T, a % b)
TUNER_FUNCTOR(maximum, T, a < b ? b : a)
TUNER_FUNCTOR(minimum, T, b < a ? b : a)
TUNER_FUNCTOR(bit_and, T, a & b)
TUNER_FUNCTOR(bit_or, T, a | b)
TUNER_FUNCTOR(bit_xor, T, a ^ b)
TUNER_FUNCTOR(equal_to, bool, a == b)
TUNER_FUNCTOR(not_equal_to, bool, a != b)
TUNER_FUNCTOR(greater, bool, a > b)
TUNER_FUNCTOR(less, bool, a < b)
TUNER_FUNCTOR(greater_equal, bool, a >= b)
TUNER_FUNCTOR(less_equal, bool, a <= b)
TUNER_FUNCTOR(logical_and, bool, a && b)
TUNER_FUNCTOR(logical_or, bool, a || b)
TUNER_UNARY(negate, T, -a)
TUNER_UNARY(logical_not, bool, !a)
TUNER_UNARY(identity, T, a)
TUNER_UNARY(square, T, a * a)
}
#undef TUNER_FUNCTOR
#undef TUNER_UNARY
)";

/// The types and macros of the library that programs name beside and in their kernels; empty for other headers.
/// PyTorch's types come by using-directives, so that the author's types in the same namespaces hide them.
inline std::string_view program_header_text(std::string_view name) {
  if (name == "ATen/cuda/detail/KernelUtils.h")  // the body of its loop may change i
    return "#pragma once\n#include <ATen/ATen.h>\n#define CUDA_KERNEL_LOOP_TYPE(i, n, type) \\\n"
           "  long long __tuner_at = (long long)blockIdx.x * blockDim.x + threadIdx.x; \\\n"
           "  for (type i = __tuner_at; __tuner_at < (n); \\\n"
           "       __tuner_at += (long long)blockDim.x * gridDim.x, i = __tuner_at)\n"
           "#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)\n";
  for (const std::string_view folder : {"ATen/", "THC/", "c10/", "torch/"})
    if (name.starts_with(folder))
      return "#ifndef TUNER_TORCH\n#define TUNER_TORCH\n"
             "namespace __tuner_c10 {\nstruct Half { unsigned short x; };\nstruct BFloat16 { unsigned short x; };\n"
             "class Device;\n}\nnamespace __tuner_at {\nclass Tensor;\n}\n"
             "namespace c10 {\nusing namespace ::__tuner_c10;\nnamespace cuda {}\n}\n"
             "namespace at {\nusing namespace ::c10;\nusing namespace ::__tuner_at;\n"
             "namespace cuda {}\nnamespace native {}\n}\n"
             "namespace torch {\nusing namespace ::at;\n}\n"
             "#define C10_HOST __host__\n#define C10_DEVICE __device__\n#define C10_HOST_DEVICE __host__ __device__\n"
             "#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)\n"
             "#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)\n"
             "#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)\n"
             "#define C10_ALWAYS_INLINE __forceinline__\n#define C10_RESTRICT __restrict__\n#define C10_WARP_SIZE 32\n"
             "#define C10_LIKELY(test) (test)\n#define C10_UNLIKELY(test) (test)\n#endif\n";
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
  if (name == "thrust/functional.h") return kThrustFunctional;
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

/// Whether the header \p name is in one of kProgramFolders.
inline bool is_in_program_folder(std::string_view name) {
  bool found = false;
  for_each_name(kProgramFolders, [&](std::string_view folder) { found = found || name.starts_with(folder); });
  return found;
}

/// The headers that \p text includes from kProgramFolders.
inline std::vector<std::string> program_headers_in(std::string_view text) {
  std::vector<std::string> names;
  for (const DirectiveLine& line : directives_of(code_of(text, Literals::kept)))
    if (auto name = line.name() == "include" ? included_name(line.rest()) : std::nullopt)
      if (is_in_program_folder(*name) && name->find("..") == npos) names.push_back(*std::move(name));
  return names;
}

}  // namespace tuner
