#include <tuner/core/expanded_code.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <tuner/core/characters.hpp>
#include <tuner/core/definitions.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/signature.hpp>

namespace tuner {
namespace {

// Far more than any program has. They end files that include themselves without a guard.
constexpr std::size_t kMostExpandedBytes = std::size_t{16} << 20;
constexpr int kMostFilesOpen = 64;
constexpr int kMostFilesRead = 4096;

constexpr std::size_t kLongestCondition = 4096;  // with its macros replaced
constexpr int kMostReplacements = 1024;          // in a condition

/// `64` of `64u`. An octal number is nothing that expressions know.
std::string_view without_suffix(std::string_view number) {
  const std::size_t end = number.find_last_not_of("uUlL");
  return number.size() > 1 && number[0] == '0' && is_digit(number[1]) ? "?" : number.substr(0, end + 1);
}

/// \p text in which \p replaced takes the place of each word, and numbers have no suffixes.
std::string with_words(std::string_view text, const std::function<std::string(std::string_view)>& replaced) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = word_at(text, at);
    result += word.empty()             ? std::string(1, text[at])
              : is_digit(word.front()) ? std::string(without_suffix(word))
                                       : replaced(word);
    at += std::max<std::size_t>(word.size(), 1);
  }
  return result;
}

/// Macros, as far as they are known.
class Macros {
 public:
  explicit Macros(const OpenMacros& open) {
    for (const std::string& name : open.perhaps) may_exist(name);
    for (const std::string& name : open.defined) define(name, std::nullopt);
    define("TUNER", "1");
    define("__cplusplus", "201703");
  }

  /// Without a \p value it is not known.
  void define(const std::string& name, std::optional<std::string> value) { known_[name] = {true, std::move(value)}; }
  void may_exist(const std::string& name) { known_[name] = {false, std::nullopt}; }
  void remove(const std::string& name) { known_.erase(name); }
  bool is_known(std::string_view name) const { return known_.find(name) != known_.end(); }

  /// From now on, names that are not known may be macros: a file that is included was not read.
  void may_have_others() { has_all_ = false; }

  /// Whether \p condition of an `#if` holds; nothing if only a compiler knows.
  std::optional<bool> holds(std::string_view condition) const {
    int left = kMostReplacements;
    bool is_known = true;
    const std::string text = replaced(condition, is_known, left);
    if (!is_known || text.size() > kLongestCondition) return std::nullopt;
    try {
      return Expression::parse(text, {}).evaluate_boolean({});
    } catch (const SpecError&) {  // `~A`, `0x10`, a macro with arguments
      return std::nullopt;
    }
  }

 private:
  /// Compilers and their headers define macros that the text does not.
  bool may_be_elsewhere(std::string_view name) const {
    constexpr std::array<std::string_view, 8> of_others{"_WIN32",
                                                        "_WIN64",
                                                        "_MSC_VER",
                                                        "__APPLE__",
                                                        "__HIP__",
                                                        "__HIPCC__",
                                                        "__HIP_PLATFORM_AMD__",
                                                        "__OPENCL_VERSION__"};
    if (contains(of_others, name)) return false;
    return !has_all_ || name.starts_with('_') || name.starts_with("TUNER_") || name.starts_with("CUDA") ||
           name.starts_with("HAVE_") || name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_VERSION");
  }

  /// \p is_known becomes false if the text asks for something that only a compiler knows. \p left: how many macros may
  /// still be replaced.
  std::string replaced(std::string_view text, bool& is_known, int& left) const {
    bool asks = false;  // after `defined`
    std::string result = with_words(text, [&](std::string_view word) -> std::string {
      if (word == "defined") {
        asks = true;
        return "";
      }
      const bool is_asked = std::exchange(asks, false);
      const auto at = known_.find(word);
      const bool may_be_defined = at == known_.end() ? may_be_elsewhere(word) : !at->second.is_certain;
      if (!is_asked && (word == "true" || word == "false")) return std::string(word);
      if (may_be_defined || (!is_asked && at != known_.end() && !at->second.value)) {
        is_known = false;
        return "0";
      }
      if (is_asked) return at == known_.end() ? "0" : "1";
      if (at == known_.end()) return "0";
      return --left < 0 ? "?" : replaced(*at->second.value, is_known, left);
    });
    if (result.size() > kLongestCondition) result.resize(kLongestCondition + 1);
    return result;
  }

  struct Macro {
    bool is_certain = false;
    std::optional<std::string> value;
  };
  std::map<std::string, Macro, std::less<>> known_;
  bool has_all_ = true;
};

/// The name that `#ifndef NAME` or `#if !defined(NAME)` asks for; empty for anything else.
std::string_view asked_to_be_undefined(const DirectiveLine& line) {
  const std::string_view rest = line.rest();
  if (line.name() == "ifndef") return word_at(rest, 0);
  if (line.name() != "if" || !rest.starts_with('!')) return {};
  const std::vector<std::string_view> words = words_of(rest);
  return words.size() == 2 && words[0] == "defined" ? words[1] : std::string_view();
}

