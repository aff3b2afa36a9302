#pragma once
/// Reads the command lines of the bench programs: `--name value` and `--flag`.

#include <charconv>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace bench {

/// A function for the value of each option.
using ValueOptions = std::map<std::string, std::function<void(const std::string&)>>;
using Flags = std::map<std::string, bool*>;

/// Throws std::invalid_argument for an unknown option, a missing value, or a value that the function refuses.
inline void parse(int argc, char** argv, const ValueOptions& options, const Flags& flags = {}) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const auto option = options.find(name);
    if (option == options.end()) throw std::invalid_argument("unknown option " + name);
    if (++i == argc) throw std::invalid_argument(name + " needs a value");
    try {
      option->second(argv[i]);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(name + ' ' + argv[i] + ": " + error.what());
    }
  }
}

/// A decimal number from \p least to \p most. Throws std::invalid_argument.
inline std::uint64_t number(const std::string& text, std::uint64_t least = 0, std::uint64_t most = INT64_MAX) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    throw std::invalid_argument("not a number from " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

/// Stores the value in \p to: a text, or a number from \p least to \p most.
template <typename T>
auto into(T& to, std::uint64_t least = 0, std::uint64_t most = INT64_MAX) {
  return [=, &to](const std::string& text) {
    if constexpr (std::is_assignable_v<T&, const std::string&>)
      to = text;
    else
      to = static_cast<T>(number(text, least, most));
  };
}

}  // namespace bench
