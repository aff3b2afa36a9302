#pragma once
/// Exceptions that leave the library: programs see only Error and what their own functions threw.

#include <exception>

namespace tuner::runtime {

/// Carries an exception of the caller's function through the library.
struct FromCaller {
  std::exception_ptr thrown;
};

/// For the catch block of a public function: rethrows the current exception, converted to Error if needed.
[[noreturn]] void leave_with_error();

}  // namespace tuner::runtime
