#pragma once
/// The options of a command, and what was given of them, with messages that help. Reads words into values: numbers with
/// suffixes, durations, sizes, choices. Pure; no terminal.

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tuner/core/values/configuration.hpp>
#include <tuner/core/values/message_text.hpp>

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

inline constexpr std::int64_t kAnyCount = std::numeric_limits<std::int64_t>::max();

/// A whole number in [low, high]: `4096`, `4k`, `16M`, `1G` (powers of 1024), `1e6`, `2.5e3`, `2^24`, `2**24`.
/// Throws UsageError naming \p option.
std::int64_t parse_count(std::string_view text, std::string_view option, std::int64_t low = 0,
                         std::int64_t high = kAnyCount);

/// `30s`, `2.5m`, `1h`, `12us`, `1m30s`; a unit is required. Throws UsageError naming \p option.
std::chrono::duration<double> parse_duration(std::string_view text, std::string_view option);

/// A finite number in [low, high]. Throws UsageError naming \p option.
double parse_number(std::string_view text, std::string_view option, double low, double high);

/// `nx=4096,ny=4k`. Throws UsageError for a part without `=`, a repeated name, or a value that is not a number.
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

using Texts = std::vector<std::string>;

/// The exit codes of every command. kSlower: `tune compare` found something that became slower.
inline constexpr int kDone = 0, kFailed = 1, kUsage = 2, kSlower = 3;

/// The options and arguments of one command line. A name that the command has no option for is a programming error.
class Given {
 public:
  /// Whether the user gave \p option. False where it only has its default.
  bool has(const std::string& option) const;
  bool flag(const std::string& option) const { return has(option); }
  /// The value or the default; empty without either.
  std::string text(const std::string& option) const;
  /// The same of an option that other commands repeat. Throws UsageError for several values.
  std::string only(const std::string& option) const;
  /// The values of an option that may be repeated, or of arguments without a dash.
  Texts texts(const std::string& option) const;
  /// Throws UsageError for the first of \p options that was given and has no effect \p where: "with --dry-run".
  void refuse(std::initializer_list<const char*> options, std::string_view where) const;

 private:
  friend class Options;
  struct Values {
    Texts texts;
    bool is_default = false;
  };
  std::map<std::string, Values> values_;
};

/// The options of one command. An option that several commands have stands in one table (options.cpp), so that it is
/// spelled and explained once.
class Options {
 public:
  enum class Kind { flag, text, texts };
  struct Option {
    Kind kind;
    const char* name;
    const char* value;
    const char* help;
    const char* preset = nullptr;
    bool is_common = false;

    std::string long_name() const;
    std::string short_name() const;  ///< empty: none
  };
  struct Group {
    std::string title;
    std::vector<Option> options;
  };

  /// \p usage: a line each. \p examples may be empty. Both are printed by --help, which every command has.
  explicit Options(std::string usage = {}, std::string examples = {});

  /// Options of the table, by their long names, separated by blanks. Throws std::logic_error for any other name.
  Options& add(std::string_view names);
  /// Options that only this command has. They have a long name, or as "rows,r" a short one too.
  Options& flag(const char* name, const char* help);
  /// \p value: how --help shows it. \p preset: the default; null: none.
  Options& text(const char* name, const char* value, const char* help, const char* preset = nullptr);
  /// May be repeated.
  Options& texts(const char* name, const char* value, const char* help);
  /// The names of arguments without a dash. The last takes all that are left when it ends in `...`. An argument with
  /// the name of an option is another way to give that option.
  Options& arguments(Texts names);
  /// --help shows the options that follow under \p title.
  Options& group(const char* title);

  /// \p words: those after the command's name. Throws UsageError, with a suggestion for a misspelt option.
  Given read(const Texts& words) const;
  /// The page that --help prints. It only names the options that common_help() explains.
  std::string help() const;
  const std::string& usage() const { return usage_; }
  const std::string& examples() const { return examples_; }
  const std::vector<Group>& groups() const { return groups_; }
  /// Explains the options that most commands have.
  static std::string common_help();

 private:
  static const std::vector<Option>& shared();

  std::string usage_, examples_;
  std::vector<Group> groups_;
  Texts arguments_;
};

/// A command of `tune`. \p run returns the exit code; it throws UsageError and tuner::Error.
struct Command {
  Options options;
  int (*run)(const Given& given);
};

}  // namespace tuner::cli
