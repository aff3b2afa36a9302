#include <tuner/core/cpp/scanner.hpp>

#include <array>

#include <tuner/core/values/characters.hpp>

namespace tuner {
namespace {

/// The longest index or list of types, in characters. Without a limit, many brackets that nothing closes would cost
/// quadratic time.
constexpr std::size_t kLongestList = 4'096;
/// The longest part of a statement before a word, in characters. Without a limit, each word of a long list of
/// initialisers would cost a search for the beginning of the list.
constexpr std::size_t kLongestStatement = 4'096;

bool is_opening(char c) { return c == '(' || c == '[' || c == '{'; }
bool is_closing(char c) { return c == ')' || c == ']' || c == '}'; }

/// The first place from \p at on that is not in a continuation.
std::size_t joined(std::string_view text, std::size_t at) {
  for (std::size_t length = 0; (length = continuation_at(text, at)) != 0;) at += length;
  return at;
}

char char_at(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

/// The end of the line at \p at, continuations included.
std::size_t end_of_line(std::string_view text, std::size_t at) {
  for (;;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t last = end > at && text[end - 1] == '\r' ? end - 1 : end;
    if (end == text.size() || last == at || text[last - 1] != '\\') return end;
    at = end + 1;
  }
}

/// Whether only blanks are before \p at in its line. Lines that are continued on it belong to it.
bool begins_line(std::string_view code, std::size_t at) {
  while (at > 0) {
    const std::string_view before = code.substr(0, at);
    const std::size_t length = before.ends_with("\\\n") ? 2 : before.ends_with("\\\r\n") ? 3 : 1;
    if (length == 1 && before.back() == '\n') return true;
    if (length == 1 && !is_blank(before.back())) return false;
    at -= length;
  }
  return true;
}

NonCode block_comment(std::string_view text, std::size_t begin, std::size_t at) {
  for (; (at = text.find('*', at)) != npos; ++at)
    if (const std::size_t slash = joined(text, at + 1); char_at(text, slash) == '/')
      return {NonCode::Kind::block_comment, begin, slash + 1, true};
  return {NonCode::Kind::block_comment, begin, text.size(), false};
}

/// Whether a quote after \p word starts a raw literal.
bool is_raw_prefix(std::string_view word) {
  constexpr std::array<std::string_view, 5> prefixes{"R", "LR", "uR", "UR", "u8R"};
  return std::ranges::find(prefixes, word) != prefixes.end();
}

/// The raw literal whose quote is at \p begin; nothing if there is none.
std::optional<NonCode> raw_literal(std::string_view text, std::size_t begin) {
  constexpr std::size_t longest_delimiter = 16;
  const std::size_t open = text.substr(0, begin + longest_delimiter + 2).find('(', begin);
  if (open == npos) return std::nullopt;
  const std::string close = ')' + std::string(text.substr(begin + 1, open - begin - 1)) + '"';
  const std::size_t end = text.find(close, open);
  const bool is_closed = end != npos;
  return NonCode{NonCode::Kind::raw_literal, begin, is_closed ? end + close.size() : text.size(), is_closed};
}

NonCode literal(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '\n') {
    if (text[at] == text[begin]) return {NonCode::Kind::literal, begin, at + 1, true};
    const std::size_t length = continuation_at(text, at);
    at += length != 0 ? length : text[at] == '\\' && char_at(text, at + 1) != '\n' ? 2 : 1;
  }
  return {NonCode::Kind::literal, begin, std::min(at, text.size()), false};
}

void blank(std::string& code, std::size_t begin, std::size_t end) {
  for (; begin < end; ++begin)
    if (code[begin] != '\n') code[begin] = ' ';
}

}  // namespace

std::size_t continuation_at(std::string_view text, std::size_t at) {
  if (char_at(text, at) != '\\') return 0;
  if (char_at(text, at + 1) == '\n') return 2;
  return char_at(text, at + 1) == '\r' && char_at(text, at + 2) == '\n' ? 3 : 0;
}

std::optional<NonCode> next_non_code(std::string_view text, std::size_t from) {
  for (std::size_t at = from; (at = find_any<'/', '"', '\''>(text, at)) != npos; ++at) {
    if (text[at] == '/') {
      const std::size_t second = joined(text, at + 1);
      if (char_at(text, second) == '/')
        return NonCode{NonCode::Kind::line_comment, at, end_of_line(text, second), true};
      if (char_at(text, second) == '*') return block_comment(text, at, second + 1);
      continue;
    }
    const std::string_view before = word_before(text.substr(from), at - from);
    if (text[at] == '"' && is_raw_prefix(before))
      if (const auto raw = raw_literal(text, at)) return raw;
    const bool parts_digits = text[at] == '\'' && !before.empty() && is_digit(before[0]);
    if (!parts_digits) return literal(text, at);
  }
  return std::nullopt;
}

std::string code_of(std::string_view text, Literals literals) {
  std::string code(text);
  for (auto aside = next_non_code(text, 0); aside; aside = next_non_code(text, aside->end))
    if (aside->kind != NonCode::Kind::literal || literals == Literals::blank) blank(code, aside->begin, aside->end);
  return code;
}

std::string_view DirectiveLine::name() const { return word_at(text, 0); }
std::string_view DirectiveLine::rest() const { return trimmed(std::string_view(text).substr(name().size())); }

std::optional<DirectiveLine> directive_at(std::string_view code, std::size_t at) {
  const std::size_t length = char_at(code, at) == '#' ? 1 : code.substr(at, 2) == "%:" ? 2 : 0;
  if (length == 0) return std::nullopt;
  if (!begins_line(code, at)) return std::nullopt;
  DirectiveLine line{at, end_of_line(code, at), {}, {}};
  code = code.substr(0, line.end);
  for (std::size_t from = joined(code, at + length); from < code.size();) {
    // A backslash that continues nothing ends a run as well.
    std::size_t end = std::min(code.find('\\', from), code.size());
    if (end < code.size() && continuation_at(code, end) == 0) ++end;
    if (line.text.empty())
      while (from < end && is_blank(code[from])) ++from;
    if (from < end) line.runs.push_back({line.text.size(), from});
    line.text += code.substr(from, end - from);
    from = joined(code, end);
  }
  while (!line.text.empty() && is_blank(line.text.back())) line.text.pop_back();
  while (!line.runs.empty() && line.runs.back().begin >= line.text.size()) line.runs.pop_back();
  return line;
}

std::optional<DirectiveLine> directive_around(std::string_view code, std::size_t at) {
  std::size_t begin = at;
  for (std::size_t length = 1; length != 0; begin -= length) {
    const std::string_view before = code.substr(0, begin);
    begin = before.rfind('\n') + 1;  // npos + 1: the first line
    const std::string_view lines = code.substr(0, begin);
    length = lines.ends_with("\\\n") ? 2 : lines.ends_with("\\\r\n") ? 3 : 0;
  }
  begin = std::min(code.find_first_not_of(" \t\r\v\f\n\\", begin), at);
  auto line = directive_at(code, begin);
  return line && at < line->end ? std::move(line) : std::nullopt;
}

std::vector<DirectiveLine> directives_of(std::string_view code) {
  std::vector<DirectiveLine> all;
  for (std::size_t at = 0; (at = find_any<'#', '%'>(code, at)) != npos;) {
    auto line = directive_at(code, at);
    at = line ? line->end : at + 1;
    if (line) all.push_back(std::move(*line));
  }
  return all;
}

std::string_view defined_name(const DirectiveLine& line) {
  if (line.name() != "define") return {};
  const std::string_view rest = line.rest(), name = word_at(rest, 0);
  return rest.substr(name.size()).starts_with('(') ? std::string_view() : name;
}

std::size_t skip_space(std::string_view code, std::size_t at) {
  while (at < code.size() && is_space(code[at])) ++at;
  return at;
}

std::string_view before_space(std::string_view code, std::size_t end) {
  while (end > 0 && is_space(code[end - 1])) --end;
  return code.substr(0, end);
}

std::string_view word_at(std::string_view code, std::size_t at) {
  std::size_t end = at;
  while (end < code.size() && is_word(code[end])) ++end;
  return code.substr(at, end - at);
}

std::string_view word_before(std::string_view code, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_word(code[begin - 1])) --begin;
  return code.substr(begin, end - begin);
}

