#include <tuner/capture.hpp>

#include <map>
#include <mutex>
#include <utility>

#include <tuner/runtime/call_place.hpp>
#include <tuner/runtime/launch_captures.hpp>
#include <tuner/runtime/served_kernel.hpp>
#include <tuner/runtime/serving.hpp>

namespace tuner {
namespace detail {

bool captures_anything() noexcept { return runtime::LaunchCaptures::wanted(); }

const Kernel& captured_kernel(const std::string& name_or_path, const Choices& choices) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<std::string, Choices>, Kernel>;  // never destroyed: used until exit
  const std::lock_guard lock(mutex);
  const auto at = known.find({name_or_path, choices});
  if (at != known.end()) return at->second;
  return known.emplace(std::pair(name_or_path, choices), Kernel::from_file(name_or_path).with(choices)).first->second;
}

void capture_erased(const Kernel& kernel, Stream stream, const Sizes& sizes, const std::function<void()>& launch,
                    const LaunchArgument* arguments, std::size_t count) {
  kernel.served_->capture({stream, {}, sizes, arguments, count}, launch);
}

}  // namespace detail

namespace runtime {

void ServedKernel::capture(const Call& call, const std::function<void()>& launch) {
  if (!captures_) return launch();
  const auto beside_launch = [&](const auto& act) {
    LaunchCaptures::only_warn(*spec, [&] {
      const CallPlace place(call, Serving::process().ordinal());
      if (place.capture.active) return LaunchCaptures::refuse_in_graph(*spec);
      const BesideCaptures allowed(place.context.name());
      act(place);
    });
  };
  std::unique_ptr<CapturedLaunch> captured;
  beside_launch([&](const CallPlace& place) {
    ServedDevice& device = ServedDevice::of(place.context.name());
    const BoundCall bound =
        bind_call(*spec, choices, call, key_of(call, spec->name), place.suspects, device.device().limits);
    captured = captures_->begin(*device.backend, *spec, bound, call, nullptr);
  });
  launch();
  if (captured) beside_launch([&](const CallPlace&) { captured->finish(); });
}

}  // namespace runtime
}  // namespace tuner
