#include <tuner/runtime/served_device.hpp>

#include <pthread.h>

#include <tuner/core/error.hpp>
#include <tuner/runtime/by_context.hpp>
#include <tuner/session/backends.hpp>

namespace tuner::runtime {

ServedDevice& ServedDevice::of(const CallContext& call) {
  // Never destroyed: threads may still launch while the process ends, and drivers may be gone by then.
  static ByContext<ServedDevice>& devices = *new ByContext<ServedDevice>;
  if (ServedDevice* known = devices.find(call.id())) return *known;
  const ContextName context = call.name();
  const BesideCaptures allowed(context);
  return devices.get(context, [&] {
    auto backend = is_host(context) ? open_backend(choose_device("host").device) : open_gpu_context(context);
    auto opened = std::make_unique<ServedDevice>(context, std::move(backend));
    static const int watched = ::pthread_atfork(nullptr, nullptr, [] { forked_ = true; });
    (void)watched;
    return opened;
  });
}

void ServedDevice::throw_forked() {
  throw Error(
      "this process was forked from one that had launched kernels through tuner, and neither CUDA nor tuner's threads "
      "survive fork(): start it with exec, or fork before the first launch");
}

}  // namespace tuner::runtime
