#include <tuner/record.hpp>

#include <map>
#include <mutex>
#include <utility>

#include <tuner/runtime/interfaces/launch_recorder.hpp>
#include <tuner/runtime/interfaces/served_kernel.hpp>

namespace tuner {
inline namespace TUNER_ABI {  // named: clang 14 otherwise gives what it declares other symbols
namespace detail {

bool records_anything() noexcept { return runtime::LaunchRecorder::wanted(); }

const Kernel& recorded_kernel(const std::string& name_or_path, const Choices& choices) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<std::string, Choices>, Kernel>;  // never destroyed: used until exit
  const std::lock_guard lock(mutex);
  const auto at = known.find({name_or_path, choices});
  if (at != known.end()) return at->second;
  return known.emplace(std::pair(name_or_path, choices), Kernel::from_file(name_or_path).with(choices)).first->second;
}

void record_erased(const Kernel& kernel, Stream stream, const Sizes& sizes, const std::function<void()>& launch,
                   const LaunchArgument* arguments, std::size_t count) {
  kernel.served_->record({stream, {}, sizes, arguments, count}, launch);
}

}  // namespace detail
}  // namespace TUNER_ABI
}  // namespace tuner
