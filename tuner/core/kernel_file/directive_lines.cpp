#include <tuner/core/kernel_file/directive_lines.hpp>

#include <algorithm>

#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/input_file.hpp>
#include <tuner/core/values/message_text.hpp>

namespace tuner {
namespace {

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
      lines.push_back(logical_line(found));
      const std::size_t begin = found.text.size() - trimmed(rest.substr(std::string_view("tuner").size())).size();
      if (lines.size() > kMostDirectives)
        throw SpecError(lines.back().place(begin), "more than " + std::to_string(kMostDirectives) + " directives");
    }
    return lines;
  }

  std::vector<std::string> misspelt() const {
    const std::vector<std::string> right{"tuner"};
    const std::string code = code_of(text_, Literals::kept);
    std::vector<std::string> all;
    for (const DirectiveLine& found : directives_of(code)) {
      const std::string word(word_at(found.rest(), 0));
      if (found.name() != "pragma" || !nearest_name(word, right)) continue;
      const auto [line, column] = place(found.begin);
      all.push_back(SourceLocation{file_, line, column}.text() + ": " + in_quotes("#pragma " + word) +
                    " is ignored; did you mean '#pragma tuner'?");
    }
    return all;
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

  LogicalLine logical_line(const DirectiveLine& found) const {
    LogicalLine line{found.text, {}, file_, {}};
    for (const DirectiveLine::Run& run : found.runs) line.runs.push_back({run.begin, place(run.place)});
    const std::string_view whole = text_.substr(0, found.end);
    for (auto part = next_non_code(whole, found.begin); part; part = next_non_code(whole, part->end)) {
      if (part->kind == NonCode::Kind::block_comment && !part->is_closed)
        fail(part->begin, "a comment in a directive must end on its line");
      if (part->kind != NonCode::Kind::line_comment) continue;
      line.comment = whole.substr(part->begin + 2);
      line.comment_at = place(part->begin);
    }
    return line;
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<std::size_t> line_starts_{0};
};

}  // namespace

std::vector<LogicalLine> find_directives(std::string_view text, const std::string& file) {
  return DirectiveFinder(text, file).run();
}

std::vector<std::string> misspelt_directives(std::string_view text, const std::string& file) {
  return DirectiveFinder(text, file).misspelt();
}

}  // namespace tuner
