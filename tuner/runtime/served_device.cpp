#include <tuner/runtime/served_device.hpp>

#include <pthread.h>

#include <tuner/backend/all/backends.hpp>
#include <tuner/runtime/by_context.hpp>

namespace tuner::runtime {

ServedDevice& ServedDevice::of(const ContextName& context) {
  // Never destroyed: threads may still launch while the process ends, and drivers may be gone by then.
  static ByContext<ServedDevice>& devices = *new ByContext<ServedDevice>;
  return devices.get(context, [&] {
    auto opened = std::make_unique<ServedDevice>(context, open_backend(context));
    [[maybe_unused]] static const int watched = ::pthread_atfork(nullptr, nullptr, &Serving::on_fork);
    return opened;
  });
}

}  // namespace tuner::runtime
