#include <tuner/worker/backends.hpp>

#include <tuner/backend/host/host_backend.hpp>
#include <tuner/core/error.hpp>
#ifdef TUNER_WITH_CUDA
#include <tuner/backend/cuda/cuda_backend.hpp>
#include <tuner/backend/cuda/nvrtc.hpp>
#include <tuner/backend/cuda/nvrtc_compiler.hpp>
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

}  // namespace

std::unique_ptr<Backend> open_backend(const std::string& backend, int device) {
  if (backend == "host") return make_host_backend();
#ifdef TUNER_WITH_CUDA
  if (backend == "cuda") {
    CudaOptions options;
    options.device = device;
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
