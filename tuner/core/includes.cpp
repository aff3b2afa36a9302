#include <tuner/core/includes.hpp>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

namespace tuner {
namespace {

constexpr std::size_t kMostFiles = 4096;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// Phases 2 and 3 of translation (ISO C++ [lex.phases]) as far as directives need them: continued lines joined,
/// comments blank, raw strings empty. Other literals end at the end of their line, as they must.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  /// The next logical line; false at the end.
  bool next(std::string& line) {
    line.clear();
    if (at_ >= text_.size()) return false;
    while (at_ < text_.size()) {
      const std::size_t begin = at_;
      while (at_ < text_.size() && !may_begin_something(text_[at_])) ++at_;
      line += text_.substr(begin, at_ - begin);
      if (at_ == text_.size()) return true;
      const char c = take();
      if (c == '\n') return true;
      if (c == '/' && peek() == '/') {
        while (at_ < text_.size() && peek() != '\n') take();
      } else if (c == '/' && peek() == '*') {
        skip_comment();
        line += ' ';
      } else if (c == '"' && is_raw(line)) {
        skip_raw();
        line += "\"\"";
      } else if (c == '"' || (c == '\'' && !is_separator(line))) {
        line += c;
        literal(c, line);
      } else {
        line += c;
      }
    }
    return true;
  }

 private:
  static bool may_begin_something(char c) { return c == '\n' || c == '/' || c == '"' || c == '\'' || c == '\\'; }

  // A backslash before the end of a line joins it with the next.
  void skip_continuations() {
    while (at_ + 1 < text_.size() && text_[at_] == '\\') {
      if (text_[at_ + 1] == '\n') {
        at_ += 2;
      } else if (text_.substr(at_, 3) == "\\\r\n") {
        at_ += 3;
      } else {
        return;
      }
    }
  }
  char peek() {
    skip_continuations();
    return at_ < text_.size() ? text_[at_] : '\n';
  }
  char take() {
    const char c = peek();
    if (at_ < text_.size()) ++at_;
    return c;
  }

  void skip_comment() {
    take();
    for (char before = ' '; at_ < text_.size();) {
      const char c = take();
      if (before == '*' && c == '/') return;
      before = c;
    }
  }

  void literal(char quote, std::string& line) {
    while (at_ < text_.size() && peek() != '\n') {
      const char c = take();
      line += c;
      if (c == quote) return;
      if (c == '\\' && peek() != '\n') line += take();
    }
  }

  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  /// Whether a quote behind \p line starts a raw string: R, u8R, uR, UR or LR as a word of its own.
  static bool is_raw(std::string_view line) {
    std::size_t begin = line.size();
    while (begin > 0 && is_word(line[begin - 1])) --begin;
    const std::string_view word = line.substr(begin);
    return word == "R" || word == "u8R" || word == "uR" || word == "UR" || word == "LR";
  }
  /// Whether an apostrophe behind \p line parts digits.
  static bool is_separator(std::string_view line) {
    return !line.empty() && is_word(line.back()) &&
           std::string_view("uUL8").find(line.back()) == std::string_view::npos;
  }

  void skip_raw() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return;
    const std::string end = ')' + std::string(text_.substr(at_, open - at_)) + '"';
    const std::size_t close = text_.find(end, open);
    at_ = close == std::string_view::npos ? text_.size() : close + end.size();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\v\f");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
}

/// The word that \p text starts with, taken away from it.
std::string_view take_word(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
  const std::string_view word = text.substr(0, end);
  text = without_blanks(text.substr(end));
  return word;
}

/// `name` of `"name"` or `<name>` at the start of \p text.
std::optional<std::string> quoted(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '<')) return std::nullopt;
  const std::size_t end = text.find(text[0] == '"' ? '"' : '>', 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(1, end - 1));
}

class IncludeWalk {
 public:
  IncludeWalk(std::vector<std::filesystem::path> folders, Includes& result)
      : folders_(std::move(folders)), result_(result) {}

  void file(std::string_view text, const std::filesystem::path& name) {
    Lines lines(text);
    for (std::string line; lines.next(line);) {
      std::string_view rest = without_blanks(line);
      if (rest.starts_with('#')) {
        rest.remove_prefix(1);
      } else if (rest.starts_with("%:")) {
        rest.remove_prefix(2);
      } else {
        continue;
      }
      directive(without_blanks(rest), name);
    }
  }

 private:
  void directive(std::string_view rest, const std::filesystem::path& from) {
    const std::string whole(rest);
    const std::string_view word = take_word(rest);
    if (word == "include" || word == "include_next" || word == "import" || word == "embed") {
      if (const auto name = quoted(rest)) {
        follow(*name, from);
      } else {
        give_up("#" + whole + " in " + from.string() + " names its file by a macro");
      }
    }
    // Whether a file is there decides what is compiled, like the file itself.
    for (std::size_t at = whole.find("__has_"); at != std::string::npos; at = whole.find("__has_", at + 6)) {
      const std::size_t open = whole.find('(', at);
      if (open == std::string::npos) return;
      if (const auto name = quoted(without_blanks(std::string_view(whole).substr(open + 1)))) follow(*name, from);
    }
  }

  void follow(const std::string& name, const std::filesystem::path& from) {
    enter(from.parent_path() / name);
    for (const std::filesystem::path& folder : folders_) enter(folder / name);
  }

  void enter(const std::filesystem::path& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || !seen_.insert(path.lexically_normal().string()).second)
      return;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    if (error || bytes_ + size > kMostBytes || result_.files.size() == kMostFiles) {
      give_up("more is included than " + std::to_string(kMostFiles) + " files or " + std::to_string(kMostBytes >> 20) +
              " MiB");
      return;
    }
    std::string text(static_cast<std::size_t>(size), '\0');
    std::ifstream file_stream(path, std::ios::binary);
    if (!file_stream.read(text.data(), static_cast<std::streamsize>(text.size()))) return;
    bytes_ += text.size();
    result_.files.push_back({path.string(), text});
    file(text, path);
  }

  void give_up(std::string why) {
    if (!result_.unknown) result_.unknown = std::move(why);
  }

  std::vector<std::filesystem::path> folders_;
  Includes& result_;
  std::set<std::string> seen_;
  std::uintmax_t bytes_ = 0;
};

}  // namespace

std::string line_directive(int line, std::string_view file) {
  std::string text = "#line " + std::to_string(line) + " \"";
  for (const char c : file) {
    if (c == '"' || c == '\\') text += '\\';
    if (c != '\n') text += c;
  }
  return text + "\"\n";
}

Includes included_files(const std::string& source, const std::filesystem::path& file_name,
                        const std::vector<std::string>& named) {
  std::vector<std::filesystem::path> folders{file_name.parent_path()};
  folders.insert(folders.end(), named.begin(), named.end());
  for (const char* variable : {"CPATH", "CPLUS_INCLUDE_PATH"}) {
    const char* value = std::getenv(variable);
    std::istringstream list(value != nullptr ? value : "");
    for (std::string folder; std::getline(list, folder, ':');) folders.emplace_back(folder);
  }
  Includes result;
  IncludeWalk(std::move(folders), result).file(source, file_name);
  return result;
}

}  // namespace tuner