class Expansion {
 public:
  Expansion(const Includes* includes, std::vector<std::filesystem::path> folders, const OpenMacros& open)
      : folders_(std::move(folders)), macros_(open), open_(open) {
    if (includes == nullptr) return;
    for (const IncludedFile& file : includes->files)
      files_.emplace(std::filesystem::path(file.path).lexically_normal().string(), &file);
  }

  void file(std::string_view text, std::filesystem::path path) {
    const std::string code = code_of(text), with_literals = code_of(text, Literals::kept);
    const std::vector<DirectiveLine> lines = directives_of(with_literals);
    const std::size_t around = branches_.size();
    std::size_t at = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      write(std::string_view(code).substr(at, lines[i].begin - at));
      at = lines[i].end;
      const bool begins_guard = i + 1 < lines.size() && is_guard(lines[i], lines[i + 1]);
      directive(lines[i], begins_guard, path);
    }
    write(std::string_view(code).substr(at));
    write("\n");
    while (branches_.size() > around) close_branch();
  }

  ExpandedCode take() && { return std::move(result_); }

 private:
  enum class Truth { no, perhaps, yes };
  struct Branch {
    Truth is_taken = Truth::yes;
    bool others_are_not = false;  ///< an earlier branch is taken for certain
    bool is_written = false;      ///< its `#if` stays
    bool around_is_read = true, around_is_certain = true;

    bool is_read() const { return around_is_read && is_taken != Truth::no; }
    bool is_certain() const { return around_is_certain && is_taken == Truth::yes; }
  };

  bool is_read() const { return branches_.empty() || branches_.back().is_read(); }
  bool is_certain() const { return branches_.empty() || branches_.back().is_certain(); }

  void write(std::string_view code) {
    if (is_read() && result_.code.size() < kMostExpandedBytes) result_.code += code;
  }

  /// Whether \p line and \p next are the first of a file that is read once: `#ifndef FILE_H` and `#define FILE_H`.
  bool is_guard(const DirectiveLine& line, const DirectiveLine& next) const {
    const std::string_view name = asked_to_be_undefined(line);
    if (name.empty() || defined_name(next) != name || macros_.is_known(name)) return false;
    const std::string_view value = trimmed(next.rest().substr(name.size()));
    return value.empty() || value == "1";
  }

  void directive(const DirectiveLine& line, bool begins_guard, std::filesystem::path& path) {
    const std::string_view word = line.name();
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      branches_.push_back({Truth::no, !is_read(), false, is_read(), is_certain()});
      if (branches_.back().around_is_read) choose(begins_guard ? std::optional(true) : condition(line));
    } else if (word == "elif" && !branches_.empty()) {
      choose(macros_.holds(line.rest()));
    } else if (word == "else" && !branches_.empty()) {
      choose(true);
    } else if (word == "endif" && !branches_.empty()) {
      close_branch();
    } else if (is_read()) {
      other_directive(line, path);
    }
  }

  std::optional<bool> condition(const DirectiveLine& line) const {
    if (line.name() == "if") return macros_.holds(line.rest());
    const std::string name(word_at(line.rest(), 0));
    return macros_.holds((line.name() == "ifdef" ? "defined " : "! defined ") + name);
  }

  /// Begins a branch of the innermost `#if`. \p holds: whether its condition does, if that is known.
  void choose(std::optional<bool> holds) {
    Branch& branch = branches_.back();
    if (branch.others_are_not || (holds && !*holds)) {
      branch.is_taken = Truth::no;
      return;
    }
    const bool may_be_another = branch.is_written || !holds;
    branch.is_taken = may_be_another ? Truth::perhaps : Truth::yes;
    branch.others_are_not = holds.has_value();
    if (may_be_another) write(branch.is_written ? "\n#else\n" : "\n#if\n");
    branch.is_written = may_be_another;
  }

  void close_branch() {
    const bool is_written = branches_.back().is_written;
    branches_.pop_back();
    if (is_written) write("\n#endif\n");
  }

  void other_directive(const DirectiveLine& line, std::filesystem::path& path) {
    const std::string_view word = line.name();
    if (word == "include") return include(line.rest(), path);
    if (word == "line") {
      if (const std::size_t quote = line.rest().find('"'); quote != std::string_view::npos)
        path = line.rest().substr(quote + 1, line.rest().rfind('"') - quote - 1);
      return;
    }
    if (word == "pragma" && trimmed(line.rest()) == "once") read_once_.insert(path.lexically_normal().string());
    const std::string name(word_at(line.rest(), 0));
    const bool is_open = contains(open_.defined, name) || contains(open_.perhaps, name);
    if ((word == "define" || word == "undef") && is_open) return;
    const bool changes = word == "define" || word == "undef";
    if (changes && !is_certain()) {
      macros_.may_exist(name);
    } else if (word == "define") {
      const bool has_value = !defined_name(line).empty();
      macros_.define(name,
                     has_value ? std::optional(std::string(trimmed(line.rest().substr(name.size())))) : std::nullopt);
    } else if (word == "undef") {
      macros_.remove(name);
    }
    write("\n#" + code_of(line.text) + "\n");
  }

  void include(std::string_view named, const std::filesystem::path& from) {
    const bool is_quoted = named.starts_with('"');
    if (!is_quoted && !named.starts_with('<')) return macros_.may_have_others();  // a macro names the file
    const std::string name(named.substr(1, named.find(is_quoted ? '"' : '>', 1) - 1));
    const IncludedFile* const found = find(name, is_quoted ? from : std::filesystem::path());
    if (found == nullptr && is_quoted && !contains(result_.missing, name)) result_.missing.push_back(name);
    if (found == nullptr && is_quoted) macros_.may_have_others();
    if (found == nullptr || read_once_.contains(std::filesystem::path(found->path).lexically_normal().string()) ||
        files_open_ == kMostFilesOpen || files_read_ == kMostFilesRead || result_.code.size() >= kMostExpandedBytes)
      return;
    ++files_open_;
    ++files_read_;
    file(found->text, found->path);
    --files_open_;
  }

  const IncludedFile* find(const std::string& name, const std::filesystem::path& from) const {
    const auto in = [&](const std::filesystem::path& folder) -> const IncludedFile* {
      const auto at = files_.find((folder / name).lexically_normal().string());
      return at == files_.end() ? nullptr : at->second;
    };
    if (!from.empty())
      if (const IncludedFile* const beside = in(from.parent_path())) return beside;
    for (const std::filesystem::path& folder : folders_)
      if (const IncludedFile* const there = in(folder)) return there;
    const auto is_it = [&](const auto& one) { return one.first.ends_with('/' + name); };
    // In a folder that only compilers are told of; not if there are several, and not for `<stdint.h>`.
    if (from.empty() || std::count_if(files_.begin(), files_.end(), is_it) != 1) return nullptr;
    return std::find_if(files_.begin(), files_.end(), is_it)->second;
  }

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, const IncludedFile*> files_;  ///< by their paths
  Macros macros_;
  const OpenMacros& open_;
  std::set<std::string> read_once_;  ///< paths
  std::vector<Branch> branches_;     ///< around the current place, over all files
  int files_open_ = 0, files_read_ = 0;
  ExpandedCode result_;
};

