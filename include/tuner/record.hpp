#pragma once
/// A recording stores the inputs and outputs of one launch of an application in a folder. `tune --recording` tunes from
/// that folder, without the application (docs/api.md). C++17.
///
/// Launches through tuner::Kernel are recorded without a change of the program. This header is for programs that launch
/// their kernels themselves and have a kernel file that describes them.
///
/// $TUNER_RECORD, which is read once, holds patterns: `axpy`, `axpy*,reduce`, `*`. For each kernel that matches one,
/// the first launch of each problem (types, choices, sizes) is recorded. Each gets its own folder in
/// $TUNER_RECORD_DIR, or else in the current folder. A recorded launch waits for its stream before and after the
/// launch. Without $TUNER_RECORD, only the launch is done.

#include <functional>
#include <string>

#include <tuner/kernel.hpp>

namespace tuner {
inline namespace TUNER_ABI {

namespace detail {
/// Whether $TUNER_RECORD names any kernel.
bool records_anything() noexcept;
/// The kernel of a file with \p choices, read once in a process. Throws as Kernel::from_file() and Kernel::with().
const Kernel& recorded_kernel(const std::string& name_or_path, const Choices& choices);
}  // namespace detail

/// Calls \p launch exactly once, even if it cannot be recorded; it must enqueue the caller's own launch on \p stream.
/// \p kernel describes that launch. \p arguments: as for Kernel::launch(); for a `constant` buffer, the address of the
/// variable. Thread-safe. Throws what \p launch throws; a failure to record is a warning.
template <typename Launch, typename... Arguments>
void record(const Kernel& kernel, Stream stream, const Sizes& sizes, const Launch& launch, Arguments... arguments) {
  if (!detail::records_anything()) {
    launch();
    return;
  }
  const detail::LaunchArgument list[] = {detail::launch_argument(arguments)..., {}};
  detail::record_erased(kernel, stream, sizes, launch, list, sizeof...(arguments));
}

/// The same for a kernel in a file, which is read only if $TUNER_RECORD is set. \p choices: those that do not follow
/// from pointers. Then also throws what Kernel::from_file() and Kernel::with() throw.
template <typename Launch, typename... Arguments>
void record(const char* name_or_path, const Choices& choices, Stream stream, const Sizes& sizes, const Launch& launch,
            Arguments... arguments) {
  if (!detail::records_anything()) {
    launch();
    return;
  }
  record(detail::recorded_kernel(name_or_path, choices), stream, sizes, launch, arguments...);
}

}  // namespace TUNER_ABI
}  // namespace tuner
