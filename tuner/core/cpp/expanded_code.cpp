#include <tuner/core/cpp/expanded_code.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <utility>

#include <tuner/core/cpp/definitions.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

// Far more than any program has. They end files that include themselves without a guard.
constexpr std::size_t kMostExpandedBytes = std::size_t{16} << 20;
constexpr int kMostFilesOpen = 64;
constexpr int kMostFilesRead = 4096;

constexpr std::size_t kLongestCondition = 4096;  // with its macros replaced
constexpr int kMostReplacements = 1024;          // in a condition

/// `64` of `64u` and `0x40`.
std::string decimal(std::string_view number) {
  const std::string_view digits = number.substr(0, number.find_last_not_of("uUlL") + 1);
  const bool is_hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const bool is_octal = digits.size() > 1 && digits[0] == '0' && !is_hexadecimal;
  const std::string_view rest = digits.substr(is_hexadecimal ? 2 : 0);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value,
                                            is_hexadecimal ? 16
                                            : is_octal     ? 8
                                                           : 10);
  return error == std::errc() && end == rest.data() + rest.size() ? std::to_string(value) : std::string(digits);
}

/// \p text in which \p replaced takes the place of each word, and numbers are decimal, without suffixes.
std::string with_words(std::string_view text, const std::function<std::string(std::string_view)>& replaced) {
  return replace_words(text,
                       [&](std::string_view word) { return is_digit(word.front()) ? decimal(word) : replaced(word); });
}

/// Macros, as far as they are known.
class Macros {
 public:
  explicit Macros(const KnownMacros& known) : own_(known.own) {
    for (const std::string& name : known.perhaps) may_exist(name);
    for (const std::string& name : known.defined) define(name, std::nullopt);
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
    constexpr std::string_view of_others =
        "_WIN32 _WIN64 _MSC_VER __APPLE__ __HIP__ __HIPCC__ __HIP_PLATFORM_AMD__ __OPENCL_VERSION__";
    if (has_word(of_others, name) || contains(own_, name)) return false;
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
  const std::vector<std::string>& own_;
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
  Expansion(const Includes* includes, IncludeFolders folders, const KnownMacros& known)
      : folders_(std::move(folders)), macros_(known), open_(known) {
    if (includes == nullptr) return;
    for (const IncludedFile& file : includes->files)
      files_.emplace(std::filesystem::path(file.path).lexically_normal().string(), &file);
  }

  void file(std::string_view text, const std::filesystem::path& path) {
    const std::string code = code_of(text);
    const std::vector<DirectiveLine> lines = directives_of(code);
    if (const std::string_view guard = guard_of(code, lines); !guard.empty()) note_read(path, guard);
    const std::size_t around = branches_.size();
    Source source{text, path};
    std::size_t at = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      write(std::string_view(code).substr(at, lines[i].begin - at));
      at = lines[i].end;
      const bool begins_guard = i + 1 < lines.size() && is_guard(lines[i], lines[i + 1]);
      directive(lines[i], begins_guard, source);
    }
    write(std::string_view(code).substr(at));
    write("\n");
    while (branches_.size() > around) close_branch();
  }

  ExpandedCode finish() && { return {ScopedCode(std::move(code_)), std::move(missing_), std::move(overrides_)}; }

 private:
  enum class Truth { no, perhaps, yes };
  /// The text that is being read, with comments and literals, and what `#line` calls it.
  struct Source {
    std::string_view text;
    std::filesystem::path path;
    std::size_t begin = 0;  ///< of the line with the number `line`
    int line = 1;

