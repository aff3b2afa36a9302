#include <tuner/runtime/interfaces/leaving.hpp>

#include <tests/support/testing.hpp>

namespace tuner::runtime {
namespace {

/// The Error that a public function throws when \p action ends with an exception.
Error left_with(void (*action)()) {
  const auto leave = [&] {
    try {
      action();
    } catch (...) {
      leave_with_error();
    }
  };
  return testing::thrown_by(leave).value();
}

TEST(Leaving, ConvertsEveryExceptionOfTheStandardLibrary) {
  EXPECT_EQ(left_with([] { throw std::invalid_argument("no number"); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(left_with([] { throw std::runtime_error("broken"); }).code(), ErrorCode::other);
  EXPECT_EQ(left_with([] { throw std::bad_alloc(); }).code(), ErrorCode::out_of_memory);
}

TEST(Leaving, NeedsNoMemoryToSayThatThereIsNone) {
  const Error error = left_with([] { throw std::bad_alloc(); });
  EXPECT_EQ(static_cast<const void*>(error.what()), static_cast<const void*>(no_memory().what()))
      << "copies share the text that was made at the start";
}

}  // namespace
}  // namespace tuner::runtime
