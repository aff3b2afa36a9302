#include <tuner/convert/first_shape.hpp>

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include <tuner/core/characters.hpp>
#include <tuner/core/declared_types.hpp>
#include <tuner/core/definitions.hpp>
#include <tuner/core/element_type.hpp>
#include <tuner/core/error.hpp>
#include <tuner/core/expanded_code.hpp>
#include <tuner/core/expression.hpp>
#include <tuner/core/named.hpp>
#include <tuner/core/scanner.hpp>
#include <tuner/core/words.hpp>

namespace tuner::convert {
namespace {

constexpr int kMostThreads = 1024;

bool is_called_like_a_block(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower.find("block") != npos || lower.find("threads") != npos;
}

bool is_expression(const std::string& text) {
  try {
    return !Expression::parse(text, {}).has_reals();
  } catch (const SpecError&) {
    return false;
  }
}

bool is_word_or_number(std::string_view text) { return !text.empty() && word_at(text, 0) == text; }

bool is_type(const Declared& one) { return one.type == "typename" || one.type == "class"; }

/// The place after three characters \p c from \p at on; blanks may stand between them. npos if they are not there.
std::size_t after_three(std::string_view code, std::size_t at, char c) {
  for (int i = 0; i < 3; ++i) {
    at = skip_space(code, at);
    if (at >= code.size() || code[at] != c) return npos;
    ++at;
  }
  return at;
}

/// Reads the function around one launch.
class Reader {
 public:
  Reader(const ScopedCode& code, std::size_t at) : code_(code), end_(at), begin_(at) {
    while (begin_ > 0 && !code.is_in_namespace(begin_ - 1)) --begin_;
  }

  /// The extents that \p expression stands for: a `dim3`, a variable of that type, or a number.
  std::vector<std::string> extents(std::string_view expression) {
    std::string text(trimmed(expression));
    if (is_name(text))
      if (const std::string value = value_of(text); !in_dim3(value).empty()) text = value;
    std::vector<std::string> all;
    const std::string_view inside = in_dim3(text);
    for (const std::string_view part : at_commas(inside.empty() ? text : inside, true)) all.emplace_back(part);
    while (all.size() > 1 && all.back() == "1") all.pop_back();
    for (const std::string& one : all) read_locals(one, kDeepest);
    return all;
  }

  /// \p expression with the values of its variables read.
  std::string number(std::string_view expression) {
    read_locals(std::string(expression), kDeepest);
    return expression == "0" ? "" : std::string(expression);
  }

  std::map<std::string, std::string, std::less<>> locals() && { return std::move(locals_); }

 private:
  static constexpr int kDeepest = 4;             // values that are computed from others
  static constexpr std::size_t kLongest = 1024;  // characters of a value

  static bool is_name(std::string_view text) {
    return !text.empty() && is_word_start(text.front()) && word_at(text, 0) == text;
  }

  /// `a, b` of `dim3(a, b)` and `{a, b}`; empty for anything else.
  static std::string_view in_dim3(std::string_view text) {
    if (word_at(text, 0) == "dim3")
      text = trimmed(text.substr(4));
    else if (text.substr(0, 1) != "{")
      return {};
    if (text.empty() || (text[0] != '(' && text[0] != '{') || after_brackets(text, 0) != text.size()) return {};
    return trimmed(text.substr(1, text.size() - 2));
  }

  /// The last value of the function's variable \p name before the launch. Empty if it has none.
  std::string value_of(std::string_view name) const {
    const std::string_view code = std::string_view(code_.text()).substr(0, end_);
    std::string value;
    for (std::size_t at = begin_; (at = find_word(code, name, at)) != npos; ++at) {
      const std::string_view before = code.substr(0, before_space(code, at).size());
      if (before.ends_with('.') || before.ends_with("->")) continue;  // a member
      const std::size_t sign = skip_space(code, at + name.size());
      if (sign >= code.size()) break;
      if (code[sign] == '=' && code.substr(sign, 2) != "==") {
        const auto parts = at_commas(code.substr(sign + 1, code.find(';', sign) - sign - 1), true);
        value = parts.empty() ? "" : parts.front();
      } else if ((code[sign] == '(' || code[sign] == '{') && has_word(statement_before(code, at), "dim3")) {
        const std::size_t after = after_brackets(code, sign);
        if (after != npos) value = "dim3" + std::string(code.substr(sign, after - sign));
      }
    }
    return value.size() <= kLongest && !has_word(value, name) ? value : "";
  }

