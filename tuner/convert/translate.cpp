#include <tuner/convert/translate.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>

#include <tuner/core/message_text.hpp>

namespace tuner::convert {
namespace {

using python::Node;
using python::NotUnderstood;

/// The precedence of a text's outermost operator in kernel files.
enum Rank { kConditional, kOr, kAnd, kNot, kCompare, kShift, kSum, kProduct, kUnary, kAtom };

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Bounds of an expression's values.
struct Bounds {
  double low = -kInfinity, high = kInfinity;

  bool may_be_negative() const { return !(low >= 0); }
};

/// If infinite bounds give no number, nothing is known.
Bounds bounds_of(std::initializer_list<double> corners) {
  if (std::any_of(corners.begin(), corners.end(), [](double one) { return std::isnan(one); })) return {};
  return {std::min(corners), std::max(corners)};
}

Bounds either(const Bounds& a, const Bounds& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// A fraction of two expressions; `denominator` is empty for 1.
struct Piece {
  std::string text;
  Rank rank = kAtom;
  std::string denominator = {};  // can always be an operand of a product
};

class Translator {
 public:
  explicit Translator(const Meaning& meaning) : meaning_(meaning) {
    for (const auto& [name, value] : meaning.constants)
      if (!meaning.name(name)) numbers_[name] = value;
  }

  std::string whole(const Node& node) { return plain(node).text; }

  void conditions(const Node& node, std::vector<std::string>& out) {
    if (node.kind == Node::Kind::binary && node.text == "and") {
      conditions(*node.children[0], out);
      conditions(*node.children[1], out);
    } else if (node.kind == Node::Kind::comparison && node.operators.size() > 1) {
      for (std::size_t i = 0; i < node.operators.size(); ++i)
        out.push_back(compare(*node.children[i], node.operators[i], *node.children[i + 1]).text);
    } else {
      out.push_back(whole(node));
    }
  }

 private:
  [[noreturn]] static void fail(const Node& node, const std::string& why) {
    throw NotUnderstood(fmt::format("{} {}", in_quotes(python::text_of(node)), why));
  }

  static std::string in(const Piece& piece, Rank at_least) {
    return piece.rank < at_least ? '(' + piece.text + ')' : piece.text;
  }
  static std::string product(const std::string& a, const std::string& b) {
    if (a.empty() || a == "1") return b.empty() ? "1" : b;
    return b.empty() || b == "1" ? a : a + " * " + b;
  }
  static std::string denominators(const Piece& a, const Piece& b) {
    const std::string all = product(a.denominator, b.denominator);
    return all == "1" ? "" : all;
  }
  /// The numerator of \p piece times \p factor; empty: 1.
  static Piece times(const Piece& piece, const std::string& factor) {
    if (factor.empty() || piece.text == "0") return {piece.text, piece.rank, {}};
    return {in(piece, kProduct) + " * " + factor, kProduct, {}};
  }
  /// For the right side of a division or product.
  static std::string factor(const Piece& piece) { return in(piece, kUnary); }

  /// Throws for a fraction.
  Piece plain(const Node& node) {
    Piece piece = of(node);
    if (!piece.denominator.empty()) fail(node, "is a fraction, which is not possible here");
    return piece;
  }

  Piece of(const Node& node) {
    if (const auto number = constant(node)) return *number;
    switch (node.kind) {
      case Node::Kind::name: {
        if (const auto name = meaning_.name(node.text)) return {*name, kAtom, {}};
        fail(node, "is not a parameter or size");
      }
      case Node::Kind::unary: {
        if (node.text == "not") return {"not " + in(plain(*node.children[0]), kNot), kNot, {}};
        Piece one = of(*node.children[0]);
        return {'-' + in(one, kAtom), kUnary, one.denominator};
      }
      case Node::Kind::binary:
        return binary(node);
      case Node::Kind::comparison: {
        Piece all = compare(*node.children[0], node.operators[0], *node.children[1]);
        for (std::size_t i = 1; i < node.operators.size(); ++i)
          all = {
              in(all, kAnd) + " and " + in(compare(*node.children[i], node.operators[i], *node.children[i + 1]), kNot),
              kAnd,
              {}};
        return all;
      }
      case Node::Kind::conditional:
        return {in(plain(*node.children[0]), kOr) + " ? " + in(plain(*node.children[1]), kOr) + " : " +
                    in(plain(*node.children[2]), kOr),
                kConditional,
                {}};
      case Node::Kind::subscript:
        return subscript(node);
      case Node::Kind::call:
        return call(node);
      case Node::Kind::lambda:
        return of(*node.children[0]);
      case Node::Kind::string:
        if (!node.text.empty() && std::all_of(node.text.begin(), node.text.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
            }))
          return {node.text, kAtom, {}};
        break;
      default:
        break;
    }
    fail(node, "cannot be expressed in a kernel file");
  }

  /// Names of sizes are kept as names.
  bool names_problem(const Node& node) const {
    if (meaning_.problem.empty()) return false;
    if (node.kind == Node::Kind::name && (node.text == "problem_size" || node.text == "ProblemSize")) return true;
    return std::any_of(node.children.begin(), node.children.end(),
                       [this](const auto& one) { return names_problem(*one); });
  }

  /// A number, if \p node contains only numbers.
  std::optional<Piece> constant(const Node& node) {
    if (node.kind == Node::Kind::name && meaning_.name(node.text)) return std::nullopt;
    if (node.kind == Node::Kind::string) return std::nullopt;
    if (names_problem(node)) return std::nullopt;
    python::Constant value;
    try {
      const bool of_all_values = node.kind == Node::Kind::call && node.children.size() == 2 &&
                                 node.children[1]->kind == Node::Kind::name;  // max(filter_width)
      value = python::evaluate(node, of_all_values ? meaning_.constants : numbers_);
    } catch (const NotUnderstood&) {
      return std::nullopt;
    }
    if (const bool* truth = std::get_if<bool>(&value.value)) return Piece{*truth ? "true" : "false", kAtom, {}};
    if (value.is_integer()) return Piece{std::to_string(value.integer()), value.integer() < 0 ? kUnary : kAtom, {}};
    if (!value.is_number()) return std::nullopt;
    // A decimal fraction with few digits becomes a fraction of integers.
    double number = value.number();
    std::int64_t denominator = 1;
    while (number != std::trunc(number) && denominator < 1'000'000) {
      number *= 10;
      denominator *= 10;
    }
    if (!(std::fabs(number) <= 1e15) || number != std::trunc(number)) return std::nullopt;
    return Piece{std::to_string(static_cast<std::int64_t>(number)), number < 0 ? kUnary : kAtom,
                 denominator > 1 ? std::to_string(denominator) : ""};
  }

  Piece binary(const Node& node) {
    const std::string& op = node.text;
    if (op == "and")
      return {in(plain(*node.children[0]), kAnd) + " and " + in(plain(*node.children[1]), kNot), kAnd, {}};
    if (op == "or") return {in(plain(*node.children[0]), kOr) + " or " + in(plain(*node.children[1]), kAnd), kOr, {}};
    for (const auto& child : node.children) require_value(*child);
    const Piece a = of(*node.children[0]), b = of(*node.children[1]);
    if (op == "*") return {in(a, kProduct) + " * " + factor(b), kProduct, denominators(a, b)};
    if (op == "/") {
      // Comparing fractions multiplies both sides by the denominators.
      if (may_be_negative(*node.children[1])) fail(node, "divides by something that may be negative");
      // (p / q) / (r / s) = (p * s) / (q * r)
      const std::string below = product(a.denominator, factor(b));
      const Piece top = times(a, b.denominator);
      return {top.text, top.rank, below == "1" ? "" : below};
    }
    if (op == "+" || op == "-") return sum(a, op, b);
    if (op == "//" || op == "%") return rounded(node, a, op, b);
    if (op == "<<" || op == ">>") {
      if (!a.denominator.empty() || !b.denominator.empty()) fail(node, "shifts a fraction");
      return {in(a, kShift) + ' ' + op + ' ' + in(b, kSum), kShift, {}};
    }
    if (op == "**") return power(node, a);
    if (op == "&" && is_condition(*node.children[0]) && is_condition(*node.children[1]))
      return {in(a, kAnd) + " and " + in(b, kNot), kAnd, {}};
    if (op == "|" && is_condition(*node.children[0]) && is_condition(*node.children[1]))
      return {in(a, kOr) + " or " + in(b, kAnd), kOr, {}};
    if (op == "&") return bits(node, a);
    fail(node, "has an operator that kernel files lack");
  }

  /// `and` and `or` return one of their operands in Python, but a truth value in kernel files.
  static void require_value(const Node& node) {
    if (node.kind == Node::Kind::binary && (node.text == "and" || node.text == "or") &&
        !(is_condition(*node.children[0]) && is_condition(*node.children[1])))
      fail(node, "is arithmetic that only Python has");
  }

  static bool is_condition(const Node& node) {
    return node.kind == Node::Kind::comparison || (node.kind == Node::Kind::unary && node.text == "not") ||
           (node.kind == Node::Kind::binary && (node.text == "and" || node.text == "or" ||
                                                ((node.text == "&" || node.text == "|") &&
                                                 is_condition(*node.children[0]) && is_condition(*node.children[1]))));
  }

  static Piece sum(const Piece& a, const std::string& op, const Piece& b) {
    if (a.denominator.empty() && b.denominator.empty())
      return {in(a, kSum) + ' ' + op + ' ' + in(b, op == "-" ? kProduct : kSum), kSum, {}};
    const Piece left = times(a, b.denominator), right = times(b, a.denominator);
    return {in(left, kSum) + ' ' + op + ' ' + in(right, kProduct), kSum, product(a.denominator, b.denominator)};
  }

  /// a // b and a % b for fractions p / q and r / s: (p * s) op (r * q); the remainder is over q * s. Python rounds
  /// down and kernel files towards zero, which is the same if nothing is negative.
  Piece rounded(const Node& node, const Piece& a, const std::string& op, const Piece& b) {
    if (may_be_negative(*node.children[0]) || may_be_negative(*node.children[1]))
      fail(node, "rounds down where it may be negative, which kernel files do not");
    const Piece left = times(a, b.denominator);
    const Piece right = times({b.text, b.rank, {}}, a.denominator);
    return {in(left, kProduct) + (op == "//" ? " / " : " % ") + factor(right), kProduct,
            op == "//" ? "" : denominators(a, b)};
  }

  bool may_be_negative(const Node& node) { return bounds(node).may_be_negative(); }

  /// Considers all values of the names in \p node, each independently: the true bounds may be narrower.
  Bounds bounds(const Node& node) {
    if (node.kind == Node::Kind::name) return bounds_of_name(node.text);
    switch (node.kind) {
      case Node::Kind::number:
      case Node::Kind::attribute:
        return bounds_of_constant(node, numbers_);
      case Node::Kind::unary: {
        if (node.text == "not") return {0, 1};
        const Bounds one = bounds(*node.children[0]);
        return {-one.high, -one.low};
      }
      case Node::Kind::binary:
        return bounds_of_binary(node.text, bounds(*node.children[0]), bounds(*node.children[1]));
      case Node::Kind::comparison:
        return {0, 1};
      case Node::Kind::conditional:
        return either(bounds(*node.children[1]), bounds(*node.children[2]));
      case Node::Kind::subscript:
        if (node.children[1]->kind == Node::Kind::string && meaning_.name(node.children[1]->text))
          return bounds_of_name(node.children[1]->text);
        if (names_problem(*node.children[0])) return {0, kInfinity};
        return bounds_of_constant(node, numbers_);
      case Node::Kind::call:
        return bounds_of_call(node);
      case Node::Kind::lambda:
        return bounds(*node.children[0]);
      default:
        return {};
    }
  }

  Bounds bounds_of_name(const std::string& name) const {
    if (meaning_.sizes.contains(name)) return {0, kInfinity};
    const auto at = meaning_.constants.find(name);
    return at == meaning_.constants.end() ? Bounds() : bounds_of_values(at->second);
  }

  static Bounds bounds_of_values(const python::Constant& values) {
    if (values.is_number()) return {values.number(), values.number()};
    if (!values.list() || values.list()->empty()) return {};
    Bounds all{kInfinity, -kInfinity};
    for (const python::Constant& one : *values.list()) {
      if (!one.is_number()) return {};
      all = either(all, {one.number(), one.number()});
    }
    return all;
  }

  static Bounds bounds_of_constant(const Node& node, const python::Names& names) {
    try {
      const python::Constant value = python::evaluate(node, names);
      return value.is_number() ? bounds_of_values(value) : Bounds();
    } catch (const NotUnderstood&) {
      return {};
    }
  }

  static Bounds bounds_of_binary(const std::string& op, const Bounds& a, const Bounds& b) {
    const auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
    const bool positive = a.low >= 0 && b.low >= 0;
    if (op == "and" || op == "or") return either(a, b);
    if (op == "+") return bounds_of({a.low + b.low, a.high + b.high});
    if (op == "-") return bounds_of({a.low - b.high, a.high - b.low});
    if (op == "*")
      return bounds_of({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
    if (op == "/" || op == "//") {
      if (b.low > 0) {
        const Bounds exact = bounds_of({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
        if (!std::isinf(exact.low)) return op == "/" ? exact : Bounds{std::floor(exact.low), std::floor(exact.high)};
      }
      return positive ? Bounds{0, kInfinity} : Bounds();
    }
    if (op == "%" && b.low >= 0) return {0, a.low >= 0 ? std::min(a.high, b.high) : b.high};
    if (op == "**" && positive)
      return {a.low >= 1 ? std::pow(a.low, b.low) : 0, a.high >= 1 ? std::pow(a.high, b.high) : 1};
    if (op == "<<" && positive) return {times(a.low, std::exp2(b.low)), times(a.high, std::exp2(b.high))};
    if (op == ">>" && a.low >= 0) return {0, a.high};
    if (op == "&" && positive) return {0, std::min(a.high, b.high)};
    if (op == "|" && positive) return {std::max(a.low, b.low), kInfinity};
    return positive && op == "^" ? Bounds{0, kInfinity} : Bounds();
  }

  Bounds bounds_of_call(const Node& node) {
    const std::string& what = node.children[0]->text;
    const std::size_t count = node.children.size() - 1;
    if (what == "prod" && names_problem(node)) return {0, kInfinity};
    if (what == "bool") return {0, 1};
    if (count == 0) return {};
    const Node& argument = *node.children[1];
    if ((what == "min" || what == "max") && count == 1 && argument.kind == Node::Kind::name)
      return bounds_of_name(argument.text);  // of all its values
    if (count == 1 && (what == "min" || what == "max" || what == "len" || what == "prod"))
      return bounds_of_constant(node, numbers_);
    Bounds all = bounds(argument);
    if (what == "min" || what == "max") {
      for (std::size_t i = 2; i <= count; ++i) {
        const Bounds one = bounds(*node.children[i]);
        all = what == "min" ? Bounds{std::min(all.low, one.low), std::min(all.high, one.high)}
                            : Bounds{std::max(all.low, one.low), std::max(all.high, one.high)};
      }
      return all;
    }
    if (count > 1) return {};
    if (what == "abs") return {all.low >= 0 ? all.low : 0, std::max(std::fabs(all.low), std::fabs(all.high))};
    if (what == "ceil") return {std::ceil(all.low), std::ceil(all.high)};
    if (what == "floor") return {std::floor(all.low), std::floor(all.high)};
    if (what == "int" || what == "int32" || what == "int64") return {std::trunc(all.low), std::trunc(all.high)};
    if (what == "float" || what == "float32" || what == "float64") return all;
    if (what == "log2" && all.low >= 1) return {std::log2(all.low), std::log2(all.high)};
    if (what == "sqrt" && all.low >= 0) return {std::sqrt(all.low), std::sqrt(all.high)};
    return {};
  }

  Piece power(const Node& node, const Piece& base) {
    const auto exponent = constant(*node.children[1]);
    if (node.children[0]->kind == Node::Kind::number && node.children[0]->text == "2" && !exponent &&
        !may_be_negative(*node.children[1]))
      return {"1 << " + in(plain(*node.children[1]), kSum), kShift, {}};
    if (!exponent || !exponent->denominator.empty() || exponent->text.size() > 1 || exponent->rank != kAtom)
      fail(node, "is a power that kernel files cannot express");
    const int times_base = exponent->text[0] - '0';
    if (times_base == 0) return {"1", kAtom, {}};
    Piece all = base;
    for (int i = 1; i < times_base; ++i) {
      all.text = in(all, kProduct) + " * " + factor({base.text, base.rank, {}});
      all.rank = kProduct;
      if (!base.denominator.empty()) all.denominator = product(all.denominator, base.denominator);
    }
    return all;
  }

  /// `x & (x - 1)` is 0 for powers of two; `x & 1` is x % 2.
  Piece bits(const Node& node, const Piece& a) {
    if (node.children[1]->kind == Node::Kind::number) {
      std::int64_t mask = 0;
      try {
        mask = python::evaluate(*node.children[1]).integer();
      } catch (const NotUnderstood&) {
      }
      // For negative numbers, masked bits are not remainders.
      if (mask > 0 && (mask & (mask + 1)) == 0 && mask < INT64_MAX && a.denominator.empty() &&
          !may_be_negative(*node.children[0]))
        return {in(a, kProduct) + " % " + std::to_string(mask + 1), kProduct, {}};
    }
    fail(node, "has an operator that kernel files lack");
  }

  Piece compare(const Node& a, const std::string& op, const Node& b) {
    require_value(a);
    require_value(b);
    if (op == "in" || op == "not_in") return membership(a, op, b);
    if ((op == "==" || op == "!=") && is_power_of_two(a, b))
      return {(op == "!=" ? "not is_pow2(" : "is_pow2(") + whole(*a.children[0]) + ')', op == "!=" ? kNot : kAtom, {}};
    const Piece left = of(a), right = of(b);
    const Piece x = times(left, right.denominator), y = times(right, left.denominator);
    return {in(x, kShift) + ' ' + op + ' ' + in(y, kShift), kCompare, {}};
  }

  /// x & (x - 1) == 0
  static bool is_power_of_two(const Node& a, const Node& zero) {
    if (a.kind != Node::Kind::binary || a.text != "&" || zero.text != "0") return false;
    const Node& less = *a.children[1];
    return less.kind == Node::Kind::binary && less.text == "-" && less.children[1]->text == "1" &&
           python::text_of(*less.children[0]) == python::text_of(*a.children[0]);
  }

  Piece membership(const Node& a, const std::string& op, const Node& list) {
    if (list.kind != Node::Kind::list && list.kind != Node::Kind::tuple) {
      const python::Constant values = python::evaluate(list, meaning_.constants);
      if (!values.list()) throw NotUnderstood(in_quotes(python::text_of(list)) + " is no list");
      std::string text;
      for (const python::Constant& one : *values.list()) {
        if (!one.is_integer())
          throw NotUnderstood(in_quotes(python::text_of(list)) + " has values that are not integers");
        text += (text.empty() ? "" : ", ") + std::to_string(one.integer());
      }
      return membership_text(a, op, text);
    }
    std::string text;
    for (const python::Tree& one : list.children) text += (text.empty() ? "" : ", ") + plain(*one).text;
    return membership_text(a, op, text);
  }

  Piece membership_text(const Node& a, const std::string& op, const std::string& values) {
    const std::string text = in(plain(a), kShift) + " in {" + values + '}';
    return op == "in" ? Piece{text, kCompare, {}} : Piece{"not " + text, kNot, {}};
  }

  /// p["block_size_x"], ProblemSize[0]
  Piece subscript(const Node& node) {
    const Node &from = *node.children[0], &index = *node.children[1];
    if (index.kind == Node::Kind::string)
      if (const auto name = meaning_.name(index.text)) return {*name, kAtom, {}};
    if (from.kind == Node::Kind::name && (from.text == "ProblemSize" || from.text == "problem_size"))
      if (const auto place = constant(index); place && place->text.size() == 1) {
        const std::size_t at = static_cast<std::size_t>(place->text[0] - '0');
        if (at < meaning_.problem.size()) return {meaning_.problem[at], kAtom, {}};
      }
    fail(node, "is not a parameter or size");
  }

  Piece call(const Node& node) {
    const std::string& what = node.children[0]->text;
    const std::size_t count = node.children.size() - 1;
    if ((what == "min" || what == "max") && count > 1) {
      std::string text;
      for (std::size_t i = 1; i <= count; ++i) text += (i > 1 ? ", " : "") + plain(*node.children[i]).text;
      return {what + '(' + text + ')', kAtom, {}};
    }
    if (count == 1) {
      const Node& argument = *node.children[1];
      const bool all =
          argument.kind == Node::Kind::name && (argument.text == "problem_size" || argument.text == "ProblemSize");
      if (what == "prod" && all && !meaning_.problem.empty()) {
        std::string text;
        for (const std::string& size : meaning_.problem) text += (text.empty() ? "" : " * ") + size;
        return {text, meaning_.problem.size() == 1 ? kAtom : kProduct, {}};
      }
      if (what == "abs") return {"abs(" + whole(argument) + ')', kAtom, {}};
      if (what == "bool") return plain(argument);
      const Piece one = of(argument);
      if (what == "ceil" && !one.denominator.empty() && may_be_negative(argument))
        fail(node, "rounds up where it may be negative, which kernel files do not");
      if (what == "ceil")
        return one.denominator.empty() ? one : Piece{"ceil_div(" + one.text + ", " + one.denominator + ')', kAtom, {}};
      if (what == "int" || what == "floor" || what == "int32" || what == "int64") {
        if (one.denominator.empty()) return one;
        if (what == "floor" && may_be_negative(argument)) fail(node, "rounds down where it may be negative");
        const bool alone = one.denominator.find_first_of(" *") == std::string::npos;
        return {in(one, kProduct) + " / " + (alone ? one.denominator : '(' + one.denominator + ')'), kProduct, {}};
      }
      if (what == "log2") return {"log2(" + whole(argument) + ')', kAtom, {}};
    }
    fail(node, "is a function that kernel files lack");
  }

  const Meaning& meaning_;
  python::Names numbers_;  // constants whose names are not those of parameters or sizes
};

}  // namespace

std::string translate(const Node& tree, const Meaning& meaning) { return Translator(meaning).whole(tree); }

std::string translate(std::string_view text, const Meaning& meaning) {
  return translate(*python::parse(text), meaning);
}

std::vector<std::string> translate_conditions(const Node& tree, const Meaning& meaning) {
  std::vector<std::string> all;
  Translator(meaning).conditions(tree.kind == Node::Kind::lambda ? *tree.children[0] : tree, all);
  return all;
}

}  // namespace tuner::convert
