#pragma once
/// A capture stores the inputs and outputs of one launch of an application in a folder. `tune --capture` tunes from
/// that folder, without the application (docs/api.md). C++17.
///
/// Launches through tuner::Kernel are captured without a change of the program. This header is for programs that launch
/// their kernels themselves and have a kernel file that describes them.
///
/// $TUNER_CAPTURE, which is read once, holds patterns: `axpy`, `axpy*,reduce`, `*`. For each kernel that matches one,
/// the first launch of each problem (types, choices, sizes) is captured. Each gets its own folder in
/// $TUNER_CAPTURE_DIR, or else in the current folder. A captured launch waits for its stream before and after the
/// launch. Without $TUNER_CAPTURE, only the launch is done.
/// $TUNER_CAPTURE nothing is done but the launch.

#include <functional>
#include <string>

#include <tuner/kernel.hpp>

namespace tuner {

namespace detail {
/// Whether $TUNER_CAPTURE names any kernel.
bool captures_anything() noexcept;
/// The kernel of a file with \p choices, read once in a process. Throws as Kernel::from_file() and Kernel::with().
const Kernel& captured_kernel(const std::string& name_or_path, const Choices& choices);
}  // namespace detail

/// Calls \p launch exactly once, even if the capture fails; it must enqueue the caller's own launch on \p stream.
/// \p kernel describes that launch. \p arguments: as for Kernel::launch(); for a `constant` buffer, the address of the
/// variable. Thread-safe. Throws what \p launch throws; a failure of the capture is a warning.
template <typename Launch, typename... Arguments>
void capture(const Kernel& kernel, Stream stream, const Sizes& sizes, const Launch& launch, Arguments... arguments) {
  if (!detail::captures_anything()) {
    launch();
    return;
  }
  const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
  detail::capture_erased(kernel, stream, sizes, launch, list, sizeof...(arguments));
}

/// The same for a kernel in a file, which is read only if $TUNER_CAPTURE is set. \p choices: those that do not follow
/// from pointers. Then also throws what Kernel::from_file() and Kernel::with() throw.
template <typename Launch, typename... Arguments>
void capture(const char* name_or_path, const Choices& choices, Stream stream, const Sizes& sizes, const Launch& launch,
             Arguments... arguments) {
  if (!detail::captures_anything()) {
    launch();
    return;
  }
  capture(detail::captured_kernel(name_or_path, choices), stream, sizes, launch, arguments...);
}

}  // namespace tuner
