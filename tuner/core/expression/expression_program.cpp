#include <tuner/core/expression/expression_program.hpp>

#include <algorithm>
#include <array>
#include <map>

#include <tuner/core/expression/expression_names.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

/// A part that was translated: its value, or the instruction that computes it.
struct Operand {
  enum class Kind : std::uint8_t { number, boolean, word, free };  // free: a name that nothing defines, perhaps a word
  Kind kind = Kind::number;
  bool is_constant = true;
  std::int64_t value = 0;  ///< of a constant
  std::uint32_t at = 0;    ///< otherwise
};
using Kind = Operand::Kind;

Operand truth(bool value) { return {Kind::boolean, true, value}; }

class Translator {
 public:
  Translator(std::span<const TuningParameter> parameters, const Bindings& fixed)
      : parameters_(parameters), fixed_(fixed) {}

  Operand number(const ExpressionNode& node) {
    const Operand result = typed(node);
    if (result.kind == Kind::free) return misused(node, unknown_name(node.name, fixed_.names()));
    if (result.kind == Kind::word) return misused(node, "the word " + word(node) + " stands where a number is needed");
    return result;
  }

  std::uint32_t instruction(const Operand& operand) {
    return operand.is_constant ? add({Op::constant, 0, operand.value}) : operand.at;
  }

  Program& program() { return program_; }
  /// Whether the values of each parameter are numbers to the program, or words to it.
  bool is_typed() const { return is_typed_; }

 private:
  Operand typed(const ExpressionNode& node) {
    if (node.op == Op::constant || node.op == Op::boolean)
      return {node.op == Op::boolean ? Kind::boolean : Kind::number, true, node.value};
    if (node.op == Op::name) return named(node);
    if (const auto known = done_.find(&node); known != done_.end()) return known->second;
    const bool compares = node.op == Op::equal || node.op == Op::not_equal || node.op == Op::member;
    const Operand result = node.op == Op::size_of                     ? size_of(node)
                           : compares && !tuner::compares_reals(node) ? comparison(node)
                                                                      : operation(node);
    if (!result.is_constant) done_[&node] = result;
    return result;
  }

  Operand named(const ExpressionNode& node) {
    if (const TuningParameter* const parameter = find_named(parameters_, node.name)) return slot(*parameter);
    const Value* const value = fixed_.find(node.name);
    if (!value) return {Kind::free, true, word_number(node.name)};
    if (value->is_string()) return {Kind::word, true, word_number(value->string())};
    return {value->is_boolean() ? Kind::boolean : Kind::number, true, value->integer()};
  }

  Operand size_of(const ExpressionNode& node) {
    is_typed_ = is_typed_ && find_named(parameters_, node.name) == nullptr;
    const Value* const type = fixed_.find(node.name);
    if (!type) return misused(node, unknown_name(node.name, fixed_.names()));
    const auto element = type->is_string() ? element_type(type->string()) : std::nullopt;
    if (!element) return misused(node, in_quotes(node.name) + " is not an element type");
    return {Kind::number, true, static_cast<std::int64_t>(info(*element).bytes)};
  }

  /// `==`, `!=` and `in`, whose operands may be words. Values that certainly differ are left out.
  Operand comparison(const ExpressionNode& node) {
    const Operand first = typed(*node.children[0]);
    if (fails(first)) return first;
    const bool if_equal = node.op != Op::not_equal;
    std::vector<Operand> open{first};
    for (std::size_t k = 1; k < node.children.size(); ++k) {
      const Operand other = comparable(*node.children[0], first, *node.children[k]);
      const bool is_decided = first.is_constant && other.is_constant;
      if (is_decided && first.value != other.value) continue;
      if (is_decided && open.size() == 1) return truth(if_equal);
      if (first.is_constant && open.size() == 1 && fails(other)) return other;
      open.push_back(other);
      if (is_decided) break;
    }
    return open.size() == 1 ? truth(!if_equal) : emitted(node, open);
  }

  /// \p b, to be compared with \p left, which is \p a: a failure if one is a word and the other a number. A name that
  /// nothing defines is a word if the other is one.
  Operand comparable(const ExpressionNode& a, const Operand& left, const ExpressionNode& b) {
    const Operand right = typed(b);
    if (fails(right)) return right;
    const bool left_is_word = left.kind == Kind::word, right_is_word = right.kind == Kind::word;
    if (left.kind == Kind::free && !right_is_word) return misused(a, unknown_name(a.name, fixed_.names()));
    if (right.kind == Kind::free && !left_is_word) return misused(b, unknown_name(b.name, fixed_.names()));
    if (left.kind == Kind::free || right.kind == Kind::free || left_is_word == right_is_word) return right;
    const Operand& number = left_is_word ? right : left;
    const Value shown = number.kind == Kind::boolean ? Value(number.value != 0) : Value(number.value);
    return misused(b, "the word " + word(left_is_word ? a : b) + " is compared with the number " + shown.text());
  }

  Operand operation(const ExpressionNode& node) {
    std::array<Operand, 3> operands;
    const std::size_t count = node.children.size();
    for (std::size_t k = 0; k < count; ++k) {
      operands[k] = number(*node.children[k]);
      if (fails(operands[k]) && (k == 0 || operands[0].is_constant)) return operands[k];
      if (k > 0 || !operands[0].is_constant) continue;
      // Only one branch is ever evaluated: the other may be anything.
      const bool holds = operands[0].value != 0;
      if (node.op == Op::conditional) return number(*node.children[holds ? 1 : 2]);
      if ((node.op == Op::logical_and && !holds) || (node.op == Op::logical_or && holds)) return truth(holds);
    }
    const std::span<const Operand> all(operands.data(), count);
    const bool is_computed = !node.is_real && !compares_reals(node) && std::ranges::all_of(all, &Operand::is_constant);
    return is_computed ? computed(node, all) : emitted(node, all);
  }

