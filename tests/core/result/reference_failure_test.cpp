#include <tuner/core/result/reference_failure.hpp>

#include <tests/core/kernel_texts.hpp>

namespace tuner {
namespace {

/// The message for an error that the compiler reports as \p message.
std::string failure(const std::string& message, const std::string& reference = "reference plain<T>") {
  std::string text = edited(16, reference);  // 19 lines
  text +=
      "__device__ int shared() { return 1; }\n"                                  // 20
      "template <typename T> __global__ void plain(T* a,\n  int n) {\n"          // 21
      "  a[0] = shared();\n}\n"                                                  // 23
      "template <typename T, int b, int i, Load l> __global__ void add() {}\n";  // 25
  return reference_failure(parse(text), {message, "the log"});
}

TEST(ReferenceFailure, NamesTheReferenceIfTheErrorIsInIt) {
  EXPECT_EQ(failure("k.cu:23:5: error: no"), "k.cu: the reference does not compile: k.cu:23:5: error: no\nthe log");
  EXPECT_THAT(failure("k.cu:21: no"), HasSubstr("the reference does not compile"));
  EXPECT_THAT(failure("instantiation of plain<float>:1:1: error: no"), HasSubstr("the reference does not compile"));
  EXPECT_THAT(failure("the compiler was killed"), HasSubstr("the reference does not compile"));
}

TEST(ReferenceFailure, NamesTheSourceIfTheErrorIsElsewhereInIt) {
  EXPECT_EQ(failure("k.cu:20:5: error: no"),
            "k.cu: the kernel's source does not compile: k.cu:20:5: error: no\nthe log");
  EXPECT_THAT(failure("k.cu:25: no"), HasSubstr("the kernel's source does not compile"));
  EXPECT_THAT(failure("k.cu:23: no", "reference default"), HasSubstr("the kernel's source does not compile"));
}

}  // namespace
}  // namespace tuner
