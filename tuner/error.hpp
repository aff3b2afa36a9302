#pragma once
/// The root of every exception that leaves tuner. C++17, and the standard library alone: every room may include it.

#include <stdexcept>
#include <string>

namespace tuner {

/// The kind of an error, for programs to test; what() is for people. Later versions add codes at the end.
enum class ErrorCode {
  other,
  invalid_argument,  ///< an argument, a setting or an environment variable has a value that is not possible
  invalid_kernel,    ///< a kernel file or builder does not describe a kernel (SpecError)
  not_found,         ///< a file, kernel or device does not exist
  not_prepared,      ///< a launch in a stream capture needs prepare() before the capture begins
  out_of_memory,     ///< of the device or the host
  context_lost,      ///< the device's context ended with a fault, a reset or fork(); nothing more runs in it
  device,            ///< the CUDA driver reports any other error
  compiler,          ///< a kernel does not compile or load, or there is no compiler
  cache,             ///< a database, or a file for one, cannot be used
};

/// what() says what happened, where, and what to do.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : Error(ErrorCode::other, message) {}
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tuner
