#include <tuner/convert/first_launch.hpp>

#include <algorithm>

#include <tuner/core/cpp/expanded_code.hpp>
#include <tuner/core/cpp/scanner.hpp>
#include <tuner/core/cpp/signature.hpp>
#include <tuner/core/expression/expression.hpp>
#include <tuner/core/values/characters.hpp>
#include <tuner/core/values/named.hpp>
#include <tuner/error.hpp>

namespace tuner::convert {
namespace {

/// The place after three characters \p c from \p at on; blanks may stand between them. npos if they are not there.
std::size_t after_three(std::string_view code, std::size_t at, char c) {
  for (int i = 0; i < 3; ++i) {
    at = skip_space(code, at);
    if (at >= code.size() || code[at] != c) return npos;
    ++at;
  }
  return at;
}

/// The value that begins at \p at, up to the end of its statement or to its part of a list.
std::string_view value_at(std::string_view code, std::size_t at) {
  constexpr std::size_t longest = 256;  // template arguments
  std::size_t end = at;
  for (int depth = 0; end < code.size(); ++end) {
    if (code[end] == '<')
      if (const std::size_t after = after_angles(code.substr(0, end + longest), end);
          after != npos && code.substr(skip_space(code, after), 1) == "(")
        end = after;
    const char c = code[end];
    if (depth == 0 && (c == ',' || c == ')' || c == '}')) break;
    if (c == ';') break;
    depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
  }
  return trimmed(code.substr(at, end - at));
}

/// `x` of `.member = x` or `.member{x}`, a part of a list; else \p part.
std::string_view without_member(std::string_view part) {
  if (!part.starts_with('.')) return part;
  const std::string_view name = word_at(part, skip_space(part, 1));
  const std::string_view value = trimmed(part.substr(static_cast<std::size_t>(name.end() - part.begin())));
  if (value.starts_with('=')) return trimmed(value.substr(1));
  return value.starts_with('{') && value.ends_with('}') ? trimmed(value.substr(1, value.size() - 2)) : part;
}

/// Reads the function around one launch.
class Reader {
 public:
  Reader(const ScopedCode& code, std::size_t at) : code_(code), end_(at), begin_(at) {
    while (begin_ > 0 && !code.is_in_namespace(begin_ - 1)) --begin_;
    read_head();
  }

  /// The extents that \p expression stands for: a `dim3`, a variable of that type, or a number.
  std::vector<std::string> extents(std::string_view expression) {
    std::string text(trimmed(expression));
    if (is_name(text))
      if (const std::string value = value_of(text); !in_dim3(value).empty()) text = value;
    std::vector<std::string> all;
    const std::string_view inside = in_dim3(text);
    for (const std::string_view part : at_commas(inside.empty() ? text : inside, true))
      all.emplace_back(without_member(part));
    while (all.size() > 1 && all.back() == "1") all.pop_back();
    for (const std::string& one : all) read_locals(one, kDeepest);
    return all;
  }

  /// The last value that the function gives `NAME.MEMBER` before the launch; without \p name, `.MEMBER` of anything.
  /// Empty if there is none.
  std::string member(std::string_view name, std::string_view member) const {
    const std::string_view code = std::string_view(code_.text()).substr(0, end_);
    std::string_view value;
    for (std::size_t at = begin_; (at = find_word(code, member, at)) != npos; at += member.size()) {
      const std::string_view before = before_space(code, at);
      const std::size_t sign = skip_space(code, at + member.size());
      if (!before.ends_with('.')) continue;
      if (!name.empty() && word_before(code, before_space(before, before.size() - 1).size()) != name) continue;
      if (code.substr(sign, 1) == "=" && code.substr(sign, 2) != "==") value = value_at(code, sign + 1);
    }
    return value.size() <= kLongest ? std::string(value) : "";
  }

  /// member() of a struct that may also have its values where it is declared: `NAME{.MEMBER = x}`, or a list in which
  /// the member has the index \p position.
  std::string member(std::string_view name, std::string_view member, std::size_t position) const {
    if (std::string value = this->member(name, member); !value.empty()) return value;
    const auto parts = at_commas(initialiser(name), true);
    const auto is_named = [&](std::string_view part) {
      return part.starts_with('.') && word_at(part, skip_space(part, 1)) == member;
    };
    const auto named = std::ranges::find_if(parts, is_named);
    if (named != parts.end()) return std::string(without_member(*named));
    return position < parts.size() && !parts[position].starts_with('.') ? std::string(parts[position]) : "";
  }

