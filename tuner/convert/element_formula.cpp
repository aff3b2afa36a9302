#include <tuner/convert/element_formula.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <tuner/convert/kernel_draft.hpp>
#include <tuner/core/message_text.hpp>

namespace tuner::convert {
namespace {

using python::Node;

constexpr std::size_t kLongestFormula = 4096;  // far longer than real ones

bool is_of_operand(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// The end of the operand at \p at: a word or number, a bracket, or a call.
std::size_t end_of_operand(std::string_view text, std::size_t at) {
  while (at < text.size() && is_of_operand(text[at])) ++at;
  if (at == text.size() || text[at] != '(') return at;
  for (int depth = 0; at < text.size(); ++at) {
    depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return at;
}

/// Changes `(float)i` to `float(i)`. Returns whether there was a cast.
bool replace_casts(std::string& text) {
  bool any = false;
  for (const std::string_view cast : {"(float)", "(double)"}) {
    for (std::size_t at = text.rfind(cast); at != std::string::npos; at = text.rfind(cast)) {
      std::size_t begin = at + cast.size();
      while (begin < text.size() && text[begin] == ' ') ++begin;
      const std::size_t end = end_of_operand(text, begin);
      text = text.substr(0, at) + "float(" + text.substr(begin, end - begin) + ')' + text.substr(end);
      any = true;
    }
  }
  return any;
}

/// Changes `0.1f` to `0.1`. Returns whether there was a suffix.
bool drop_suffixes(std::string& text) {
  bool any = false;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_of_operand(text[end])) ++end;
    const std::string_view word = std::string_view(text).substr(begin, end - begin);
    const bool is_number = !word.empty() && (std::isdigit(static_cast<unsigned char>(word[0])) != 0 || word[0] == '.');
    if (is_number && word.find('.') != std::string_view::npos && (word.back() == 'f' || word.back() == 'F')) {
      text.erase(--end, 1);
      any = true;
    }
    begin = std::max(end, begin + 1);
  }
  return any;
}

class Formula {
 public:
  Formula(const Meaning& meaning, bool is_c) : meaning_(meaning), is_c_(is_c) {}

  struct Piece {
    std::string text;
    bool is_real = false;
    bool is_single = true;  ///< no operator binds less tightly than its surroundings
    std::string factor() const { return is_single ? text : '(' + text + ')'; }
  };

  Piece of(const Node& node) const {
    switch (node.kind) {
      case Node::Kind::number:
        return number(node);
      case Node::Kind::unary:
        if (node.text == "neg") {
          const Piece a = of(*node.children[0]);
          return {'-' + a.factor(), a.is_real, false};
        }
        break;
      case Node::Kind::binary:
        if (node.text.size() == 1 && std::string_view("+-*/").find(node.text[0]) != std::string_view::npos)
          return binary(node);
        break;
      case Node::Kind::call:
        return call(node);
      case Node::Kind::comparison:
        return comparison(node);
      case Node::Kind::conditional: {
        const Piece value = of(*node.children[1]), other = of(*node.children[2]);
        return {fmt::format("({} ? {} : {})", of(*node.children[0]).text, value.text, other.text),
                value.is_real || other.is_real};
      }
      default:
        break;
    }
    return whole(node);
  }

 private:
  static Piece number(const Node& node) {
    const python::Constant value = python::evaluate(node);
    if (value.is_integer()) return {std::to_string(value.integer())};
    std::string text = fmt::format("{}", value.number());
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return {text, true};
  }

  Piece binary(const Node& node) const {
    const Piece a = of(*node.children[0]), b = of(*node.children[1]);
    const bool real = a.is_real || b.is_real;
    const bool is_sum = node.text == "+" || node.text == "-";
    if (is_sum) return {a.text + ' ' + node.text + ' ' + (node.text == "-" ? b.factor() : b.text), real, false};
    if (node.text == "/" && !real && !is_c_) return {"1.0 * " + a.factor() + " / " + b.factor(), true, false};
    return {a.factor() + ' ' + node.text + ' ' + b.factor(), real, false};
  }

  /// Translates a comparison to a truth value.
  Piece comparison(const Node& node) const {
    if (node.children.size() == 2 && node.operators[0].find_first_of("<>=") != std::string::npos) {
      const Piece a = of(*node.children[0]), b = of(*node.children[1]);
      if (a.is_real || b.is_real)
        return {fmt::format("{} {} {}", a.factor(), node.operators[0], b.factor()), false, false};
    }
    return whole(node);
  }

  Piece call(const Node& node) const {
    const std::string& what = node.children[0]->text;
    const std::size_t count = node.children.size() - 1;
    if (count == 1 && (what == "float" || what == "double" || what == "float32" || what == "float64")) {
      const Piece a = of(*node.children[1]);
      return a.is_real ? a : Piece{"1.0 * " + a.factor(), true, false};
    }
    if ((what == "min" || what == "max") && count == 2) {
      const Piece a = of(*node.children[1]), b = of(*node.children[2]);
      return {fmt::format("{}({}, {})", what, a.text, b.text), a.is_real || b.is_real};
    }
    static constexpr std::string_view kReal[] = {"sqrt", "exp", "log", "sin", "cos", "tan"};
    for (const std::string_view one : kReal)
      if (count == 1 && (what == one || what == std::string(one) + 'f'))
        return {fmt::format("{}({})", one, of(*node.children[1]).text), true};
    if ((what == "abs" || what == "fabs") && count == 1) {
      const Piece a = of(*node.children[1]);
      return {"abs(" + a.text + ')', a.is_real};
    }
    return whole(node);
  }

  /// Translates a formula of whole numbers.
  Piece whole(const Node& node) const {
    const std::string text = translate(node, meaning_);
    return {text, false, text.find_first_of(" -?") == std::string::npos};
  }

  const Meaning& meaning_;
  bool is_c_;
};

}  // namespace

std::string element_formula(std::string_view given, const Meaning& meaning) {
  if (given.size() > kLongestFormula) throw python::NotUnderstood("the formula is too long");
  std::string text(given);
  const bool has_casts = replace_casts(text), has_suffixes = drop_suffixes(text);
  return Formula(meaning, has_casts || has_suffixes).of(*python::parse(text)).text;
}

}  // namespace tuner::convert
