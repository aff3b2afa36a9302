#pragma once
/// Failures of the moment: a table of descriptors is full, memory is short, a program is late, a lock is held. The same
/// question may get another answer a moment later. So nobody remembers such a failure, or decides anything for good
/// because of it.

#include <string>
#include <string_view>

#include <tuner/error.hpp>

namespace tuner {

/// Something could not be asked or done now. The next call tries again.
class Passing : public Error {
 public:
  using Error::Error;
};

/// Whether the system's error \p number is a failure of the moment, such as EMFILE, ENOMEM or EAGAIN.
bool is_passing(int number);
/// The same for a message that ends with, or contains, the system's text of such an error, such as those of dlopen().
bool is_passing(std::string_view message);

/// The system's text of error \p number. For a lack of file descriptors it adds what to do.
std::string system_text(int number);
/// \p message, with the same advice if the message says that file descriptors are missing.
std::string with_advice(std::string message);

}  // namespace tuner