  /// The extents that a launch gives \p name, as a whole (`a.NAME = {2, 1}`) or one after the other (`a.NAME.x = 2`).
  std::vector<std::string> extents_of_member(std::string_view name) {
    std::vector<std::string> all;
    for (const char* axis : {"x", "y", "z"})
      if (const std::string extent = member(name, axis); !extent.empty()) all.push_back(number(extent));
    if (!all.empty()) return all;
    const std::string whole = member("", name);
    return whole.empty() ? all : extents(whole);
  }

  /// \p expression with the values of its variables read.
  std::string number(std::string_view expression) {
    read_locals(std::string(expression), kDeepest);
    return expression == "0" ? "" : std::string(expression);
  }

  std::map<std::string, std::string, std::less<>> locals() && { return std::move(locals_); }
  std::set<std::string, std::less<>> unknown() const {
    std::set<std::string, std::less<>> names;
    for (const NamedType& one : parameters_)
      if (others_.contains(one.name)) names.insert(one.name);
    return names;
  }

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

  /// `a, b` of the last `NAME = {a, b}`, `NAME{a, b}` or `NAME = type{a, b}` before the launch. Empty if there is none.
  std::string_view initialiser(std::string_view name) const {
    const std::string_view code = std::string_view(code_.text()).substr(0, end_);
    std::string_view inside;
    for (std::size_t at = begin_; (at = find_word(code, name, at)) != npos; at += name.size()) {
      std::size_t open = skip_space(code, at + name.size());
      if (code.substr(open, 1) == "=") {
        open = skip_space(code, open + 1);
        open = skip_space(code, open + word_at(code, open).size());
      }
      const std::size_t after = code.substr(open, 1) == "{" ? after_brackets(code, open) : npos;
      if (after != npos) inside = code.substr(open + 1, after - open - 2);
    }
    return inside;
  }

  /// Reads the parameters of the function's own template: `template <int T> void run(float* x) {`.
  void read_head() {
    const std::string_view code = code_.text();
    const std::size_t end = begin_ > 0 && code[begin_ - 1] == '{' ? begin_ - 1 : begin_;
    const std::string_view before = statement_before(code, end);
    const std::size_t open = before.find('<', std::min(find_word(before, "template"), before.size()));
    const std::size_t after = open == npos ? npos : after_angles(before, open);
    if (after == npos) return;
    for (const std::string_view part : at_commas(before.substr(open + 1, after - open - 2)))
      parameters_.push_back(named_type(part));
    name_ = word_before(before, before_space(before, std::min(before.find('(', after), before.size())).size());
  }

  /// The argument for the parameter \p i of the function's own template in its first call, else its default.
  std::string value_of_parameter(std::size_t i) const {
    const std::string_view code = code_.text();
    constexpr std::size_t longest = 4'096;
    for (std::size_t at = 0; !name_.empty() && (at = find_word(code, name_, at)) != npos; at += name_.size()) {
      const std::size_t open = skip_space(code, at + name_.size());
      if (open >= code.size() || code[open] != '<') continue;
      const std::size_t after = after_angles(code.substr(0, open + longest), open);
      if (after == npos) continue;
      const auto given = template_arguments(code.substr(at, after - at));
      const auto is_parameter = [&](std::string_view word) { return find_named(parameters_, word) != nullptr; };
      if (i < given.size() && !any_word(given[i], is_parameter)) return std::string(given[i]);
    }
    return parameters_[i].default_value;
  }

  /// Whether `name(…)` after \p before declares a variable, as `b` in `dim3 a(f(n)), b(…)`; `f` is in brackets.
  static bool declares_dim3(std::string_view before) {
    return has_word(before, "dim3") && std::ranges::count(before, '(') == std::ranges::count(before, ')');
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
      } else if ((code[sign] == '(' || code[sign] == '{') && declares_dim3(statement_before(code, at))) {
        const std::size_t after = after_brackets(code, sign);
        if (after != npos) value = "dim3" + std::string(code.substr(sign, after - sign));
      }
    }
    return value.size() <= kLongest && !has_word(value, name) ? value : "";
  }

  void read_locals(const std::string& text, int depth) {
    for (const std::string_view word : words_of(text)) {
      if (depth == 0 || locals_.find(word) != locals_.end() || others_.find(word) != others_.end()) continue;
      std::string value = value_of(word);
      for (std::size_t i = 0; value.empty() && i < parameters_.size(); ++i)
        if (parameters_[i].name == word) value = value_of_parameter(i);
      if (value.empty()) {
        others_.emplace(word);
        continue;
      }
      locals_.emplace(word, value);
      read_locals(value, depth - 1);
    }
  }

  const ScopedCode& code_;
  std::size_t end_, begin_;            ///< of the function, up to the launch
  std::string_view name_;              ///< of the function if it is a template
  std::vector<NamedType> parameters_;  ///< of that template
  std::map<std::string, std::string, std::less<>> locals_;
  std::set<std::string, std::less<>> others_;  ///< words that are not variables with a value
};

