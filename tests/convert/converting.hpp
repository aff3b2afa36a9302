#pragma once
/// Converts files in tests.

#include <string>

#include <tests/error_of.hpp>
#include <tests/matchers.hpp>
#include <tests/temporary_folder.hpp>
#include <tuner/convert/conversion.hpp>
#include <tuner/core/kernel_file.hpp>

namespace tuner::convert::test {

class ConvertTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { folder_.write(name, text); }
  Conversion convert(const std::string& name, const std::string& text) {
    return convert_file(folder_.write(name, text), folder_.path());
  }
  /// The error when the text cannot be converted.
  std::string error(const std::string& name, const std::string& text) {
    return error_of([&] { (void)convert(name, text); });
  }
  /// The converted kernel file, as tune reads it.
  KernelSpec parsed(const Conversion& made) {
    return read_kernel_file(folder_.write("made.tuner.cu", made.text).string());
  }

  const testing::TemporaryFolder folder_;
};

/// Matches a text that contains each of \p parts.
template <typename... Parts>
auto holds(const Parts&... parts) {
  return AllOf(HasSubstr(parts)...);
}

/// Matches texts of which, for each of \p parts, one contains it.
template <typename... Parts>
auto tells(const Parts&... parts) {
  return AllOf(Contains(HasSubstr(parts))...);
}

}  // namespace tuner::convert::test
