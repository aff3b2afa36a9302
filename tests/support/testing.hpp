#pragma once
/// What nearly every test needs: GoogleTest with its matchers by their plain names, the containers and algorithms of
/// the standard library, and the messages of errors.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuner/error.hpp>

namespace tuner::testing {

/// Matches a text that has all of \p parts.
template <typename... Parts>
auto Holds(const Parts&... parts) {
  return ::testing::AllOf(::testing::HasSubstr(parts)...);
}

/// The Error, or another exception, that \p action throws; none where it throws none.
template <typename Thrown = Error>
std::optional<Thrown> thrown_by(const auto& action) {
  try {
    action();
  } catch (const Thrown& error) {
    return error;
  }
  return std::nullopt;
}

/// Its message.
template <typename Thrown = Error>
std::string error_of(const auto& action) {
  const std::optional<Thrown> error = thrown_by<Thrown>(action);
  return error ? error->what() : "no error";
}

/// The code of the Error that \p action throws; none where it throws none.
inline std::optional<ErrorCode> code_of(const auto& action) {
  const std::optional<Error> error = thrown_by(action);
  return error ? std::optional(error->code()) : std::nullopt;
}

}  // namespace tuner::testing

namespace tuner {

using testing::error_of;
using testing::Holds;

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::Field;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Le;
using ::testing::Not;
using ::testing::Optional;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

}  // namespace tuner
