#pragma once
/// Captures of launches: what one launch of an application was given and what it left, in a folder from which
/// `tune --capture` tunes without the application (docs/api.md). C++17.
///
/// Launches through tuner::Kernel are captured without a word in the program. This header is for programs that launch
/// their kernels themselves and have a kernel file that describes them.
///
/// Captured are the kernels whose names match a pattern of $TUNER_CAPTURE (`axpy`, `axpy*,reduce`, `*`), which is read
/// once: the first launch of each problem (types, choices, sizes), into a folder of its own in $TUNER_CAPTURE_DIR (else
/// the current folder). While it is captured a launch waits for its stream, before it and behind it. Without
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

/// Calls \p launch, which enqueues the caller's own launch on \p stream, once, whatever becomes of the capture. \p
/// kernel describes what is launched: the arguments are those of Kernel::launch(), for a `constant` buffer the address
/// of the variable. Any thread. Throws what \p launch throws; what is wrong with the capture is a warning.
template <typename Launch, typename... Arguments>
void capture(const Kernel& kernel, Stream stream, const Sizes& sizes, const Launch& launch, Arguments... arguments) {
  if (!detail::captures_anything()) {
    launch();
    return;
  }
  const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
  detail::capture_erased(kernel, stream, sizes, launch, list, sizeof...(arguments));
}

/// The same for the kernel of a file, which is read only where $TUNER_CAPTURE is set. \p choices: those that do not
/// follow from pointers. Throws as Kernel::from_file() and Kernel::with() there.
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
