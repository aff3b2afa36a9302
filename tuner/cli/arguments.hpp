#pragma once
/// Reads the words of a command line into values: numbers with suffixes, durations, sizes, choices. Pure; no terminal.

#include <chrono>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tuner/core/configuration.hpp>

namespace tuner::cli {

/// A command line that cannot be understood: exit code 2. what() names the place and says what to do.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// With fmt::format().
  template <typename First, typename... More>
  explicit UsageError(fmt::format_string<First, More...> form, First&& first, More&&... more)
      : std::runtime_error(fmt::format(form, std::forward<First>(first), std::forward<More>(more)...)) {}
};

/// A whole number: `4096`, `4k`, `16M`, `1G` (powers of 1024), `1e6`, `2.5e3`, `2^24`, `2**24`. Never negative.
/// Throws UsageError naming \p option.
std::int64_t parse_count(std::string_view text, std::string_view option);
/// The same, in [low, high].
std::int64_t parse_count(std::string_view text, std::string_view option, std::int64_t low, std::int64_t high);

/// `30s`, `2.5m`, `1h`, `12us`, `1m30s`; a unit is required. Throws UsageError naming \p option.
std::chrono::duration<double> parse_duration(std::string_view text, std::string_view option);

/// A finite number in [low, high]. Throws UsageError naming \p option.
double parse_number(std::string_view text, std::string_view option, double low, double high);

/// `nx=4096,ny=4k`. Throws UsageError for a part without `=`, a repeated name, or a value that is no number.
std::map<std::string, std::int64_t> parse_sizes(std::string_view text, std::string_view option);

/// `operation=sum,finish=atomic`.
std::map<std::string, std::string> parse_assignments(std::string_view text, std::string_view option);

/// The same where a name may have several values: `operation=sum,max,finish=atomic`.
std::map<std::string, std::vector<std::string>> parse_lists(std::string_view text, std::string_view option);

/// `block=32 unroll=4`. Throws UsageError naming \p option.
Configuration parse_configuration(const std::string& text, std::string_view option);

/// Each element split at \p separator, blanks around parts removed, empty parts left out.
std::vector<std::string> split(const std::vector<std::string>& texts, char separator);

/// Throws UsageError, with a suggestion, unless \p name is one of \p known. \p what: "strategy".
void require_known(std::string_view what, const std::string& name, const std::vector<std::string>& known);

/// The words of \p line, separated by blanks; '…' and "…" keep blanks. A word that begins with # ends the line. Throws
/// UsageError, beginning with \p place, for quotes that are not closed.
std::vector<std::string> split_words(std::string_view line, const std::string& place);

}  // namespace tuner::cli
