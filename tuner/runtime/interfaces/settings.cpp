#include <tuner/settings.hpp>

#include <tuner/runtime/decide/served_device.hpp>
#include <tuner/runtime/decide/serving.hpp>
#include <tuner/runtime/interfaces/leaving.hpp>

namespace tuner {
inline namespace TUNER_ABI {

void configure(Settings settings) { runtime::Serving::process().configure(std::move(settings)); }

void trim() try { runtime::ServedDevice::trim_all(); } catch (...) {
  runtime::leave_with_error();
}

}  // namespace TUNER_ABI
}  // namespace tuner