  Operand computed(const ExpressionNode& node, std::span<const Operand> operands) {
    const std::int64_t a = operands.front().value, b = operands.back().value;
    if (node.op == Op::logical_and || node.op == Op::logical_or) return truth(b != 0);  // a decided nothing
    ArithmeticProblem problem;
    const bool one = operands.size() == 1;
    const std::int64_t value = one ? apply_unary(node.op, a, problem) : apply_binary(node.op, a, b, problem);
    if (!problem.message) return {gives_boolean(node.op) ? Kind::boolean : Kind::number, true, value};
    return failure(node, std::string(problem.message) + " (of " + std::to_string(a) +
                             (one ? "" : " and " + std::to_string(b)) + ")");
  }

  Operand emitted(const ExpressionNode& node, std::span<const Operand> operands) {
    Instruction made{node.op, 0, 0, {}, node.real, node.is_real, compares_reals(node)};
    for (const Operand& operand : operands) made.operands.push_back(instruction(operand));
    return {gives_boolean(node.op) ? Kind::boolean : Kind::number, false, 0, add(std::move(made))};
  }

  Operand slot(const TuningParameter& parameter) {
    const bool is_word = parameter.values.front().is_string();
    const Kind kind = is_word ? Kind::word : Kind::number;
    const auto index = static_cast<std::size_t>(&parameter - parameters_.data());
    if (const auto known = slots_.find(index); known != slots_.end()) return {kind, false, 0, known->second};
    Slot slot;
    slot.parameter = index;
    for (const Value& value : parameter.values) {
      is_typed_ = is_typed_ && value.is_string() == is_word;
      slot.values.push_back(value.is_string() ? word_number(value.string()) : value.integer());
    }
    const auto [low, high] = std::ranges::minmax(slot.values);
    slot.all = {low, high, false};
    const auto number = static_cast<std::uint32_t>(program_.slots.size());
    program_.slots.push_back(std::move(slot));
    return {kind, false, 0, slots_[index] = add({Op::name, number})};
  }

  bool fails(const Operand& operand) const {
    return !operand.is_constant && program_.instructions[operand.at].op == Op::failure;
  }

  /// A part that fails whenever it is evaluated.
  Operand failure(const ExpressionNode& node, const std::string& message) {
    program_.failures.emplace_back(node.location, message);
    return {Kind::number, false, 0, add({Op::failure, static_cast<std::uint32_t>(program_.failures.size() - 1)})};
  }

  Operand misused(const ExpressionNode& node, const std::string& message) {
    program_.misuses_names = true;
    return failure(node, message);
  }

  std::uint32_t add(Instruction instruction) {
    program_.instructions.push_back(std::move(instruction));
    return static_cast<std::uint32_t>(program_.instructions.size() - 1);
  }

  /// The word that \p name stands for, for messages.
  std::string word(const ExpressionNode& name) const {
    const Value* const value = fixed_.find(name.name);
    return in_quotes(value && value->is_string() ? value->string() : name.name);
  }

  std::int64_t word_number(const std::string& word) {
    return words_.emplace(word, static_cast<std::int64_t>(words_.size())).first->second;
  }

  std::span<const TuningParameter> parameters_;
  const Bindings& fixed_;
  Program program_;
  bool is_typed_ = true;
  std::map<const ExpressionNode*, Operand> done_;  // constants are computed anew
  std::map<std::size_t, std::uint32_t> slots_;     // parameter -> instruction that reads it
  std::map<std::string, std::int64_t, std::less<>> words_;
};

constexpr auto kNoSlots = [](const Slot&) { return std::int64_t{0}; };

}  // namespace

std::optional<Program> translated(const ExpressionNode& root, std::span<const TuningParameter> parameters,
                                  const Bindings& fixed) {
  Translator translator(parameters, fixed);
  const Operand result = translator.number(root);
  if (!translator.is_typed()) return std::nullopt;
  translator.program().root = translator.instruction(result);
  return std::move(translator.program());
}

Value evaluated_number(const ExpressionNode& root, const Bindings& bindings) {
  if (root.is_real) throw EvaluationError(root.location, "a number with a point stands where an integer is needed");
  Translator translator({}, bindings);
  const Operand result = translator.number(root);
  ArithmeticProblem problem;
  const std::int64_t value = result.is_constant ? result.value : translator.program().run(result.at, kNoSlots, problem);
  if (problem.message) throw EvaluationError(*problem.error);
  return result.kind == Kind::boolean ? Value(value != 0) : Value(value);
}

double evaluated_real(const ExpressionNode& root, const Bindings& bindings) {
  if (!root.is_real) return static_cast<double>(evaluated_number(root, bindings).integer());
  Translator translator({}, bindings);
  const std::uint32_t at = translator.instruction(translator.number(root));
  ArithmeticProblem problem;
  const double value = translator.program().run_real(at, kNoSlots, problem);
  if (problem.message) throw EvaluationError(*problem.error);
  return value;
}

}  // namespace tuner
