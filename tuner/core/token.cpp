#include <tuner/core/token.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <tuner/core/characters.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

constexpr std::array<std::string_view, 8> kTwoCharacters{"==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};
constexpr std::string_view kOneCharacter = "+-*/%<>!?:,=()[]{}";

// Far more than anybody writes. So many are still read in well under a second.
constexpr std::size_t kMostDirectives = 4096;

class DirectiveFinder {
 public:
  DirectiveFinder(std::string_view text, const std::string& file) : text_(text), file_(file) {
    for (std::size_t end = 0; (end = text.find('\n', end)) != npos;) line_starts_.push_back(++end);
  }

  std::vector<LogicalLine> run() const {
    require_text();
    const std::string code = code_of(text_, Literals::kept);
    std::vector<LogicalLine> lines;
    for (const DirectiveLine& found : directives_of(code)) {
      const std::string_view rest = found.rest();
      if (found.name() != "pragma" || word_at(rest, 0) != "tuner") continue;
      const std::string_view last = std::string_view(code).substr(0, code.find_last_not_of("\r\n") + 1);
      if (found.end == code.size() && last.ends_with('\\'))
        fail(last.size() - 1, "the file ends in the middle of a continued line");
      require_utf8(found.begin, found.end);
      lines.push_back(tuner_line(found, trimmed(rest.substr(std::string_view("tuner").size()))));
      if (lines.size() > kMostDirectives)
        throw SpecError(lines.back().place(0), "more than " + std::to_string(kMostDirectives) + " directives");
    }
    return lines;
  }

 private:
  LogicalLine::Position place(std::size_t at) const {
    const auto line = std::upper_bound(line_starts_.begin(), line_starts_.end(), at);
    return {static_cast<int>(line - line_starts_.begin()), static_cast<int>(at - line[-1]) + 1};
  }
  [[noreturn]] void fail(std::size_t at, const std::string& message) const {
    throw SpecError({file_, place(at).line, place(at).column}, message);
  }

  void require_text() const {
    if (text_.size() > static_cast<std::size_t>(kMaxKernelFileBytes))
      fail(0, "the file is larger than " + std::to_string(kMaxKernelFileBytes >> 20) + " MB; is this a kernel file?");
    if (const std::size_t zero = text_.find('\0'); zero != npos) fail(zero, "NUL byte; is this a text file?");
  }
  /// Other lines may have any encoding: compilers take what is in comments and literals.
  void require_utf8(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin, length; i < end; i += length) {
      length = static_cast<signed char>(text_[i]) > 0 ? 1 : utf8_length(text_.substr(i));
      if (length == 0) fail(i, "a directive must be UTF-8 text");
    }
  }

  /// \p text is the part of \p found after `#pragma tuner`.
  LogicalLine tuner_line(const DirectiveLine& found, std::string_view text) const {
    LogicalLine line;
    line.file = file_;
    line.text = text;
    const std::size_t before = found.text.size() - text.size();
    for (const DirectiveLine::Run& run : found.runs) {
      if (run.begin <= before) line.runs.clear();
      const std::size_t skipped = before - std::min(before, run.begin);
      line.runs.push_back({run.begin + skipped - before, place(run.place + skipped)});
    }
    const std::string_view whole = text_.substr(0, found.end);
    for (auto aside = next_aside(whole, found.begin); aside; aside = next_aside(whole, aside->end)) {
      if (aside->kind == Aside::Kind::block_comment && !aside->is_closed)
        fail(aside->begin, "a comment in a directive must end on its line");
      if (aside->kind != Aside::Kind::line_comment) continue;
      line.comment = whole.substr(aside->begin + 2);
      line.comment_at = place(aside->begin);
    }
    return line;
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<std::size_t> line_starts_{0};
};

}  // namespace

SourceLocation LogicalLine::place(std::size_t offset) const {
  const auto next = std::find_if(runs.begin() + 1, runs.end(), [&](const Run& run) { return run.begin > offset; });
  const auto [begin, at] = next[-1];
  return {file, at.line, at.line == 0 ? at.column : at.column + static_cast<int>(offset - begin)};
}

LogicalLine LogicalLine::from(std::string_view text, const SourceLocation& origin) {
  LogicalLine result;
  result.text = text;
  result.runs.push_back({0, {origin.line, origin.column}});
  result.file = origin.file;
  if (origin.line != 0)
    for (std::size_t end = 0; (end = text.find('\n', end)) != npos;)
      result.runs.push_back({++end, {result.runs.back().at.line + 1, 1}});
  return result;
}

Token TokenCursor::take() {
  const Token taken = token_;
  last_stop_ = taken.stop();
  lex(last_stop_);
  return taken;
}

bool TokenCursor::accept(std::string_view text) {
  if (!token_.is(text)) return false;
  take();
  return true;
}

Token TokenCursor::expect(std::string_view text, std::string_view after) {
  if (!token_.is(text)) {
    fail("expected '" + std::string(text) + "' after " + std::string(after) + ", not " + described());
  }
  return take();
}

Token TokenCursor::expect_identifier(std::string_view what) {
  if (!at_identifier()) fail("expected " + std::string(what) + ", not " + described());
  return take();
}

std::string_view TokenCursor::rest() const {
  std::string_view result = std::string_view(line_->text).substr(token_.begin);
  while (!result.empty() && is_space(result.back())) result.remove_suffix(1);
  return result;
}

std::string TokenCursor::described() const { return at_end() ? "the end of the line" : in_quotes(token_.text); }

void TokenCursor::lex(std::size_t from) {
  const std::string_view text = line_->text;
  while (from < text.size() && is_space(text[from])) ++from;
  token_ = {Token::Kind::end, text.substr(from, 0), from};
  if (from == text.size()) return;

  std::size_t stop = from + 1;
  const char first = text[from];
  if (is_word_start(first)) {
    token_.kind = Token::Kind::identifier;
    while (stop < text.size() && is_word(text[stop])) ++stop;
  } else if (is_digit(first) || (first == '.' && stop < text.size() && is_digit(text[stop]))) {
    // As in the preprocessor, letters, dots and signed exponents belong to the number, so that `12ab` is one error.
    token_.kind = Token::Kind::number;
    while (stop < text.size() &&
           (is_word(text[stop]) || text[stop] == '.' ||
            ((text[stop] == '+' || text[stop] == '-') && (text[stop - 1] == 'e' || text[stop - 1] == 'E')))) {
      ++stop;
    }
  } else {
    // Any other character is a token too: raw text may contain it, and all other callers report it.
    token_.kind = Token::Kind::punctuator;
    const std::string_view two = text.substr(from, 2);
    if (contains(kTwoCharacters, two)) {
      stop = from + 2;
    } else if (kOneCharacter.find(first) == npos) {
      while (stop < text.size() && (static_cast<unsigned char>(text[stop]) & 0xC0u) == 0x80u) ++stop;
    }
  }
  token_.text = text.substr(from, stop - from);
}

std::vector<LogicalLine> find_directives(std::string_view text, const std::string& file) {
  return DirectiveFinder(text, file).run();
}

std::int64_t decimal_integer(std::string_view text, const SourceLocation& place) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) throw SpecError(place, in_quotes(text) + " does not fit 64 bits");
  if (error != std::errc{} || end != text.data() + text.size())
    throw SpecError(place, in_quotes(text) + " is not a decimal integer");
  return value;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && is_word_start(text.front()) && std::ranges::all_of(text, is_word);
}

}  // namespace tuner
