#include <tuner/core/directives.hpp>

#include <algorithm>

#include <tuner/core/characters.hpp>
#include <tuner/core/input_file.hpp>
#include <tuner/core/scanner.hpp>

namespace tuner {
namespace {

// Far more than anybody writes. So many are still read in well under a second.
constexpr std::size_t kMostDirectives = 4096;

class DirectiveFinder {
 public:
  DirectiveFinder(std::string_view text, const std::string& file) : text_(text), file_(file) {
    for (std::size_t end = 0; (end = text.find('\n', end)) != std::string_view::npos;) line_starts_.push_back(++end);
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
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t length = text_[i] > '\0' ? 1 : utf8_length(text_.substr(i));
      if (length == 0) fail(i, "not UTF-8 text; is this a text file?");
      if (text_[i] == '\0') fail(i, "NUL byte; is this a text file?");
      i += length;
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

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

std::vector<LogicalLine> find_directives(std::string_view text, const std::string& file) {
  return DirectiveFinder(text, file).run();
}

}  // namespace tuner
