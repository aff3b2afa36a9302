#include <tuner/convert/python.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <tuner/core/message_text.hpp>

namespace tuner::convert::python {
namespace {

constexpr std::size_t kMostValues = 100'000;
constexpr int kMostLevels = 500;              // levels of a tree to evaluate; each takes a few calls
constexpr std::size_t kMostRoom = 1'000'000;  // room_of() all values of an evaluation
constexpr std::size_t kBytesOfRoom = 64;      // bytes of text that count as one value

using Constants = std::vector<Constant>;

class Evaluator {
 public:
  /// \p names must outlive this object.
  explicit Evaluator(const Names& names) : names_(names) {}

  Constant value(const Node& node) {
    if (++steps_ > 20 * kMostValues) throw NotUnderstood("an expression takes too long to evaluate");
    if (++levels_ > kMostLevels) throw NotUnderstood("an expression is nested too deeply");
    Constant found = value_of(node);
    --levels_;
    // Names and items made room before they were copied.
    if (node.kind != Node::Kind::name && node.kind != Node::Kind::subscript) make_room(node, room_of(found));
    return found;
  }

 private:
  Constant value_of(const Node& node) {
    switch (node.kind) {
      case Node::Kind::number:
        return number(node);
      case Node::Kind::string:
        return {node.text, {}, {}};
      case Node::Kind::name:
        return name(node);
      case Node::Kind::unary:
        return unary(node);
      case Node::Kind::binary:
        return binary(node);
      case Node::Kind::comparison:
        return comparison(node);
      case Node::Kind::conditional:
        return truth(value(*node.children[0])) ? value(*node.children[1]) : value(*node.children[2]);
      case Node::Kind::attribute:
        return attribute(node);
      case Node::Kind::subscript:
        return subscript(node);
      case Node::Kind::call:
        return call(node);
      case Node::Kind::list:
      case Node::Kind::tuple:
        return list(node);
      case Node::Kind::dictionary:
        return dictionary(node);
      case Node::Kind::comprehension:
        return comprehension(node);
      case Node::Kind::lambda:
        break;
    }
    fail(node, "has no value here");
  }

  [[noreturn]] static void fail(const Node& node, const std::string& why) {
    throw NotUnderstood(fmt::format("{} {}", in_quotes(text_of(node)), why));
  }

  void make_room(const Node& node, std::size_t room) {
    if (room > kMostRoom - room_) fail(node, "is too large");
    room_ += room;
  }

  Constant copied(const Node& node, const Constant& one) {
    make_room(node, room_of(one));
    return one;
  }

  static Constant number(const Node& node) {
    const char* const begin = node.text.data();
    const char* const end = begin + node.text.size();
    std::int64_t integer = 0;
    const bool is_hex = node.text.starts_with("0x") || node.text.starts_with("0X");
    if (const auto [stop, error] = std::from_chars(is_hex ? begin + 2 : begin, end, integer, is_hex ? 16 : 10);
        error == std::errc() && stop == end)
      return {integer, {}, {}};
    double real = 0;
    if (const auto [stop, error] = std::from_chars(begin, end, real); error == std::errc() && stop == end)
      return {real, {}, {}};
    fail(node, "is not a supported number");
  }

  Constant name(const Node& node) {
    if (node.text == "True") return {true, {}, {}};
    if (node.text == "False") return {false, {}, {}};
    if (node.text == "None") return {};
    if (const auto at = variables_.find(node.text); at != variables_.end()) return copied(node, at->second);
    if (const auto at = names_.find(node.text); at != names_.end()) return copied(node, at->second);
    fail(node, "is not known");
  }

  static bool truth(const Constant& constant) {
    if (constant.is_number()) return constant.number() != 0;
    if (const auto* text = constant.string()) return !text->empty();
    return constant.list() && !constant.list()->empty();
  }

  Constant unary(const Node& node) {
    Constant one = value(*node.children[0]);
    if (node.text == "not") return {!truth(one), {}, {}};
    if (one.is_integer()) return {negative(node, one.integer()), one.type, {}};
    if (one.is_number()) return {-one.number(), one.type, {}};
    fail(node, "negates something that is not a number");
  }

  static std::int64_t negative(const Node& node, std::int64_t number) {
    std::int64_t out = 0;
    if (__builtin_sub_overflow(std::int64_t{0}, number, &out)) fail(node, "is too large");
    return out;
  }

