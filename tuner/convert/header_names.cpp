#include <tuner/convert/header_names.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <tuner/core/cpp/words.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner::convert {
namespace {

/// Whether a compiler knows \p name as a macro where only <cmath> is included.
bool is_macro(std::string_view name) {
  constexpr std::string_view kMacros[] = {
      "EXIT_FAILURE",     "EXIT_SUCCESS", "INFINITY", "MATH_ERREXCEPT", "MATH_ERRNO", "MAXFLOAT",
      "math_errhandling", "NAN",          "NULL",     "RAND_MAX",       "linux",      "unix"};
  constexpr std::string_view kBeginnings[] = {"FP_", "HUGE_VAL", "M_", "SNAN"};
  return contains(kMacros, name) ||
         std::ranges::any_of(kBeginnings, [&](std::string_view one) { return name.starts_with(one); });
}

/// \p text as a C++ identifier.
std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) {
    if (is_word(c) && c != '_')
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  if (name.empty()) name = "any";
  if (is_digit(name.front())) name.insert(0, "v");
  if (is_word_of_cpp(name) || is_macro(name)) name += '_';
  return name;
}

}  // namespace

std::string comment(const std::string& text) {
  std::string safe = printable(text);
  if (safe.ends_with('\\')) safe += '.';
  return safe;
}

const std::string& Identifiers::of(const std::string& text) { return of(text, identifier(text)); }

const std::string& Identifiers::of(const std::string& text, const std::string& wanted) {
  if (const auto at = names_.find(text); at != names_.end()) return at->second;
  std::string name = wanted;
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return names_[text] = name;
}

}  // namespace tuner::convert
