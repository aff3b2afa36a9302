#pragma once
/// GoogleTest, and the matchers that many tests use, by their plain names.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
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
using ::testing::UnorderedElementsAre;

/// Matches a text that has all of \p parts.
template <typename... Parts>
auto Holds(const Parts&... parts) {
  return AllOf(HasSubstr(parts)...);
}

}  // namespace tuner
