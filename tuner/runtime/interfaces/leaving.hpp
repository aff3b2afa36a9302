#pragma once
/// Exceptions that leave the library: programs see only Error and what their own functions threw.

#include <exception>
#include <new>
#include <stdexcept>

#include <tuner/error.hpp>

namespace tuner::runtime {

/// Carries an exception of the caller's function through the library.
struct FromCaller {
  std::exception_ptr thrown;
};

/// Made at the start of the program: when memory is exhausted there is none for a message. Throwing a copy needs none.
inline const Error& no_memory() {
  static const Error& error = *new Error(ErrorCode::out_of_memory, "tuner: the host has no memory left");
  return error;
}
inline const Error& kNoMemory = no_memory();

/// For the catch block of a public function: rethrows the current exception, converted to Error if needed.
[[noreturn]] inline void leave_with_error() try {
  try {
    throw;
  } catch (const FromCaller& callers) {
    std::rethrow_exception(callers.thrown);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(no_memory());
  } catch (const std::logic_error& error) {  // the arguments violate a contract of the library
    throw Error(ErrorCode::invalid_argument, error.what());
  } catch (const std::exception& error) {
    throw Error(error.what());
  }
} catch (const std::bad_alloc&) {  // of the message of another error
  throw Error(no_memory());
}

}  // namespace tuner::runtime
