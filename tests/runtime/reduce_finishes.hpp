#pragma once
/// The kernel `reduce` with a finish that the test chooses, for calls that share a stream.

#include <algorithm>
#include <string>

#include <templates/embedded.hpp>
#include <tuner/kernel.hpp>

namespace tuner::testing {

inline constexpr const char* kFinishes[] = {"one_block", "last_block", "atomic", "two_launches", "counted"};

/// `counted` is for sums of int and unsigned alone.
inline Kernel reduce_with(const std::string& finish, const std::string& operation) {
  const auto files = embedded_templates();
  const auto file = std::find_if(files.begin(), files.end(), [](const auto& one) { return one.name == "reduce"; });
  std::string text(file->text);
  const auto replace = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("finish=last_block", "finish=" + finish);
  if (finish == "one_block") replace("blocks_per_sm=8", "blocks_per_sm=1");
  return Kernel::from_source(text, "reduce_" + finish + ".cu").with({{"operation", operation}, {"order", "any"}});
}

}  // namespace tuner::testing
