#pragma once
/// Used by all functions of tuner.h: exceptions become statuses, and texts become the caller's.

#include <string>
#include <string_view>

#include <tuner/tuner.h>

#include <tuner/error.hpp>
#include <tuner/problem.hpp>
#include <tuner/runtime/interfaces/leaving.hpp>

namespace tuner::runtime {

/// Remembers \p message as the calling thread's last error.
tuner_status fail(ErrorCode code, const char* message) noexcept;
/// Converts the exception that is being handled.
tuner_status fail_with_current_exception() noexcept;

/// Calls \p work. Its exceptions do not leave.
template <typename Work>
tuner_status guarded(const Work& work) noexcept {
  try {
    work();
    return TUNER_OK;
  } catch (...) {
    return fail_with_current_exception();
  }
}

/// Throws Error, naming \p what, if \p pointer is null. Takes any number of such pairs.
void require(const void* pointer, const char* what);
template <typename... More>
void require(const void* pointer, const char* what, More... more) {
  require(pointer, what);
  require(more...);
}
/// Throws Error for an argument with an impossible value.
[[noreturn]] void refuse(const std::string& message);
/// Options of the program's version of this interface, which may have more members than this one; null: the defaults.
template <typename Options>
Options options_of(const Options* given, const Options& defaults) {
  if (given == nullptr) return defaults;
  if (given->bytes < sizeof(Options))  // a later version compares with the size that this one had
    refuse("options of " + std::to_string(given->bytes) + " bytes: start from the macro beside their type");
  return *given;
}

/// A pointer to elements of \p type. Throws Error for a type that does not exist.
detail::LaunchArgument pointer_to(tuner_type type, const void* data, bool is_const = true);
/// \p text where tuner_text_free() finds it.
char* callers_text(std::string_view text);

}  // namespace tuner::runtime
