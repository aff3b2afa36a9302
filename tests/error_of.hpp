#pragma once
/// For tests of what is thrown.

#include <optional>
#include <string>

#include <tuner/core/error.hpp>

namespace tuner::testing {

/// The message of the Error, or of another exception, that \p action throws.
template <typename Thrown = Error>
std::string error_of(const auto& action) {
  try {
    action();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "no error";
}

/// The code of the Error that \p action throws; none where it throws none.
inline std::optional<ErrorCode> code_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return std::nullopt;
}

}  // namespace tuner::testing

namespace tuner {
using testing::error_of;
}  // namespace tuner