/// `config` of `cudaLaunchKernelEx(&config, a::name` if \p at is the place of the name; else empty.
std::string_view config_before(std::string_view code, std::size_t at) {
  constexpr std::string_view kCall = "cudaLaunchKernelEx";
  const std::string_view before = statement_before(code, at);
  const std::size_t call = before.rfind(kCall);
  if (call == npos) return {};
  std::size_t next = skip_space(before, call + kCall.size());
  if (before.substr(next, 1) != "(") return {};
  next = skip_space(before, next + 1);
  if (before.substr(next, 1) != "&") return {};
  const std::string_view config = word_at(before, skip_space(before, next + 1));
  next = before.find(',', next);
  if (config.empty() || next == npos) return {};
  const auto is_of_a_path = [](char c) { return is_word(c) || c == ':' || is_space(c); };
  return std::ranges::all_of(before.substr(next + 1), is_of_a_path) ? config : std::string_view();
}

/// The launch by cudaLaunchKernelEx() of the kernel whose name, with its arguments, stands from \p at to \p end.
std::optional<WrittenLaunch> launch_with_config(const ScopedCode& scoped, std::size_t at, std::size_t end,
                                                WrittenLaunch launch) {
  const std::string_view code = scoped.text(), config = config_before(code, at);
  if (config.empty()) return std::nullopt;
  Reader reader(scoped, at);
  // The numbers are the members' places in cudaLaunchConfig_t.
  const std::string grid = reader.member(config, "gridDim", 0), block = reader.member(config, "blockDim", 1);
  if (grid.empty() || block.empty()) return std::nullopt;
  launch.grid = reader.extents(grid);
  launch.block = reader.extents(block);
  launch.shared = reader.number(reader.member(config, "dynamicSmemBytes", 2));
  const std::string attributes = reader.member(config, "attrs", 4);
  const bool has_attributes = !attributes.empty() && attributes != "nullptr" && attributes != "NULL" &&
                              attributes != "0" && reader.member(config, "numAttrs", 5) != "0";
  if (has_attributes) {
    launch.cluster = reader.extents_of_member("clusterDim");
    launch.dependent = reader.number(reader.member("", "programmaticStreamSerializationAllowed"));
    launch.cooperative = reader.number(reader.member("", "cooperative"));
  }
  for (const std::string& one : launch.template_arguments) reader.number(one);
  launch.unknown = reader.unknown();
  launch.locals = std::move(reader).locals();
  std::size_t close = end;  // of the call
  for (int depth = 0; close < code.size() && depth >= 0; ++close)
    depth += code[close] == '(' ? 1 : code[close] == ')' ? -1 : 0;
  end = skip_space(code, end);
  if (close > end + 1 && code[end] == ',')
    for (const std::string_view one : at_commas(code.substr(end + 1, close - end - 2), true))
      launch.arguments.emplace_back(one);
  return launch;
}

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
  if (begin == npos) return launch_with_config(scoped, at, end, std::move(launch));
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
  for (const std::string& one : launch.template_arguments) reader.number(one);
  launch.unknown = reader.unknown();
  launch.locals = std::move(reader).locals();
  if (const std::size_t after = after_brackets(code, open, longest); after != npos)
    for (const std::string_view one : at_commas(code.substr(open + 1, after - open - 2), true))
      launch.arguments.emplace_back(one);
  return launch;
}

}  // namespace

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

std::string WrittenLaunch::with_locals(std::string_view text, int depth) const {
  return replace_words(text, [&](std::string_view word) {
    const auto local = locals.find(word);
    return depth == 0 || local == locals.end() ? std::string(word) : '(' + with_locals(local->second, depth - 1) + ')';
  });
}

std::string WrittenLaunch::resolved(const std::string& argument) const {
  std::string text = argument;
  for (int depth = 0; depth < 4; ++depth)
    if (const auto local = locals.find(text); local != locals.end()) text = local->second;
  text = with_locals(text);
  const bool is_known = !any_word(text, [&](std::string_view word) { return unknown.contains(word); });
  return is_known ? text : "";
}

std::optional<WrittenLaunch> launch_of(const ScopedCode& code, std::string_view kernel) {
  int left = 32;  // places that look like a launch
  std::optional<WrittenLaunch> first;
  for (std::size_t at = 0; left > 0 && (at = find_word(code.text(), kernel, at)) != npos; at += kernel.size(), --left) {
    auto launch = launch_at(code, at, at + kernel.size());
    if (!launch || launch->grid.size() > 3 || launch->block.size() > 3 || launch->block.empty()) continue;
    if (!launch->template_arguments.empty()) return launch;
    if (!first) first = std::move(launch);
  }
  return first;
}

}  // namespace tuner::convert
