#pragma once
/// The options of a command, and what was given of them, with messages that help.

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tuner/cli/arguments.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::cli {

using Texts = std::vector<std::string>;

inline constexpr int kDone = 0, kFailed = 1, kUsage = 2;

/// The options and arguments of one command line. A name that the command has no option for is a programming error.
class Given {
 public:
  /// Whether the user gave \p option. False where it only has its default.
  bool has(const std::string& option) const;
  bool flag(const std::string& option) const { return has(option); }
  /// The value or the default; empty without either.
  std::string text(const std::string& option) const;
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

class Options {
 public:
  /// \p usage: a line each. \p examples may be empty. Both are printed by --help, which every command has.
  explicit Options(std::string usage = {}, std::string examples = {});

  /// Options have a long name, or as "db,d" a short one too.
  Options& flag(const char* name, const char* help);
  /// \p value: how --help shows it. \p preset: the default; null: none.
  Options& text(const char* name, const char* value, const char* help, const char* preset = nullptr);
  /// May be repeated. One whose \p value ends in `...` takes several values at once.
  Options& texts(const char* name, const char* value, const char* help, const char* preset = nullptr);
  Options& json() { return flag("json", "one JSON document on stdout"); }
  /// The names of arguments without a dash. The last takes all that are left when it ends in `...`.
  Options& arguments(Texts names);
  /// --help shows the options that follow under \p title.
  Options& group(const char* title);

  /// \p argv[0] is the command's name. Throws UsageError, with a suggestion for a misspelt option.
  Given read(int argc, char** argv) const;
  /// What --help prints.
  std::string help() const;

 private:
  enum class Kind { flag, text, texts };
  struct Option {
    Kind kind;
    const char* name;
    const char* value;
    const char* help;
    const char* preset;
  };
  struct Group {
    std::string title;
    std::vector<Option> options;
  };
  struct Described;
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
