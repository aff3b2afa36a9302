#include <tuner/runtime/decide/served_device.hpp>

#include <tuner/runtime/decide/by_context.hpp>
#include <tuner/session/tuning/device_choice.hpp>

namespace tuner::runtime {
namespace {

/// Never destroyed: threads may launch while the process ends, and drivers may be gone by then.
ByContext<ServedDevice>& all_devices() {
  static ByContext<ServedDevice>& devices = *new ByContext<ServedDevice>;
  return devices;
}

}  // namespace

ServedDevice& ServedDevice::of(const ContextName& context) {
  return all_devices().get(context, [&] { return std::make_unique<ServedDevice>(context, open_backend(context)); });
}

void ServedDevice::trim_all() {
  Serving::process().refuse_forked();
  all_devices().for_each([](ServedDevice& device) {
    if (is_alive(device.context)) device.work.trim();
  });
}

}  // namespace tuner::runtime