  /// \p number without its fraction.
  static std::int64_t truncated(const Node& node, const Constant& number) {
    if (number.is_integer()) return number.integer();
    const double whole = std::trunc(number.number());
    if (!(whole >= -0x1p63 && whole < 0x1p63)) fail(node, "is too large");
    return static_cast<std::int64_t>(whole);
  }

  Constant binary(const Node& node) {
    const std::string& op = node.text;
    Constant a = value(*node.children[0]);
    if (op == "and") return truth(a) ? value(*node.children[1]) : a;
    if (op == "or") return truth(a) ? a : value(*node.children[1]);
    const Constant b = value(*node.children[1]);
    if (op == "+" && a.list() && b.list()) {
      Constants all = std::get<Constants>(std::move(a.value));
      all.insert(all.end(), b.list()->begin(), b.list()->end());
      return bounded(node, std::move(all));
    }
    if (op == "+" && a.string() && b.string()) return {*a.string() + *b.string(), {}, {}};
    if (op == "*" && a.list() && b.is_integer()) {
      const std::size_t room = room_of(a);
      const std::uint64_t count =
          a.list()->empty() ? 0 : static_cast<std::uint64_t>(std::max(b.integer(), std::int64_t{0}));
      if (count > kMostValues / std::max(a.list()->size(), std::size_t{1})) fail(node, "is too long a list");
      if (count > (kMostRoom - room_) / room) fail(node, "is too large");
      Constants all;
      for (std::uint64_t i = 0; i < count; ++i) all.insert(all.end(), a.list()->begin(), a.list()->end());
      return bounded(node, std::move(all));
    }
    if (!a.is_number() || !b.is_number()) fail(node, "is arithmetic with something that is not a number");
    const std::string type = a.type.empty() ? b.type : a.type;
    if (a.is_integer() && b.is_integer() && op != "/") return {integers(node, a.integer(), b.integer()), type, {}};
    return {reals(node, a.number(), b.number()), type, {}};
  }

  static std::int64_t integers(const Node& node, std::int64_t a, std::int64_t b) {
    const std::string& op = node.text;
    std::int64_t out = 0;
    bool overflow = false;
    if (op == "+") {
      overflow = __builtin_add_overflow(a, b, &out);
    } else if (op == "-") {
      overflow = __builtin_sub_overflow(a, b, &out);
    } else if (op == "*") {
      overflow = __builtin_mul_overflow(a, b, &out);
    } else if (op == "**") {
      if (b < 0) fail(node, "is no integer");
      // Other bases overflow within 64 steps. For these, only a zero or odd exponent makes a difference.
      const bool is_unit = a >= -1 && a <= 1;
      const std::int64_t exponent = is_unit && b > 2 ? 2 - b % 2 : b;
      out = 1;
      for (std::int64_t i = 0; i < exponent && !overflow; ++i) overflow = __builtin_mul_overflow(out, a, &out);
    } else if (op == "//" || op == "%") {
      if (b == 0 || (b == -1 && a == INT64_MIN)) fail(node, "divides by zero");
      const std::int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
      out = op == "//" ? quotient : a - quotient * b;
    } else if (op == "<<" || op == ">>") {
      if (b < 0 || b > 62) fail(node, "shifts too far");
      overflow = op == "<<" && __builtin_mul_overflow(a, std::int64_t{1} << b, &out);
      if (op == ">>") out = a >> b;
    } else {
      out = op == "&" ? (a & b) : op == "|" ? (a | b) : (a ^ b);
    }
    if (overflow) fail(node, "is too large");
    return out;
  }

  static double reals(const Node& node, double a, double b) {
    const std::string& op = node.text;
    if ((op == "/" || op == "//" || op == "%") && b == 0) fail(node, "divides by zero");
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    if (op == "/") return a / b;
    if (op == "//") return std::floor(a / b);
    if (op == "%") return a - std::floor(a / b) * b;
    if (op == "**") return std::pow(a, b);
    fail(node, "is not arithmetic of fractions");
  }

  static bool equal(const Constant& a, const Constant& b) {
    if (a.is_number() && b.is_number()) return a.number() == b.number();
    if (a.string() && b.string()) return *a.string() == *b.string();
    return a.is_none() && b.is_none();
  }

