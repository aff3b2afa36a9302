#pragma once
/// Exceptions on their way out of the library: programs see Error alone, and what their own functions threw.

#include <exception>

namespace tuner::runtime {

/// Carries what a caller's function threw through the library.
struct FromCaller {
  std::exception_ptr thrown;
};

/// For the handler around a public function: throws the exception at hand again, as an Error where it is none.
[[noreturn]] void leave_with_error();

}  // namespace tuner::runtime
