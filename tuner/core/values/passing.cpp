#include <tuner/core/values/passing.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tuner {
namespace {

constexpr std::array kPassing{EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR, EIO, ENOSPC, EDQUOT, ETXTBSY, ENOLCK};

bool says(std::string_view message, int number) { return message.find(std::strerror(number)) != message.npos; }

}  // namespace

bool is_passing(int number) { return std::find(kPassing.begin(), kPassing.end(), number) != kPassing.end(); }

bool is_passing(std::string_view message) {
  return std::any_of(kPassing.begin(), kPassing.end(), [&](int number) { return says(message, number); });
}

std::string system_text(int number) { return with_advice(std::strerror(number)); }

std::string with_advice(std::string message) {
  if (says(message, EMFILE)) message += ": the process has no free file descriptors; close some, or raise `ulimit -n`";
  if (says(message, ENFILE)) message += ": the machine has no free file descriptors; raise the limit fs.file-max";
  return message;
}

}  // namespace tuner
