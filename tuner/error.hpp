#pragma once
/// The base class of all exceptions that leave tuner. C++17. Uses only the standard library: every room may include it.

#include <stdexcept>
#include <string>

#include <tuner/version.hpp>

namespace tuner {
inline namespace TUNER_ABI {

/// The kind of an error, for programs; what() is for people. Later versions add codes at the end.
enum class ErrorCode {
  other,
  invalid_argument,  ///< an argument, a setting or an environment variable has an impossible value
  invalid_kernel,    ///< a kernel file or builder does not describe a kernel (SpecError)

  not_found,     ///< a file, kernel or device does not exist
  not_prepared,  ///< a launch in a stream capture needs prepare() before the capture begins

  out_of_memory,  ///< of the device or the host
  context_lost,   ///< a fault, a reset or fork() ended the device's context; nothing more runs in it
  device,         ///< any other error of the CUDA driver

  compiler,  ///< a kernel does not compile or load, or there is no compiler
  cache,     ///< a database or its file cannot be used
};

/// what() names what happened, where, and what to do.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : Error(ErrorCode::other, message) {}
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace TUNER_ABI
}  // namespace tuner