  Constant comparison(const Node& node) {
    Constant a = value(*node.children[0]);
    for (std::size_t i = 0; i < node.operators.size(); ++i) {
      const std::string& op = node.operators[i];
      Constant b = value(*node.children[i + 1]);
      bool holds = false;
      if (op == "==" || op == "!=") {
        holds = equal(a, b) == (op == "==");
      } else if (op == "in" || op == "not_in") {
        if (!b.list()) fail(node, "searches something that is not a list");
        const auto is_a = [&](const Constant& one) { return equal(a, one); };
        holds = std::any_of(b.list()->begin(), b.list()->end(), is_a) == (op == "in");
      } else {
        if (!a.is_number() || !b.is_number()) fail(node, "compares something that is not a number");
        const double x = a.number(), y = b.number();
        holds = op == "<" ? x < y : op == "<=" ? x <= y : op == ">" ? x > y : x >= y;
      }
      if (!holds) return {false, {}, {}};
      a = std::move(b);
    }
    return {true, {}, {}};
  }

  Constant attribute(const Node& node) {
    if (node.text == "size" || node.text == "shape" || node.text == "dtype") fail(node, "has no value here");
    if (node.children[0]->kind == Node::Kind::name && !names_.contains(node.children[0]->text))
      return {node.text, "", {}};  // np.int32: the name of a type
    fail(node, "has no value here");
  }

  Constant subscript(const Node& node) {
    const Constant from = value(*node.children[0]), index = value(*node.children[1]);
    if (!from.list()) fail(node, "is a part of something that is not a list");
    if (!from.keys.empty()) {
      for (std::size_t i = 0; i < from.keys.size(); ++i)
        if (equal(from.keys[i], index)) return copied(node, (*from.list())[i]);
    } else if (index.is_integer()) {
      const std::int64_t count = static_cast<std::int64_t>(from.list()->size());
      const std::int64_t place = index.integer() < 0 ? count + index.integer() : index.integer();
      if (place >= 0 && place < count) return copied(node, (*from.list())[static_cast<std::size_t>(place)]);
    }
    fail(node, "is not there");
  }

  Constant list(const Node& node) {
    Constants all;
    for (const Tree& one : node.children) all.push_back(value(*one));
    return bounded(node, std::move(all));
  }

  Constant dictionary(const Node& node) {
    Constants keys, values;
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
      keys.push_back(value(*node.children[i]));
      values.push_back(value(*node.children[i + 1]));
    }
    return {std::move(values), {}, std::move(keys)};
  }

  Constant comprehension(const Node& node) {
    const Constant over = value(*node.children[2]);
    if (!over.list()) fail(node, "iterates over something that is not a list");
    const std::string& variable = node.children[1]->text;
    const auto hidden = variables_.find(variable);
    std::optional<Constant> before;
    if (hidden != variables_.end()) before = hidden->second;
    Constants all;
    for (const Constant& one : over.keys.empty() ? *over.list() : over.keys) {
      variables_[variable] = one;
      bool taken = true;
      for (std::size_t i = 3; i < node.children.size(); ++i) taken = taken && truth(value(*node.children[i]));
      if (taken) all.push_back(value(*node.children[0]));
    }
    if (before)
      variables_[variable] = std::move(*before);
    else
      variables_.erase(variable);
    return bounded(node, std::move(all));
  }

  static Constant bounded(const Node& node, Constants all) {
    if (all.size() > kMostValues) fail(node, "is too long a list");
    return {std::move(all), {}, {}};
  }

