#pragma once
/// Exceptions for a broken world. Expected failures of a configuration are values: see outcome.hpp.

#include <stdexcept>
#include <string>

namespace tuner {

/// Base of every exception thrown by tuner on purpose. what() says what happened, where, and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A place in a kernel file, 1-based.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
  std::string text() const { return file + ':' + std::to_string(line) + ':' + std::to_string(column); }
};

/// A kernel file or builder that does not describe a kernel. what() is `file:line:column: message`.
class SpecError : public Error {
 public:
  SpecError(SourceLocation location, const std::string& message)
      : Error(location.text() + ": " + message), location_(std::move(location)) {}
  const SourceLocation& location() const { return location_; }

 private:
  SourceLocation location_;
};

}  // namespace tuner
