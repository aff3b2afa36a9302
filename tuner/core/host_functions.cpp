#include <tuner/core/host_functions.hpp>

#include <algorithm>
#include <array>
#include <set>

#include <tuner/core/characters.hpp>

namespace tuner {
namespace {

/// \p text with comments and literals as blanks, at the same places.
std::string without_literals(std::string_view text) {
  std::string code(text);
  const auto blank = [&](std::size_t begin, std::size_t end) {
    for (; begin < std::min(end, code.size()); ++begin)
      if (code[begin] != '\n') code[begin] = ' ';
  };
  const auto behind = [&](std::string_view what, std::size_t from) {
    const std::size_t at = text.find(what, from);
    return at == std::string_view::npos ? text.size() : at + what.size();
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    const char c = text[at];
    const bool in_word = at > 0 && is_word(text[at - 1]);
    if (text.substr(at, 2) == "//") {
      at = behind("\n", at);
      while (at >= 2 && at < text.size() && text[at - 2] == '\\') at = behind("\n", at);
    } else if (text.substr(at, 2) == "/*") {
      at = behind("*/", at + 2);
    } else if (text.substr(at, 2) == "R\"" && !in_word) {
      const std::size_t open = std::min(text.find('(', at), text.size());
      at = behind(')' + std::string(text.substr(at + 2, open - at - 2)) + '"', open);
    } else if (c == '"' || (c == '\'' && !in_word)) {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at) at += text[at] == '\\';
      ++at;
    } else {
      ++at;
      continue;
    }
    blank(begin, at);
  }
  return code;
}

std::vector<std::string_view> words_in(std::string_view code) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < code.size();) {
    std::size_t end = at;
    while (end < code.size() && is_word(code[end])) ++end;
    if (end > at && is_word_start(code[at])) words.push_back(code.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

using Words = std::set<std::string, std::less<>>;

bool has_any_word(std::string_view code, const Words& wanted) {
  const auto words = words_in(code);
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return wanted.contains(word); });
}

/// Past the directive that starts at \p at, with its continued lines; before the end of its last line.
std::size_t directive_end(std::string_view code, std::size_t at) {
  for (;;) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    std::size_t last = end;
    while (last > at && is_blank(code[last - 1])) --last;
    if (end == code.size() || last == at || code[last - 1] != '\\') return end;
    at = end + 1;
  }
}

/// Adds the macros of \p code whose text has one of \p words.
void add_macros(std::string_view code, Words& words) {
  for (std::size_t at = 0; (at = code.find("define", at)) != std::string_view::npos; at += 6) {
    std::size_t before = at;
    while (before > 0 && is_blank(code[before - 1])) --before;
    if (before == 0 || code[before - 1] != '#') continue;
    const auto all = words_in(code.substr(at, directive_end(code, at) - at));
    if (all.size() > 2 && std::any_of(all.begin() + 2, all.end(), [&](auto word) { return words.contains(word); }))
      words.emplace(all[1]);
  }
}

/// Of a host's program alone, wherever they stand in a declaration.
constexpr std::array<std::string_view, 20> kOfTheHost{
    "vector",     "string",     "map",           "unordered_map", "set",          "list",         "deque",
    "ostream",    "istream",    "ifstream",      "ofstream",      "stringstream", "chrono",       "mt19937",
    "unique_ptr", "shared_ptr", "random_device", "thread",        "mutex",        "unordered_set"};

class HostFunctionScanner {
 public:
  HostFunctionScanner(std::string_view code, const Words& device_words, std::string& result)
      : code_(code), device_words_(device_words), result_(result) {}

