#include <tuner/convert/text_macros.hpp>

#include <vector>

#include <tuner/core/characters.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

constexpr int kMostRounds = 8;                    // nested macros
constexpr std::size_t kLongestCondition = 4'096;  // of a condition that is evaluated
constexpr std::size_t kLongestValue = 256;        // of a macro's value

}  // namespace

TextMacros::TextMacros(std::string_view code, std::map<std::string, std::string, std::less<>> given)
    : values_(std::move(given)) {
  struct Conditional {
    Truth is_read;   // the present branch
    Truth was_read;  // any branch so far
    Truth is_in;     // the surrounding text
    Truth all() const { return both(is_in, is_read); }
  };
  std::vector<Conditional> open;
  const auto negated = [](Truth a) { return a == Truth::unknown ? a : a == Truth::yes ? Truth::no : Truth::yes; };
  for (const DirectiveLine& line : directives_of(code)) {
    const std::string_view directive = line.name(), rest = line.rest();
    const bool begins = directive == "if" || directive == "ifdef" || directive == "ifndef";
    if (begins || ((directive == "elif" || directive == "else") && !open.empty())) {
      Truth truth = Truth::yes;
      if (directive == "if" || directive == "elif") truth = holds(rest);
      if (directive == "ifdef") truth = is_defined(std::string(word_at(rest, 0)));
      if (directive == "ifndef") truth = negated(is_defined(std::string(word_at(rest, 0))));
      if (begins) open.push_back({Truth::no, Truth::no, open.empty() ? Truth::yes : open.back().all()});
      Conditional& at = open.back();
      at.is_read = both(negated(at.was_read), truth);
      if (at.was_read != Truth::yes) at.was_read = at.is_read == Truth::no ? at.was_read : at.is_read;
    } else if (directive == "endif" && !open.empty()) {
      open.pop_back();
    } else {
      read(directive, rest, open.empty() ? Truth::yes : open.back().all());
    }
  }
}

std::optional<std::string> TextMacros::value(const std::string& name) const {
  std::string text = name;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto found = values_.find(text);
    if (unknown_.contains(text)) return std::nullopt;
    if (found == values_.end()) return round == 0 ? std::nullopt : std::optional(text);
    text = found->second;
  }
  return std::nullopt;
}

TextMacros::Truth TextMacros::is_defined(const std::string& name) const {
  if (unknown_.contains(name)) return Truth::unknown;
  if (values_.contains(name)) return Truth::yes;
  return may_be_elsewhere(name) ? Truth::unknown : Truth::no;
}

TextMacros::Truth TextMacros::holds(std::string_view condition) const {
  if (condition.size() > kLongestCondition) return Truth::unknown;
  std::string text(condition);
  constexpr std::string_view kDefined = "defined";
  for (std::size_t at = text.find(kDefined); at != std::string::npos; at = text.find(kDefined)) {
    std::size_t begin = text.find_first_not_of(" (", at + kDefined.size());
    if (begin == std::string::npos) return Truth::unknown;
    const std::string name(word_at(text, begin));
    begin += name.size();
    if (text.substr(at, begin - at).find('(') != std::string::npos) begin = text.find(')', begin) + 1;
    const Truth truth = is_defined(name);
    if (name.empty() || begin == 0 || truth == Truth::unknown) return Truth::unknown;
    text.replace(at, begin - at, truth == Truth::yes ? "(1)" : "(0)");
  }
  for (int round = 0; round < kMostRounds && text.size() <= kLongestCondition; ++round)
    text = substitute_words(text, values_);
  if (text.size() > kLongestCondition) return Truth::unknown;
  std::map<std::string, std::string, std::less<>> zeros;  // words that are not macros count as zero
  for (const std::string_view word : words_of(text)) {
    if (unknown_.contains(std::string(word))) return Truth::unknown;
    if (!is_identifier(word) || word == "true" || word == "false") continue;
    if (may_be_elsewhere(word)) return Truth::unknown;
    zeros[std::string(word)] = "0";
  }
  try {
    return Expression::parse(substitute_words(text, zeros), {}).evaluate_integer({}) != 0 ? Truth::yes : Truth::no;
  } catch (const Error&) {
    return Truth::unknown;
  }
}

bool TextMacros::may_be_elsewhere(std::string_view name) const {
  return includes_ || name.starts_with("__") || name.starts_with("CUDA") || name == "NDEBUG";
}

void TextMacros::read(std::string_view directive, std::string_view rest, Truth is_read) {
  if (directive == "include" && rest.starts_with('"') && is_read != Truth::no) includes_ = true;
  if ((directive != "define" && directive != "undef") || is_read == Truth::no) return;
  const std::string name(word_at(rest, 0));
  rest.remove_prefix(name.size());
  const bool has_value = directive == "define" && !rest.starts_with('(') && rest.size() <= kLongestValue;
  const bool changes_nothing = has_value && values_.contains(name) && values_.at(name) == trimmed(rest);
  if (is_read == Truth::unknown && changes_nothing) return;
  values_.erase(name);
  unknown_.erase(name);
  if (is_read == Truth::unknown || (directive == "define" && !has_value))
    unknown_.insert(name);
  else if (has_value)
    values_[name] = trimmed(rest);
}

}  // namespace tuner::convert
