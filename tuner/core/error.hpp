#pragma once
/// Exceptions for a broken world. Expected failures of a configuration are values: see outcome.hpp. Within the library,
/// arguments that break a contract throw std::invalid_argument or std::length_error where a function says so.

#include <string>
#include <utility>

#include <tuner/error.hpp>

namespace tuner {

/// A place in a kernel file, 1-based; columns count bytes. Line 0: the file (or the code) as a whole.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  /// `file:line:column`; without a line only the file, which may be empty.
  std::string text() const {
    return line == 0 ? file : file + ':' + std::to_string(line) + ':' + std::to_string(column);
  }
};

/// A kernel file or builder that does not describe a kernel. what() is `file:line:column: message`, or less where
/// there is no line or no file.
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

}  // namespace tuner