std::size_t find_word(std::string_view code, std::string_view word, std::size_t from) {
  for (; (from = code.find(word, from)) != npos; ++from)
    if ((from == 0 || !is_word(code[from - 1])) && !is_word(char_at(code, from + word.size()))) return from;
  return from;
}

bool has_word(std::string_view code, std::string_view word) { return find_word(code, word) != npos; }

std::size_t count_word(std::string_view code, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = find_word(code, word, at)) != npos; at += word.size()) ++count;
  return count;
}

bool occurs_in_code(std::string_view source, std::string_view word) {
  std::string code = code_of(source);
  for (const DirectiveLine& line : directives_of(code))
    if (line.name() == "pragma" && word_at(line.rest(), 0) == "tuner") blank(code, line.begin, line.end);
  return has_word(code, word);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view word = word_at(text, at);
    if (!word.empty() && !is_digit(word[0])) result.push_back(word);
    at += std::max<std::size_t>(word.size(), 1);
  }
  return result;
}

std::string substitute_words(std::string_view text, const std::map<std::string, std::string, std::less<>>& values) {
  return replace_words(text, [&](std::string_view word) {
    const auto at = values.find(word);
    return at == values.end() ? word : std::string_view(at->second);
  });
}

std::string in_global_namespace(std::string_view expression) {
  const std::size_t at = skip_space(expression, expression.starts_with('&') ? 1 : 0);
  const bool is_name = at < expression.size() && is_word_start(expression[at]);
  return std::string(expression.substr(0, at)) + (is_name ? "::" : "") + std::string(expression.substr(at));
}