    int line_of(std::size_t at) const {
      return line + static_cast<int>(std::count(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                                text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    }
  };
  struct Branch {
    Truth is_taken = Truth::yes;
    bool others_are_not = false;  ///< an earlier branch is taken for certain
    bool is_written = false;      ///< its `#if` stays
    Truth around = Truth::yes;    ///< whether the place of its `#if` is read
  };

  /// Whether the compiler reads the current place.
  Truth is_read() const {
    return branches_.empty() ? Truth::yes : std::min(branches_.back().around, branches_.back().is_taken);
  }

  void write(std::string_view code) {
    if (is_read() != Truth::no && code_.size() < kMostExpandedBytes) code_ += code;
  }

  /// The name of the guard around all of a file with the directives \p lines; empty if there is none.
  std::string_view guard_of(std::string_view code, const std::vector<DirectiveLine>& lines) const {
    if (lines.size() < 3 || !is_guard(lines[0], lines[1])) return {};
    int depth = 0;
    for (const DirectiveLine& line : lines) {
      const bool is_last = &line == &lines.back();
      depth += line.name().starts_with("if") ? 1 : line.name() == "endif" ? -1 : 0;
      if ((depth == 0) != is_last || (depth == 1 && line.name().starts_with("el"))) return {};
    }
    const auto is_blank = [](std::string_view part) { return trimmed(part).empty(); };
    if (!is_blank(code.substr(0, lines.front().begin)) || !is_blank(code.substr(lines.back().end))) return {};
    return asked_to_be_undefined(lines.front());
  }

  /// \p guard: the macro that is defined from now on; empty for `#pragma once`.
  void note_read(const std::filesystem::path& path, std::string_view guard) {
    read_.emplace(path.lexically_normal().string(), Guard{std::string(guard), is_read() == Truth::yes});
  }

  /// Whether \p file was read and has a guard.
  bool skip_if_done(const IncludedFile& file) {
    const auto guard = read_.find(std::filesystem::path(file.path).lexically_normal().string());
    if (guard == read_.end()) return false;
    if (!guard->second.is_certain) write("\n#include\n");
    return true;
  }

  /// Whether \p line and \p next are the first of a file that is read once: `#ifndef FILE_H` and `#define FILE_H`.
  bool is_guard(const DirectiveLine& line, const DirectiveLine& next) const {
    const std::string_view name = asked_to_be_undefined(line);
    if (name.empty() || defined_name(next) != name || macros_.is_known(name)) return false;
    const std::string_view value = trimmed(next.rest().substr(name.size()));
    return value.empty() || value == "1";
  }

  void directive(const DirectiveLine& line, bool begins_guard, Source& source) {
    const std::string_view word = line.name();
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      branches_.push_back({Truth::no, is_read() == Truth::no, false, is_read()});
      if (branches_.back().around != Truth::no) choose(begins_guard ? std::optional(true) : condition(line));
    } else if (word == "elif" && !branches_.empty()) {
      choose(macros_.holds(line.rest()));
    } else if (word == "else" && !branches_.empty()) {
      choose(true);
    } else if (word == "endif" && !branches_.empty()) {
      close_branch();
    } else if (is_read() != Truth::no) {
      other_directive(line, source);
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

  void other_directive(const DirectiveLine& line, Source& source) {
    const std::string_view word = line.name();
    if (word == "include" || word == "line") {
      const std::string whole = code_of(source.text.substr(line.begin, line.end - line.begin), Literals::kept);
      const auto with_name = directive_at(whole, 0);
      const std::string_view rest = with_name ? with_name->rest() : std::string_view();
      if (word == "include") return include(rest, source.path);
      if (const auto name = included_name(rest.substr(std::min(rest.find('"'), rest.size())))) source.path = *name;
      source.line = number_of<int>(word_at(rest, 0)).value_or(1);
      source.begin = std::min(line.end + 1, source.text.size());
      return;
    }
    if (word == "pragma" && word_at(line.rest(), 0) == "tuner") return;
    if (word == "pragma" && trimmed(line.rest()) == "once") note_read(source.path, "");
    const std::string name(word_at(line.rest(), 0));
    const bool changes = word == "define" || word == "undef", is_defined = contains(open_.defined, name);
    if (changes && is_defined && defined_name(line).empty())
      overrides_.push_back({name, source.path.string(), source.line_of(line.begin)});
    if (changes && (is_defined || contains(open_.perhaps, name))) return;
    if (changes && is_read() != Truth::yes) {
      macros_.may_exist(name);
    } else if (word == "define") {
      const bool has_value = !defined_name(line).empty();
      macros_.define(name,
                     has_value ? std::optional(std::string(trimmed(line.rest().substr(name.size())))) : std::nullopt);
    } else if (word == "undef") {
      macros_.remove(name);
    }
    if (word == "undef") std::erase_if(read_, [&](const auto& one) { return one.second.name == name; });
    write("\n#" + line.text + "\n");
  }

  void include(std::string_view named, const std::filesystem::path& from) {
    const auto name = included_name(named);
    if (!name) return macros_.may_have_others();  // a macro names the file
    const bool is_quoted = named.starts_with('"');
    const IncludedFile* const found = find(is_quoted ? folders_.places(*name, from) : folders_.places(*name));
    if (found == nullptr && is_quoted) {
      if (!contains(missing_, *name)) missing_.push_back(*name);
      macros_.may_have_others();
    }
    if (found == nullptr || files_open_ == kMostFilesOpen || files_read_ == kMostFilesRead ||
        code_.size() >= kMostExpandedBytes || skip_if_done(*found))
      return;
    ++files_open_;
    ++files_read_;
    file(found->text, found->path);
    --files_open_;
  }

  const IncludedFile* find(const std::vector<std::filesystem::path>& places) const {
    for (const std::filesystem::path& place : places)
      if (const auto at = files_.find(place.lexically_normal().string()); at != files_.end()) return at->second;
    return nullptr;
  }

  struct Guard {
    std::string name;
    bool is_certain = false;  // the file was read for certain
  };

  IncludeFolders folders_;
  std::map<std::string, const IncludedFile*> files_;  ///< by their paths
  Macros macros_;
  const KnownMacros& open_;
  std::map<std::string, Guard> read_;  ///< of files that are read once, by their paths
  std::vector<Branch> branches_;       ///< around the current place, over all files
  int files_open_ = 0, files_read_ = 0;
  std::string code_;
  std::vector<std::string> missing_;
  std::vector<ExpandedCode::Override> overrides_;
};

/// \p text with numbers in place of `sizeof(TYPE)` for the types of C++ and of vectors.
std::string with_sizes(std::string text) {
  for (std::size_t at = find_word(text, "sizeof"); at != npos; at = find_word(text, "sizeof", at + 1)) {
    const std::size_t open = skip_space(text, at + 6);
    if (text.substr(open, 1) != "(") continue;
    const std::size_t end = after_brackets(text, open);
    if (end == npos) continue;
    const auto type = numbers_of(trimmed(std::string_view(text).substr(open + 1, end - open - 2)));
    if (type) text.replace(at, end - at, std::to_string(info(type->type).bytes * std::size_t(type->components)));
  }
  return text;
}

struct Lookup {
  const ScopedCode& code;
  int left = 64;  ///< how many names may still be looked up

  /// The definitions that \p used means, or if that is in no namespace of the text, all.
  std::vector<DefinedValue> definitions(const UsedName& used, bool anywhere) const {
    std::vector<DefinedValue> all = values_of(code.text(), last_part(used.name));
    if (anywhere) return all;
    std::vector<std::size_t> places;
    for (const DefinedValue& one : all) places.push_back(one.begin);
    places = resolve(code, used, std::move(places));
    std::erase_if(all, [&](const DefinedValue& one) { return !contains(places, one.begin); });
    return all;
  }

  std::optional<std::int64_t> value(const UsedName& used, bool anywhere) {
    if (--left < 0) return std::nullopt;
    const std::vector<DefinedValue> all = definitions(used, anywhere);
    const auto is_other = [&](const DefinedValue& one) {
      return one.value != all.front().value || !code.is_always_there(one.begin);
    };
    if (all.empty() || std::ranges::any_of(all, is_other)) return std::nullopt;
    const std::size_t at = all.front().begin;
    bool is_known = true;
    const std::string text = with_words(with_sizes(all.front().value), [&](std::string_view word) {
      UsedName other{std::string(word), code.namespaces_at(at), at};
      if (code.is_macro(at)) other.namespaces = used.namespaces, other.at = used.at;
      // C++ puts the text of a macro there, not its value: `2 * SUM` of `1 + 1`.
      const std::vector<DefinedValue> others = definitions(other, anywhere);
      const auto is_one = [](const DefinedValue& one) {
        return one.value.starts_with('(') || one.value.find_first_of("+-*/%<>=&|?!~^ ") == std::string::npos;
      };
      const auto value = std::ranges::all_of(others, is_one) ? this->value(other, anywhere) : std::nullopt;
      is_known = is_known && value;
      return value ? '(' + std::to_string(*value) + ')' : std::string();
    });
    return is_known ? value_of_literals(text) : std::nullopt;
  }
};

}  // namespace

ExpandedCode expanded_code(std::string_view program, std::string_view file, const Includes* includes,
                           const std::vector<std::string>& folders, const KnownMacros& known) {
  const std::filesystem::path path(file);
  Expansion expansion(includes, IncludeFolders(path, folders), known);
  expansion.file(program, path);
  return std::move(expansion).finish();
}

std::optional<std::int64_t> value_of_literals(std::string_view text) {
  if (text.size() > kLongestCondition) return std::nullopt;
  try {
    const Value value =
        Expression::parse(with_words(text, [](std::string_view word) { return std::string(word); }), {}).evaluate({});
    return value.is_integer() ? std::optional(value.integer()) : std::nullopt;
  } catch (const SpecError&) {
    return std::nullopt;
  }
}

std::optional<std::int64_t> constant_called(const ScopedCode& code, const UsedName& used) {
  return Lookup{code}.value(used, false);
}

std::optional<std::int64_t> constant_called(const ScopedCode& code, const std::string& name) {
  return Lookup{code}.value({name, "", std::string::npos}, true);
}

}  // namespace tuner
