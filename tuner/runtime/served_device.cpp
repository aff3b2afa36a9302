#include <tuner/runtime/served_device.hpp>

#include <pthread.h>

#include <tuner/backend/all/backends.hpp>
#include <tuner/runtime/by_context.hpp>
#include <tuner/runtime/leaving.hpp>
#include <tuner/runtime/serving.hpp>
#include <tuner/settings.hpp>

namespace tuner::runtime {

namespace {

/// Never destroyed: threads may launch while the process ends, and drivers may be gone by then.
ByContext<ServedDevice>& all_devices() {
  static ByContext<ServedDevice>& devices = *new ByContext<ServedDevice>;
  return devices;
}

}  // namespace

ServedDevice& ServedDevice::of(const ContextName& context) {
  return all_devices().get(context, [&] {
    auto opened = std::make_unique<ServedDevice>(context, open_backend(context));
    [[maybe_unused]] static const int watched = ::pthread_atfork(nullptr, nullptr, &Serving::on_fork);
    return opened;
  });
}

void ServedDevice::trim_all() {
  all_devices().for_each([](ServedDevice& device) {
    if (is_alive(device.context)) device.work.trim();
  });
}

}  // namespace tuner::runtime

namespace tuner {

void trim() try { runtime::ServedDevice::trim_all(); } catch (...) {
  runtime::leave_with_error();
}

}  // namespace tuner