std::string_view statement_before(std::string_view code, std::size_t at) {
  std::size_t begin = at;
  for (; begin > 0 && at - begin < kLongestStatement; --begin) {
    const char c = code[begin - 1];
    if (c == ';' || c == '{' || c == '}') break;
    if (c != '#' && c != '%') continue;
    if (const auto line = directive_at(code, begin - 1)) {
      begin = std::min(line->end, at);
      break;
    }
  }
  return code.substr(begin, at - begin);
}

std::size_t after_brackets(std::string_view code, std::size_t open, std::size_t longest) {
  code = code.substr(0, longest < code.size() - open ? open + longest : code.size());
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (is_opening(code[i])) ++depth;
    if (is_closing(code[i]) && --depth == 0) return i + 1;
  }
  return npos;
}

std::string_view in_braces(std::string_view code, std::size_t from) {
  const std::size_t open = code.find('{', from);
  const std::size_t end = open == npos ? open : after_brackets(code, open);
  return end == npos ? std::string_view() : code.substr(open, end - open);
}

std::size_t after_angles(std::string_view code, std::size_t open) {
  int angles = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (is_opening(code[i])) {
      i = after_brackets(code, i, kLongestList);
      if (i == npos) return i;
      --i;
    } else if (code.substr(i, 2) == "<<") {
      ++i;
    } else if (code[i] == '<') {
      ++angles;
    } else if (code[i] == '>' && --angles == 0) {
      return i + 1;
    }
  }
  return npos;
}

std::vector<std::string_view> at_commas(std::string_view list, bool compares) {
  constexpr int kMostOpenAngles = 64;  // each costs a search for its end
  std::vector<std::string_view> parts;
  int depth = 0, open_angles = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      if (const auto part = trimmed(list.substr(begin, i - begin)); !part.empty()) parts.push_back(part);
      begin = i + 1;
    } else if (is_opening(list[i])) {
      ++depth;
    } else if (is_closing(list[i])) {
      --depth;
    } else if (list.substr(i, 2) == "<<") {
      ++i;
    } else if (list[i] == '<' && depth == 0 && !compares && open_angles < kMostOpenAngles) {
      const std::size_t end = after_angles(list, i);
      if (end == npos)
        ++open_angles;
      else
        i = end - 1;
    }
  }
  return parts;
}

}  // namespace tuner
