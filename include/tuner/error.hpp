#pragma once
/// The base class of all exceptions that leave tuner, and those of kernel files. C++17. Uses only the standard
/// library: every room may include it. Expected failures of a configuration are values (core/result/outcome.hpp).
/// Functions of the library throw std::invalid_argument or std::length_error for arguments that break a contract,
/// where they say so.

#include <stdexcept>
#include <string>
#include <utility>

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

/// A place in a kernel file. Lines and columns count from 1, columns in bytes. Line 0: the whole file, or code.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  /// `file:line:column`; without a line only the file name, which may be empty.
  std::string text() const {
    return line == 0 ? file : file + ':' + std::to_string(line) + ':' + std::to_string(column);
  }
};

/// A kernel file or builder does not describe a kernel. what() is `file:line:column: message`, without the parts that
/// are unknown.
class SpecError : public Error {
 public:
  SpecError(SourceLocation location, const std::string& message)
      : Error(ErrorCode::invalid_kernel, prefix(location) + message), location_(std::move(location)) {}
  const SourceLocation& location() const { return location_; }

 private:
  static std::string prefix(const SourceLocation& location) {
    const std::string place = location.text();
    return place.empty() ? place : place + ": ";
  }
  SourceLocation location_;
};

}  // namespace TUNER_ABI
}  // namespace tuner
