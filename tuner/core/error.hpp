#pragma once
/// Exceptions of kernel files. Expected failures of a configuration are values: see outcome.hpp. Functions of the
/// library throw std::invalid_argument or std::length_error for arguments that break a contract, where they say so.

#include <string>
#include <utility>

#include <tuner/error.hpp>

namespace tuner {
inline namespace TUNER_ABI {

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