  Constant call(const Node& node) {
    const Node& function = *node.children[0];
    const bool plain = function.kind == Node::Kind::name;
    if (!plain && function.kind != Node::Kind::attribute) fail(node, "is a call that cannot be evaluated");
    const std::string& what = function.text;
    Constants given;
    for (std::size_t i = 1; i < node.children.size(); ++i)
      if (node.keywords[i - 1].empty()) given.push_back(value(*node.children[i]));
    const bool no_keywords =
        std::all_of(node.keywords.begin(), node.keywords.end(), [](const auto& one) { return one.empty(); });
    const bool integers = std::all_of(given.begin(), given.end(), [](const Constant& one) { return one.is_integer(); });
    if (what == "range" && no_keywords && integers && !given.empty() && given.size() <= 3) return range(node, given);
    if (given.size() == 1 && no_keywords) {
      Constant& one = given[0];
      if ((what == "list" || what == "tuple" || what == "sorted") && one.list()) return sequence(what, std::move(one));
      if (what == "len" && one.list()) return {static_cast<std::int64_t>(one.list()->size()), {}, {}};
      if ((what == "max" || what == "min") && one.list() && !one.list()->empty())
        return extreme(node, what, *one.list());
      if (what == "prod" && one.list()) return product(node, *one.list());
      if (what == "dict" || what == "OrderedDict") return one;
      if (one.is_number()) {
        if (what == "int") return {truncated(node, one), {}, {}};
        if (what == "float") return {one.number(), {}, {}};
        if (what == "bool") return {one.number() != 0, {}, {}};
        if (what == "abs" && one.is_integer())
          return {one.integer() < 0 ? negative(node, one.integer()) : one.integer(), one.type, {}};
        if (what == "ceil" || what == "floor") {
          if (one.is_integer()) return {one.integer(), {}, {}};
          const double rounded = what == "ceil" ? std::ceil(one.number()) : std::floor(one.number());
          return {truncated(node, {rounded, {}, {}}), {}, {}};
        }
        if (what == "sqrt") return {std::sqrt(one.number()), {}, {}};
        if (is_number_type(what)) return typed(node, what, one);
      }
    }
    if ((what == "max" || what == "min") && no_keywords && given.size() > 1) return extreme(node, what, given);
    if ((what == "dict" || what == "OrderedDict") && given.empty()) {
      Constants keys, values;
      for (std::size_t i = 1; i < node.children.size(); ++i) {
        keys.push_back({node.keywords[i - 1], {}, {}});
        values.push_back(value(*node.children[i]));
      }
      return {std::move(values), {}, std::move(keys)};
    }
    fail(node, "is a call that cannot be evaluated");
  }

  static bool is_number_type(const std::string& name) {
    static constexpr std::array kTypes = {"int8",   "uint8", "int16",   "uint16",  "int32",   "uint32", "int64",
                                          "uint64", "half",  "float16", "float32", "float64", "single", "double"};
    return std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end();
  }

  static Constant typed(const Node& node, const std::string& type, const Constant& one) {
    const bool real = type.starts_with("float") || type == "half" || type == "single" || type == "double";
    if (real) return {one.number(), type, {}};
    return {truncated(node, one), type, {}};
  }

  static Constant sequence(const std::string& what, Constant one) {
    Constants all = one.keys.empty() ? *one.list() : one.keys;
    if (what == "sorted")
      std::stable_sort(all.begin(), all.end(), [](const Constant& a, const Constant& b) {
        return a.is_number() && b.is_number() && a.number() < b.number();
      });
    return {std::move(all), {}, {}};
  }

  static Constant extreme(const Node& node, const std::string& what, const Constants& all) {
    const Constant* best = &all.front();
    for (const Constant& one : all) {
      if (!one.is_number()) fail(node, "compares something that is not a number");
      if (what == "max" ? one.number() > best->number() : one.number() < best->number()) best = &one;
    }
    return *best;
  }

  static Constant product(const Node& node, const Constants& all) {
    std::int64_t product = 1;
    for (const Constant& one : all)
      if (!one.is_integer() || __builtin_mul_overflow(product, one.integer(), &product))
        fail(node, "is not a product of integers");
    return {product, {}, {}};
  }

  static Constant range(const Node& node, const Constants& given) {
    const std::int64_t first = given.size() > 1 ? given[0].integer() : 0;
    const std::int64_t end = given.size() > 1 ? given[1].integer() : given[0].integer();
    const std::int64_t step = given.size() > 2 ? given[2].integer() : 1;
    if (step == 0) fail(node, "has steps of zero");
    Constants all;
    for (std::int64_t i = first; step > 0 ? i < end : i > end;) {
      if (all.size() > kMostValues) fail(node, "is too long a list");
      all.push_back({i, {}, {}});
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return {std::move(all), {}, {}};
  }

  const Names& names_;
  Names variables_;  // of comprehensions
  std::size_t steps_ = 0, room_ = 0;
  int levels_ = 0;
};

}  // namespace

double Constant::number() const {
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return static_cast<double>(integer());
}

std::int64_t Constant::integer() const {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? 1 : 0;
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  throw NotUnderstood(is_number() ? "a whole number is needed, not one with a point" : "a number is needed");
}

std::size_t room_of(const Constant& constant) {
  std::size_t room = 1 + constant.type.size() / kBytesOfRoom;
  if (const auto* text = constant.string()) room += text->size() / kBytesOfRoom;
  if (const auto* all = constant.list())
    for (const Constant& one : *all) room += room_of(one);
  for (const Constant& one : constant.keys) room += room_of(one);
  return room;
}

Constant evaluate(const Node& tree, const Names& names) { return Evaluator(names).value(tree); }

}  // namespace tuner::convert::python
