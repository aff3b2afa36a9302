#include <tuner/core/directives.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

#include <tuner/core/characters.hpp>
#include <tuner/core/input_file.hpp>

namespace tuner {
namespace {

/// Bytes of the UTF-8 sequence at the start of \p text; 0 when there is none (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF && follows(1)) return 2;
  if (first >= 0xE0 && first <= 0xEF && follows(1) && follows(2)) {
    const bool overlong = first == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = first == 0xED && byte(1) > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4 && follows(1) && follows(2) && follows(3)) {
    const bool overlong = first == 0xF0 && byte(1) < 0x90;
    const bool too_large = first == 0xF4 && byte(1) > 0x8F;
    return overlong || too_large ? 0 : 4;
  }
  return 0;
}

// Far more than anybody writes, little enough to be read in well under a second.
constexpr std::size_t kMostDirectives = 4096;

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<LogicalLine> run() {
    require_text();
    while (at_ < text_.size()) step();
    return std::move(lines_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool at_end() const { return at_ >= text_.size(); }
  bool starts(std::string_view wanted) const { return peek() == wanted[0] && text_.substr(at_).starts_with(wanted); }

  void advance(std::size_t count = 1) {
    const std::string_view passed = text_.substr(at_, count);
    at_ += passed.size();
    const std::size_t last_end = passed.rfind('\n');
    if (last_end == std::string_view::npos) {
      place_.column += passed.size();
      return;
    }
    place_.line += std::count(passed.begin(), passed.end(), '\n');
    place_.column = passed.size() - last_end;
  }

  /// Length of the continuation (backslash, end of line) that starts here; 0 when none does.
  std::size_t continuation() const { return starts("\\\n") ? 2 : starts("\\\r\n") ? 3 : 0; }

  [[noreturn]] void fail(LogicalLine::Position at, const std::string& message) const {
    throw SpecError({file_, at.line, at.column}, message);
  }

  void require_text() {
    if (text_.size() > static_cast<std::size_t>(kMaxKernelFileBytes))
      fail(place_,
           "the file is larger than " + std::to_string(kMaxKernelFileBytes >> 20) + " MB; is this a kernel file?");
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t length = utf8_length(text_.substr(i));
      if (length != 0 && text_[i] != '\0') {
        i += length;
        continue;
      }
      advance(i);
      fail(place_, text_[i] == '\0' ? "NUL byte; is this a text file?" : "not UTF-8 text; is this a text file?");
    }
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      advance();
      line_start_ = true;
    } else if (is_blank(c)) {
      advance();
    } else if (const std::size_t length = continuation()) {
      advance(length);
    } else if (starts("//")) {
      skip_line_comment();
    } else if (starts("/*")) {
      skip_block_comment();
    } else {
      const bool first = line_start_;
      line_start_ = false;
      if (c == '#' && first) {
        hash();
      } else if (is_word(c)) {
        word();
      } else if (c == '"' || c == '\'') {
        literal(c);
      } else {
        advance();
      }
    }
  }

  void skip_line_comment() {
    while (!at_end() && peek() != '\n') {
      const std::size_t length = continuation();
      advance(length != 0 ? length : std::max<std::size_t>(text_.substr(at_).find_first_of("\\\n", 1), 1));
    }
  }

  /// False when it never ends.
  bool skip_block_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    advance(end == std::string_view::npos ? text_.size() - at_ : end + 2 - at_);
    return end != std::string_view::npos;
  }

  void word() {
    const std::size_t begin = at_;
    const bool number = is_digit(peek());
    // In numbers the apostrophe separates digits.
    while (is_word(peek()) || (number && peek() == '\'' && is_word(peek(1)))) advance();
    constexpr std::array<std::string_view, 5> raw_prefixes{"R", "LR", "uR", "UR", "u8R"};
    const std::string_view prefix = text_.substr(begin, at_ - begin);
    if (peek() == '"' && std::find(raw_prefixes.begin(), raw_prefixes.end(), prefix) != raw_prefixes.end())
      raw_string();
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos || open - at_ > 17) return literal('"');
    const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    advance(end == std::string_view::npos ? text_.size() : end + close.size() - at_);
  }

  /// Ends at the end of the line at the latest: apostrophes also occur where no literal is meant, as in `#error don't`.
  void literal(char quote) {
    advance();
    while (!at_end() && peek() != quote && peek() != '\n') {
      const std::size_t length = continuation();
      advance(length != 0 ? length : peek() == '\\' && peek(1) != '\n' ? 2 : 1);
    }
    if (peek() == quote) advance();
  }

  void hash() {
    advance();
    if (!accept_word("pragma") || !accept_word("tuner")) return;
    directive();
  }

  bool accept_word(std::string_view wanted) {
    for (;;) {
      const std::size_t length = continuation();
      if (length == 0 && !is_blank(peek())) break;
      advance(std::max<std::size_t>(length, 1));
    }
    if (!starts(wanted) || is_word(peek(wanted.size()))) return false;
    advance(wanted.size());
    return true;
  }

  void directive() {
    LogicalLine line;
    line.file = file_;
    const auto append = [&](char c) {
      line.text += c;
      line.positions.push_back(place_);
    };
    while (!at_end() && peek() != '\n') {
      if (const std::size_t length = continuation()) {
        const LogicalLine::Position backslash = place_;
        advance(length);
        if (at_end()) fail(backslash, "the file ends in the middle of a continued line");
      } else if (peek() == '\\' && at_ + 1 == text_.size()) {
        fail(place_, "the file ends in the middle of a continued line");
      } else if (starts("//")) {
        line.comment_at = place_;
        append(' ');
        const std::size_t begin = at_;
        skip_line_comment();
        line.comment = text_.substr(begin + 2, at_ - begin - 2);
      } else if (starts("/*")) {
        const LogicalLine::Position begin = place_;
        append(' ');
        if (!skip_block_comment() || place_.line != begin.line)
          fail(begin, "a comment in a directive must end on its line");
      } else {
        append(peek());
        advance();
      }
    }
    line.positions.push_back(place_);
    while (!line.text.empty() && is_blank(line.text.back())) {
      line.text.pop_back();
      line.positions.pop_back();
    }
    if (lines_.size() == kMostDirectives)
      fail(line.positions.front(), "more than " + std::to_string(kMostDirectives) + " directives");
    lines_.push_back(std::move(line));
  }

  std::string_view text_;
  std::string file_;
  std::size_t at_ = 0;
  LogicalLine::Position place_{1, 1};
  bool line_start_ = true;
  std::vector<LogicalLine> lines_;
};

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

std::vector<LogicalLine> find_directives(std::string_view text, const std::string& file) {
  return Scanner(text, file).run();
}

}  // namespace tuner