  void scan() {
    for (; at_ < code_.size(); ++at_) {
      const char c = code_[at_];
      if (c == '#' && starts_line()) {
        directive();
        continue;
      }
      if (c == ' ' || c == '\n' || is_blank(c)) continue;
      if (begin_ == kNone) begin_ = at_;
      if (c == '(' || c == '[') ++parentheses_;
      if ((c == ')' || c == ']') && parentheses_ > 0) --parentheses_;
      if (c == '{') {
        open();
      } else if (c == '}') {
        close();
      } else if (c == ';' && parentheses_ == 0 && depth_ == 0) {
        end_of_declaration();
      }
    }
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// Where a declaration stands. What `#if` opens, each of its branches opens.
  struct State {
    std::size_t begin;
    int parentheses, depth, namespaces;
    bool is_function, is_host;
  };
  State state() const { return {begin_, parentheses_, depth_, namespaces_, is_function_, is_host_}; }
  void restore(const State& s) {
    begin_ = s.begin;
    parentheses_ = s.parentheses;
    depth_ = s.depth;
    namespaces_ = s.namespaces;
    is_function_ = s.is_function;
    is_host_ = s.is_host;
  }

  bool starts_line() const {
    std::size_t before = at_;
    while (before > 0 && is_blank(code_[before - 1])) --before;
    return before == 0 || code_[before - 1] == '\n';
  }

  void directive() {
    const std::size_t end = directive_end(code_, at_);
    const auto words = words_in(code_.substr(at_, end - at_));
    const std::string_view word = words.empty() ? std::string_view() : words.front();
    if (word == "if" || word == "ifdef" || word == "ifndef") conditions_.push_back(state());
    if ((word == "else" || word == "elif") && !conditions_.empty()) restore(conditions_.back());
    if (word == "endif" && !conditions_.empty()) conditions_.pop_back();
    at_ = end;
  }

  /// What stands of the declaration outside of parentheses, braces and directives.
  std::string head() const {
    std::string text;
    int inside = 0;
    for (std::size_t i = begin_; i < at_; ++i) {
      const char c = code_[i];
      if (c == '#' && (i == 0 || code_[i - 1] == '\n')) {
        i = directive_end(code_, i);
        continue;
      }
      if (c == ')' || c == '}') --inside;
      if (inside == 0 && c != ')' && c != '}') text += c;
      if (c == '(' || c == '{') ++inside;
    }
    return text;
  }
  bool is_of_the_device() const { return has_any_word(code_.substr(begin_, at_ - begin_), device_words_); }

  void open() {
    if (depth_++ > 0) return;
    const std::string text = head();
    const auto words = words_in(text);
    const auto has = [&](std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); };
    const bool is_operator = has("operator");
    const std::size_t bracket = text.find('(');
    const bool is_call = bracket != std::string::npos && (is_operator || text.find('=') > bracket);
    if ((has("namespace") || (words.size() == 1 && words.front() == "extern")) && !is_call) {
      --depth_;
      ++namespaces_;
      begin_ = kNone;
      return;
    }
    is_function_ = is_call && !has("using") && !has("typedef");
    is_host_ = is_function_ && !is_of_the_device();
  }

  void close() {
    if (depth_ == 0) {
      if (namespaces_ > 0) --namespaces_;
      begin_ = kNone;
      return;
    }
    if (--depth_ > 0 || !is_function_) return;
    if (is_host_) blank(at_ + 1);
    begin_ = kNone;
    is_function_ = is_host_ = false;
    parentheses_ = 0;
  }

  void end_of_declaration() {
    const std::string text = head();
    const auto words = words_in(text);
    const auto is = [&](std::string_view word) { return !words.empty() && words.front() == word; };
    const std::size_t bracket = text.find('(');
    // `void f(int);`, not `int x(3);` or `MACRO(x);`: a name before the bracket, a type before the name.
    const std::size_t inside = code_.find_first_not_of(" \t\n", code_.find('(', begin_) + 1);
    const bool is_prototype = bracket != std::string::npos && words_in(text.substr(0, bracket)).size() > 1 &&
                              text.find('=') == std::string::npos &&
                              (code_[inside] == ')' || is_word_start(code_[inside]));
    const bool is_of_the_host =
        std::any_of(words.begin(), words.end(),
                    [](std::string_view word) {
                      return word == "FILE" || word == "cout" || word.starts_with("cudaEvent") ||
                             word.starts_with("cudaStream_");
                    }) ||
        (text.find("std::") != std::string::npos && std::any_of(words.begin(), words.end(), [](std::string_view word) {
           return std::find(kOfTheHost.begin(), kOfTheHost.end(), word) != kOfTheHost.end();
         }));
    const bool is_neither =
        is("using") || is("typedef") || is("static_assert") || is("struct") || is("class") || is("enum") || is("union");
    if (!is_of_the_device() && (is_of_the_host || (is_prototype && !is_neither))) blank(at_ + 1);
    begin_ = kNone;
  }

  /// Up to \p end, but for directives.
  void blank(std::size_t end) {
    for (std::size_t i = begin_; i < end; ++i) {
      if (code_[i] == '#' && (i == 0 || code_[code_.find_last_not_of(" \t", i - 1)] == '\n'))
        i = directive_end(code_, i);
      if (i < end && result_[i] != '\n') result_[i] = ' ';
    }
  }

  std::string_view code_;
  const Words& device_words_;
  std::string& result_;
  std::size_t at_ = 0;
  std::size_t begin_ = kNone;  // of the declaration
  int parentheses_ = 0;
  int depth_ = 0;       // of braces within the declaration
  int namespaces_ = 0;  // around it, and `extern "C" {`
  bool is_function_ = false, is_host_ = false;
  std::vector<State> conditions_;
};

}  // namespace

std::string without_host_functions(std::string_view text, const std::vector<std::string_view>& headers) {
  const std::string code = without_literals(text);
  Words device_words{"__global__", "__device__", "constexpr", "__constant__", "__shared__", "__managed__"};
  for (std::size_t known = 0; known != device_words.size();) {
    known = device_words.size();
    for (const std::string_view header : headers) add_macros(header, device_words);
    add_macros(code, device_words);
  }
  std::string result(text);
  HostFunctionScanner(code, device_words, result).scan();
  return result;
}

}  // namespace tuner
