#include <tuner/runtime/leaving.hpp>

#include <new>
#include <stdexcept>

#include <tuner/error.hpp>

namespace tuner::runtime {

void leave_with_error() {
  try {
    throw;
  } catch (const FromCaller& callers) {
    std::rethrow_exception(callers.thrown);
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::out_of_memory, "tuner: the host has no memory left");
  } catch (const std::logic_error& error) {  // the arguments violate a contract of the library
    throw Error(ErrorCode::invalid_argument, error.what());
  } catch (const std::exception& error) {
    throw Error(error.what());
  }
}

}  // namespace tuner::runtime