/// \p left: how many names may still be looked up.
std::optional<std::int64_t> constant_value(std::string_view code, std::string_view name, int& left) {
  if (--left < 0) return std::nullopt;
  const std::vector<DefinedValue> all = definitions_of(code, name);
  const auto is_other = [&](const DefinedValue& one) {
    return one.value != all.front().value || !is_always_there(code, one.begin);
  };
  constexpr std::size_t many = 16;  // all of one value
  if (all.empty() || all.size() > many || std::any_of(all.begin(), all.end(), is_other)) return std::nullopt;
  bool is_known = true;
  const std::string text = with_words(all.front().value, [&](std::string_view word) {
    // C++ puts the text of a macro there, not its value: `2 * SUM` of `1 + 1`.
    const std::vector<DefinedValue> others = definitions_of(code, word);
    const auto is_one = [](const DefinedValue& one) {
      return one.value.starts_with('(') || one.value.find_first_of("+-*/%<>=&|?!~^ ") == std::string::npos;
    };
    const auto value =
        std::all_of(others.begin(), others.end(), is_one) ? constant_value(code, word, left) : std::nullopt;
    is_known = is_known && value;
    return value ? '(' + std::to_string(*value) + ')' : std::string();
  });
  if (!is_known || text.size() > kLongestCondition) return std::nullopt;
  try {
    const Value value = Expression::parse(text, {}).evaluate({});
    return value.is_integer() ? std::optional(value.integer()) : std::nullopt;
  } catch (const SpecError&) {
    return std::nullopt;
  }
}

}  // namespace

ExpandedCode expanded_code(std::string_view program, std::string_view file, const Includes* includes,
                           const std::vector<std::string>& folders, const OpenMacros& open) {
  const std::filesystem::path path(file);
  std::vector<std::filesystem::path> all{path.parent_path()};
  all.insert(all.end(), folders.begin(), folders.end());
  Expansion expansion(includes, std::move(all), open);
  expansion.file(program, path);
  return std::move(expansion).take();
}

std::optional<std::int64_t> constant_called(std::string_view code, std::string_view name) {
  int left = 64;
  return constant_value(code, name, left);
}

}  // namespace tuner
