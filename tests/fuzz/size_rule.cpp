/// libFuzzer: any bytes are a rule by size or nothing. A rule has the same text again, and a branch within its range.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tuner/core/result/size_rule.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tuner::SizeRule;
  const auto rule = SizeRule::parse({reinterpret_cast<const char*>(data), size});
  if (!rule) return 0;
  if (SizeRule::parse(rule->text()) != rule) __builtin_trap();
  SizeRule::Sizes least, most;
  for (const auto& [name, ends] : rule->range) {
    least[name] = ends.least;
    most[name] = ends.most;
  }
  if (rule->branch(least) == nullptr || rule->branch(most) == nullptr) __builtin_trap();
  return 0;
}