  void read_locals(const std::string& text, int depth) {
    for (const std::string_view word : words_of(text)) {
      if (depth == 0 || locals_.find(word) != locals_.end() || others_.find(word) != others_.end()) continue;
      const std::string value = value_of(word);
      if (value.empty()) {
        others_.emplace(word);
        continue;
      }
      locals_.emplace(word, value);
      read_locals(value, depth - 1);
    }
  }

  const ScopedCode& code_;
  std::size_t end_, begin_;  ///< of the function, up to the launch
  std::map<std::string, std::string, std::less<>> locals_;
  std::set<std::string, std::less<>> others_;  ///< words that are no variables with a value
};

/// The launch whose kernel's name stands from \p at to \p end of \p code.
std::optional<WrittenLaunch> launch_at(const ScopedCode& scoped, std::size_t at, std::size_t end) {
  const std::string_view code = scoped.text();
  constexpr std::size_t longest = 4'096;  // characters, for brackets that nothing closes
  WrittenLaunch launch;
  end = skip_space(code, end);
  if (end < code.size() && code[end] == '<' && after_three(code, end, '<') == npos) {
    const std::size_t after = after_angles(code.substr(0, end + longest), end);
    if (after == npos) return std::nullopt;
    for (const std::string_view one : template_arguments(code.substr(at, after - at)))
      launch.template_arguments.emplace_back(one);
    end = after;
  }
  const std::size_t begin = after_three(code, end, '<');
  if (begin == npos) return std::nullopt;
  std::size_t close = begin;
  while (close < std::min(code.size(), begin + longest) && after_three(code, close, '>') == npos) ++close;
  if (after_three(code, close, '>') == npos) return std::nullopt;
  const auto shape = at_commas(code.substr(begin, close - begin), true);
  const std::size_t open = skip_space(code, after_three(code, close, '>'));
  if (shape.size() < 2 || code.substr(open, 1) != "(") return std::nullopt;
  Reader reader(scoped, at);
  launch.grid = reader.extents(shape[0]);
  launch.block = reader.extents(shape[1]);
  if (shape.size() > 2) launch.shared = reader.number(shape[2]);
  launch.locals = std::move(reader).locals();
  if (const std::size_t after = after_brackets(code, open, longest); after != npos)
    for (const std::string_view one : at_commas(code.substr(open + 1, after - open - 2), true))
      launch.arguments.emplace_back(one);
  return launch;
}

/// The first launch of \p kernel in \p code.
std::optional<WrittenLaunch> launch_of(const ScopedCode& code, std::string_view kernel) {
  int left = 32;  // places that look like a launch
  for (std::size_t at = 0; left > 0 && (at = find_word(code.text(), kernel, at)) != npos; at += kernel.size(), --left)
    if (auto launch = launch_at(code, at, at + kernel.size());
        launch && launch->grid.size() <= 3 && launch->block.size() <= 3 && !launch->block.empty())
      return launch;
  return std::nullopt;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::optional<std::int64_t> integer_in(const ScopedCode& code, const std::string& text) {
  try {
    const Expression expression = Expression::parse(text, {});
    Bindings known;
    for (const std::string& name : expression.names()) {
      const auto value = constant_called(code, name);
      if (!value) return std::nullopt;
      known.set(name, Value(*value));
    }
    return expression.evaluate_integer(known);
  } catch (const SpecError&) {
    return std::nullopt;
  }
}

std::vector<Declared> template_parameters_to_name(const Signature& kernel) {
  std::vector<Declared> named;
  for (const Declared& one : kernel.template_parameters) {
    // One that may be left out is worth trying if its usual value is a literal.
    const bool is_literal =
        number_of<int>(one.otherwise).has_value() || one.otherwise == "true" || one.otherwise == "false";
    if (one.is_pack() || (one.may_be_left_out && (is_type(one) || !is_literal))) break;
    named.push_back(one);
  }
  return named;
}

FirstShape::FirstShape(const ScopedCode& code, const ScopedCode& all, const Signature& kernel, std::string_view body)
    : code_(code), all_(all), kernel_(kernel), launch_(launch_of(code, kernel.name)) {
  name_block(body);
  if (launch_) {
    for (std::size_t axis = 0; axis < block_.size(); ++axis) read_extent(axis);
  } else if (block_.size() == 1) {
    read_constant(body);
  }
  if (block_.size() == 1 && (!launch_ || !is_named_[0])) read_template_parameters();
  list_parameters();
}

void FirstShape::name_block(std::string_view body) {
  std::size_t dimensions = launch_ ? launch_->block.size() : 1;
  for (std::size_t axis = 1; axis < 3 && !launch_; ++axis)
    for (const std::string_view index : {"threadIdx", "blockIdx"})
      if (body.find(fmt::format("{}.{}", index, "xyz"[axis])) != npos) dimensions = axis + 1;
  block_ = {dimensions == 1 ? "block" : "block_x", "block_y", "block_z"};
  usual_ = {dimensions == 1 ? "256" : "32", "8", "4"};
  block_.resize(dimensions);
  usual_.resize(dimensions);
  is_named_.resize(dimensions);
  // A word of the text would become a macro.
  for (std::string& name : block_)
    while (has_word(code_.text(), name) || has_word(all_.text(), name)) name.insert(0, "tuned_");
}

std::optional<std::int64_t> FirstShape::constant(std::string_view word) const {
  if (launch_->locals.find(word) != launch_->locals.end() || find_named(kernel_.arguments, word)) return std::nullopt;
  if (const auto value = constant_called(all_, std::string(word))) return value;
  const std::vector<DefinedValue> all = definitions_of(all_.text(), word);  // also under an `#if`
  return all.size() == 1 ? number_of<std::int64_t>(all.front().value) : std::nullopt;
}

/// The name of an extent is a template parameter or a constant. Else, only its usual value is in the text.
void FirstShape::read_extent(std::size_t axis) {
  const std::string& text = launch_->block[axis];
  const auto known = constant(text);
  const auto value = known ? known : integer_in(all_, with_locals(text));
  if (value && *value >= 1 && *value <= kMostThreads) usual_[axis] = std::to_string(*value);
  const std::vector<std::string_view> words = words_of(text);
  const auto is_constant = [&](std::string_view word) { return constant(word).has_value(); };
  const bool has_value = value && *value >= 1 && *value <= kMostThreads;
  is_named_[axis] = has_value && !words.empty() && std::ranges::all_of(words, is_constant);
  if (is_named_[axis])
    block_[axis] = text;
  else if (has_value)
    literals_.at(axis) = value;
  const std::vector<Declared> named = template_parameters_to_name(kernel_);
  for (std::size_t i = 0; i < named.size() && i < launch_->template_arguments.size(); ++i) {
    const std::string name = possible_name(named[i].name);
    if (launch_->template_arguments[i] != text || is_type(named[i]) || contains(block_, name)) continue;
    block_[axis] = name;
    is_named_[axis] = true;
    break;
  }
}

/// A number of the text that the kernel uses and that is called like a block's extent is it.
void FirstShape::read_constant(std::string_view body) {
  constexpr int least = 16;
  for (const std::string_view word : words_of(body)) {
    if (!is_called_like_a_block(word) || find_named(kernel_.arguments, word)) continue;
    const std::vector<DefinedValue> all = definitions_of(all_.text(), word);
    const auto value = all.size() == 1 ? number_of<int>(all.front().value) : std::nullopt;
    if (!value || *value < least || *value > kMostThreads) continue;
    block_[0] = word;
    usual_[0] = all.front().value;
    return;
  }
}

/// Template parameters that are called like a block's extent are it.
void FirstShape::read_template_parameters() {
  for (const Declared& one : template_parameters_to_name(kernel_)) {
    if (is_type(one) || plain_type(one.type) == "bool" || !is_called_like_a_block(one.name)) continue;
    block_[0] = possible_name(one.name);
    if (one.may_be_left_out) usual_[0] = one.otherwise;
  }
}

void FirstShape::list_parameters() {
  for (std::size_t axis = 0; axis < block_.size(); ++axis) {
    const std::string& extent = block_[axis];
    if (!is_word_or_number(extent)) {
      for (const std::string_view word : words_of(extent))
        if (!find_named(parameters_, word) && !contains(block_, word)) {
          const std::string value = std::to_string(constant(word).value_or(1));
          parameters_.push_back({std::string(word), value, value, true});
        }
      continue;
    }
    if (find_named(parameters_, extent)) continue;
    std::string values = std::ranges::count(block_, extent) > 1 ? "8 16 32"
                         : axis == 0                            ? "32 64 128 256 512 1024"
                                                                : "1 2 4 8 16";
    if (!has_word(values, usual_[axis])) values += ' ' + usual_[axis];
    parameters_.push_back({extent, values, usual_[axis]});
  }
}

std::string FirstShape::with_locals(std::string_view text, int depth) const {
  return replace_words(text, [&](std::string_view word) {
    const auto local = launch_->locals.find(word);
    return depth == 0 || local == launch_->locals.end() ? std::string(word)
                                                        : '(' + with_locals(local->second, depth - 1) + ')';
  });
}

std::string FirstShape::size_passed_as(std::string_view word, const std::vector<std::string>& sizes) const {
  for (std::size_t i = 0; i < launch_->arguments.size() && i < kernel_.arguments.size(); ++i)
    if (const std::string name = possible_name(kernel_.arguments[i].name);
        launch_->arguments[i] == word && contains(sizes, name))
      return name;
  return {};
}

/// `block` for the 256 of `(n + 255) / 256` in a launch of 256 threads, and `block - 1` for its 255.
std::optional<std::string> FirstShape::block_for_number(std::string_view number, std::size_t axis) const {
  constexpr int least = 4, least_before = 16;  // smaller numbers mean something else
  const auto value = number_of<std::int64_t>(number);
  if (!value) return std::nullopt;
  for (std::size_t i = 0; i < block_.size(); ++i) {
    const std::size_t one = (axis + i) % block_.size();
    const auto literal = literals_.at(one);
    if (literal == value && *value >= least) return block_[one];
    if (literal && *literal - 1 == *value && *literal >= least_before) return '(' + block_[one] + " - 1)";
  }
  return std::string(number);
}

/// \p text of the launch in words of the kernel file. Clears \p is_known if it has a word that is no size and no
/// number.
std::string FirstShape::translated(std::string_view text, std::size_t axis, const std::vector<std::string>& sizes,
                                   int depth, bool& is_known) const {
  return replace_words(text, [&](std::string_view word) -> std::string {
    if (is_digit(word.front())) {
      auto number = block_for_number(word, axis);
      is_known = is_known && number;
      return std::move(number).value_or("");
    }
    const auto extent = std::ranges::find(launch_->block, word);
    if (extent != launch_->block.end()) return block_[static_cast<std::size_t>(extent - launch_->block.begin())];
    if (std::string size = size_passed_as(word, sizes); !size.empty()) return size;
    if (const auto local = launch_->locals.find(word); local != launch_->locals.end() && depth > 0)
      return '(' + translated(local->second, axis, sizes, depth - 1, is_known) + ')';
    if (word == "min" || word == "max" || word == "sizeof" || numbers_of(word) || find_named(parameters_, word))
      return std::string(word);
    if (constant_called(all_, std::string(word))) return std::string(word);
    // divUp, iDivUp, ceil_div, DIVUP
    const std::string lower = lower_case(word);
    const auto next = static_cast<std::size_t>(word.data() - text.data()) + word.size();
    if (lower.find("div") != npos && lower.find("floor") == npos && text.substr(skip_space(text, next), 1) == "(")
      return "ceil_div";
    is_known = false;
    return {};
  });
}

std::optional<std::string> FirstShape::translated(std::string_view text, std::size_t axis,
                                                  const std::vector<std::string>& sizes) const {
  std::string one(text);
  for (int depth = 0; depth < 4 && size_passed_as(one, sizes).empty() && !contains(launch_->block, one); ++depth)
    if (const auto local = launch_->locals.find(one); local != launch_->locals.end()) one = local->second;
  bool is_known = true;
  std::string whole = translated(one, axis, sizes, 4, is_known);
  return is_known && is_expression(whole) ? std::optional(std::move(whole)) : std::nullopt;
}

std::optional<std::string> FirstShape::shared(const std::vector<std::string>& sizes) const {
  return launch_ && !launch_->shared.empty() ? translated(launch_->shared, 0, sizes) : "";
}

std::string FirstShape::grid(std::size_t axis, const std::vector<std::string>& sizes) const {
  const auto blocks = [&](const std::string& size) {
    return axis < block_.size() ? fmt::format("max(1, ceil_div({}, {}))", size, block_[axis]) : size;
  };
  if (!launch_) return axis < sizes.size() ? blocks(sizes[axis]) : "1";
  const std::string& text = launch_->grid.at(axis);
  if (const auto whole = translated(text, axis, sizes))
    return is_word_or_number(*whole) ? *whole : "max(1, " + *whole + ')';
  const std::string expanded = with_locals(text);
  for (const std::string_view word : words_of(expanded))
    if (const std::string size = size_passed_as(word, sizes); !size.empty()) return blocks(size);
  return axis < sizes.size() ? blocks(sizes[axis]) : "1";
}

std::size_t FirstShape::axes_of(const std::string& size) const {
  std::size_t axes = 0;
  for (std::size_t axis = 0; launch_ && axis < grid_dimensions(); ++axis)
    if (has_word(grid(axis, {size}), size)) ++axes;
  return std::max<std::size_t>(axes, 1);
}

}  // namespace tuner::convert
