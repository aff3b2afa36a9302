#include <tuner/worker/backends.hpp>

#include <vector>

#include <tuner/backend/host/host_backend.hpp>
#include <tuner/core/error.hpp>
#ifdef TUNER_WITH_CUDA
#include <tuner/backend/cuda/architecture.hpp>
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/discovery.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/backend/cuda/nvrtc_compiler.hpp>
#include <tuner/backend/cuda/support_kernels.hpp>
#include <tuner/worker/prefetching_compiler.hpp>
#endif

namespace tuner::worker {
namespace {

[[noreturn]] void unknown(const std::string& backend) {
#ifdef TUNER_WITH_CUDA
  throw Error("tuner-worker: unknown backend '" + backend + "'; there are cuda and host");
#else
  throw Error("tuner-worker: unknown backend '" + backend +
              "'; this program was built without CUDA headers and has only host");
#endif
}

#ifdef TUNER_WITH_CUDA
/// What the backend asks of its compiler when it is first used (data_kernels.cpp, sampler.cpp). A request that is not
/// listed here, or no longer is what it was, is compiled when it is needed.
std::vector<CompileRequest> first_requests(const std::string& architecture) {
  CompileRequest data;
  data.source = std::string(cuda::kFillValueSource) + cuda::kDataSource;
  data.file_name = "tuner/support/data.cu";
  data.expressions = {"tuner_support::fill", "tuner_support::compare", "tuner_support::fingerprint"};
  data.architecture = architecture;
  CompileRequest sampling;
  sampling.source = cuda::kSamplingSource;
  sampling.file_name = "tuner/support/sampling.cu";
  sampling.expressions = {"tuner_support::hold", "tuner_support::stamp", "tuner_support::flush"};
  sampling.architecture = architecture;
  return {data, sampling};
}
#endif

}  // namespace

std::unique_ptr<Backend> open_backend(
    const std::string& backend, int device,
    const std::function<void(const Device& device, const std::string& architecture)>& known) {
  if (backend == "host") {
    auto opened = make_host_backend();
    known(opened->device(), opened->architecture());
    return opened;
  }
#ifdef TUNER_WITH_CUDA
  if (backend == "cuda") {
    const Device found = cuda::query_device(device);
    const std::string architecture = cuda::architecture_name(found.key.compute_capability);
    known(found, architecture);
    CudaOptions options;
    options.device = device;
    options.compiler =
        std::make_shared<PrefetchingCompiler>(cuda::make_nvrtc_compiler(cuda::nvrtc()), first_requests(architecture));
    return make_cuda_backend(options);
  }
#endif
  (void)device;
  unknown(backend);
}

std::unique_ptr<Compiler> open_compiler(const std::string& backend) {
  if (backend == "host") return make_host_compiler();
#ifdef TUNER_WITH_CUDA
  if (backend == "cuda") return cuda::make_nvrtc_compiler(cuda::nvrtc());
#endif
  unknown(backend);
}

}  // namespace tuner::worker
