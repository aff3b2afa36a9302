#include <algorithm>
#include <map>
#include <optional>

#include <tuner/core/expression/expression_tree.hpp>
#include <tuner/core/values/element_type.hpp>
#include <tuner/core/values/message_text.hpp>
#include <tuner/core/values/named.hpp>

namespace tuner {
namespace {

using Digits = std::span<const std::uint16_t>;

struct Instruction {
  Op op = Op::constant;  // Op::name reads a slot
  std::uint32_t slot = 0;
  std::int64_t value = 0;
  std::vector<std::uint32_t> operands = {};
  double real = 0;              // of Op::real
  bool is_real = false;         // as in ExpressionNode
  bool compares_reals = false;  // likewise
};

/// A parameter as the program sees it. All values are numbers: a word is its position in a table.
struct Slot {
  std::size_t parameter = 0;
  std::vector<std::int64_t> values;
  Interval all;
};

struct Program {
  std::vector<Instruction> instructions;
  std::uint32_t root = 0;
  std::vector<Slot> slots;

  /// \p read returns the value of a slot.
  std::int64_t run(std::uint32_t at, const auto& read, ArithmeticProblem& problem) const {
    const Instruction& i = instructions[at];
    const auto operand = [&](std::size_t k) { return run(i.operands[k], read, problem); };
    switch (i.op) {
      case Op::constant:
        return i.value;
      case Op::name:
        return read(slots[i.slot]);
      case Op::logical_and:
        return operand(0) != 0 && !problem.message && operand(1) != 0;
      case Op::logical_or:
        return operand(0) != 0 || (!problem.message && operand(1) != 0);
      case Op::conditional: {
        const bool condition = operand(0) != 0;
        return problem.message ? 0 : operand(condition ? 1 : 2);
      }
      case Op::member: {
        const std::int64_t value = operand(0);
        for (std::size_t k = 1; k < i.operands.size() && !problem.message; ++k) {
          if (operand(k) == value) return !problem.message;
        }
        return 0;
      }
      default: {
        if (i.compares_reals)
          return compare(i.op, run_real(i.operands[0], read, problem), run_real(i.operands[1], read, problem));
        const std::int64_t a = operand(0);
        if (problem.message) return 0;
        if (i.operands.size() == 1) return apply_unary(i.op, a, problem);
        const std::int64_t b = operand(1);
        return problem.message ? 0 : apply_binary(i.op, a, b, problem);
      }
    }
  }

  /// run() for a result that may be double.
  double run_real(std::uint32_t at, const auto& read, ArithmeticProblem& problem) const {
    const Instruction& i = instructions[at];
    if (!i.is_real) return static_cast<double>(run(at, read, problem));
    if (i.op == Op::real) return i.real;
    const auto operand = [&](std::size_t k) { return run_real(i.operands[k], read, problem); };
    if (i.op == Op::conditional) return operand(run(i.operands[0], read, problem) != 0 ? 1 : 2);
    return apply_real(i.op, operand(0), i.operands.size() > 1 ? operand(1) : 0);
  }

  /// \p range returns the values that a slot may have.
  Interval bound(std::uint32_t at, const auto& range) const {
    const Instruction& i = instructions[at];
    const auto operand = [&](std::size_t k) { return bound(i.operands[k], range); };
    switch (i.op) {
      case Op::constant:
        return {i.value, i.value, false};
      case Op::name:
        return range(slots[i.slot]);
      case Op::logical_and: {
        const Interval left = operand(0).truth();
        if (left.surely_zero()) return left;
        const Interval right = operand(1).truth();
        return {left.low & right.low, left.high & right.high, left.may_fail || right.may_fail};
      }
      case Op::logical_or: {
        const Interval left = operand(0).truth();
        if (left.surely_nonzero()) return left;
        const Interval right = operand(1).truth();
        return {left.low | right.low, left.high | right.high, left.may_fail || right.may_fail};
      }
      case Op::conditional: {
        const Interval condition = operand(0).truth();
        Interval result = condition.is_single() ? operand(condition.low ? 1 : 2) : hull(operand(1), operand(2));
        result.may_fail = result.may_fail || condition.may_fail;
        return result;
      }
      case Op::member: {
        const Interval value = operand(0);
        Interval result{0, 0, value.may_fail};
        for (std::size_t k = 1; k < i.operands.size(); ++k) {
          const Interval same = apply_binary(Op::equal, value, operand(k));
          result = {result.low | same.low, result.high | same.high, result.may_fail || same.may_fail};
        }
        return result;
      }
      default:
        return i.operands.size() == 1 ? apply_unary(i.op, operand(0)) : apply_binary(i.op, operand(0), operand(1));
    }
  }
};

/// Translates a tree. Returns nothing if words and numbers mix in ways that only evaluation can judge.
class Translator {
 public:
  Translator(std::span<const TuningParameter> parameters, const Bindings& fixed)
      : parameters_(parameters), fixed_(fixed) {}

  std::optional<Program> translate(const ExpressionNode& root) {
    const Reference result = number(root);
    if (!result) return std::nullopt;
    program_.root = *result;
    return std::move(program_);
  }

 private:
  using Reference = std::optional<std::uint32_t>;

  Reference number(const ExpressionNode& node) {
    const auto known = done_.find(&node);
    if (known != done_.end()) return known->second;
    const Reference result = translated(node);
    if (result) done_[&node] = *result;
    return result;
  }

  Reference translated(const ExpressionNode& node) {
    switch (node.op) {
      case Op::constant:
      case Op::boolean:
        return constant(node.value);
      case Op::name:
        return name(node, false);
      case Op::size_of: {
        const Value* type = fixed_.find(node.name);
        const auto element = type && type->is_string() ? element_type(type->string()) : std::nullopt;
        return element ? constant(static_cast<std::int64_t>(info(*element).bytes)) : Reference();
      }
      case Op::equal:
      case Op::not_equal:
      case Op::member:
        return comparison(node);
      default:
        return operation(node);
    }
  }

  Reference operation(const ExpressionNode& node) {
    std::vector<std::uint32_t> operands;
    for (const auto& child : node.children) {
      const Reference operand = number(*child);
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
      const Instruction& first = program_.instructions[operands.front()];
      if (operands.size() > 1 || first.op != Op::constant) continue;
      // The condition is a constant: only one branch is ever evaluated, so the other may be anything.
      if (node.op == Op::conditional) return number(*node.children[first.value != 0 ? 1 : 2]);
      if (node.op == Op::logical_and && first.value == 0) return constant(0);
      if (node.op == Op::logical_or && first.value != 0) return constant(1);
    }
    return emit(node, std::move(operands));
  }

  Reference comparison(const ExpressionNode& node) {
    const bool words = std::ranges::any_of(node.children, [&](const auto& child) { return is_word(*child); });
    if (!words) return operation(node);
    std::vector<std::uint32_t> operands;
    for (const auto& child : node.children) {
      const bool fits = child->op == Op::name && (is_word(*child) || is_free(*child));
      const Reference operand = fits ? name(*child, true) : Reference();
      if (!operand) return std::nullopt;
      operands.push_back(*operand);
    }
    // `in` compares its first operand with every other: two free names cannot be compared.
    if (is_free(*node.children[0])) {
      for (std::size_t i = 1; i < node.children.size(); ++i) {
        if (is_free(*node.children[i])) return std::nullopt;
      }
    }
    return emit(node, std::move(operands));
  }

  Reference emit(const ExpressionNode& node, std::vector<std::uint32_t> operands) {
    const auto is_constant = [&](std::uint32_t at) { return program_.instructions[at].op == Op::constant; };
    const bool folds = !node.is_real && std::ranges::all_of(operands, is_constant);
    const std::uint32_t at = add({node.op, 0, 0, std::move(operands), node.real, node.is_real, compares_reals(node)});
    if (!folds) return at;
    ArithmeticProblem problem;
    const auto none = [](const Slot&) { return std::int64_t{0}; };  // constants only
    const std::int64_t value = program_.run(at, none, problem);
    return problem.message ? at : constant(value);
  }

  std::uint32_t add(Instruction instruction) {
    program_.instructions.push_back(std::move(instruction));
    return static_cast<std::uint32_t>(program_.instructions.size() - 1);
  }

  Reference constant(std::int64_t value) { return add({Op::constant, 0, value}); }

  Reference name(const ExpressionNode& node, bool as_word) {
    if (const auto at = parameter(node.name)) {
      if (is_word(*at) != as_word) return std::nullopt;
      return slot(*at);
    }
    const Value* value = fixed_.find(node.name);
    if (!value) return as_word ? constant(word_number(node.name)) : Reference();
    if (value->is_string() != as_word) return std::nullopt;
    return constant(as_word ? word_number(value->string()) : value->integer());
  }

  Reference slot(std::size_t parameter) {
    const auto known = slots_.find(parameter);
    if (known != slots_.end()) return known->second;
    Slot slot;
    slot.parameter = parameter;
    for (const Value& value : parameters_[parameter].values) {
      // One kind of value only: name() and is_word() looked at the first.
      if (value.is_string() != parameters_[parameter].values.front().is_string()) return std::nullopt;
      slot.values.push_back(value.is_string() ? word_number(value.string()) : value.integer());
    }
    const auto [low, high] = std::minmax_element(slot.values.begin(), slot.values.end());
    slot.all = {*low, *high, false};
    const auto number = static_cast<std::uint32_t>(program_.slots.size());
    program_.slots.push_back(std::move(slot));
    return slots_[parameter] = add({Op::name, number});
  }

  std::optional<std::size_t> parameter(std::string_view wanted) const {
    const TuningParameter* const found = find_named(parameters_, wanted);
    return found == nullptr ? std::nullopt : std::optional(static_cast<std::size_t>(found - parameters_.data()));
  }

  bool is_word(std::size_t parameter) const { return parameters_[parameter].values.front().is_string(); }

  bool is_word(const ExpressionNode& node) const {
    if (node.op != Op::name) return false;
    if (const auto at = parameter(node.name)) return is_word(*at);
    const Value* value = fixed_.find(node.name);
    return value && value->is_string();
  }

  bool is_free(const ExpressionNode& node) const {
    return node.op == Op::name && !parameter(node.name) && !fixed_.find(node.name);
  }

  std::int64_t word_number(const std::string& word) {
    return words_.emplace(word, static_cast<std::int64_t>(words_.size())).first->second;
  }

  std::span<const TuningParameter> parameters_;
  const Bindings& fixed_;
  Program program_;
  std::map<const ExpressionNode*, std::uint32_t> done_;
  std::map<std::size_t, std::uint32_t> slots_;  // parameter -> instruction that reads it
  std::map<std::string, std::int64_t, std::less<>> words_;
};

}  // namespace

struct CompiledExpression::Impl {
  Expression expression;
  std::span<const TuningParameter> parameters;
  Bindings fixed;
  std::vector<std::size_t> used;
  std::optional<Program> program;  // absent: the tree is evaluated

  Bindings with(Digits digits) const {
    Bindings bindings = fixed;
    for (const std::size_t i : used) bindings.set(parameters[i].name, parameters[i].values[digits[i]]);
    return bindings;
  }
};

CompiledExpression::CompiledExpression(const Expression& expression, std::span<const TuningParameter> parameters,
                                       const Bindings& fixed) {
  auto impl = std::make_shared<Impl>();
  impl->expression = expression;
  impl->fixed = fixed;
  impl->parameters = parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (std::ranges::binary_search(expression.names(), parameters[i].name)) impl->used.push_back(i);
  }
  impl->program = Translator(parameters, fixed).translate(*ExpressionAccess::root(expression));
  impl_ = std::move(impl);
}

CompiledExpression::Verdict CompiledExpression::check(std::span<const std::uint16_t> digits) const {
  if (impl_->program) {
    ArithmeticProblem problem;
    const auto read = [&](const Slot& slot) { return slot.values[digits[slot.parameter]]; };
    const std::int64_t value = impl_->program->run(impl_->program->root, read, problem);
    return problem.message ? Verdict::error : value != 0 ? Verdict::yes : Verdict::no;
  }
  try {
    return impl_->expression.evaluate_boolean(impl_->with(digits)) ? Verdict::yes : Verdict::no;
  } catch (const EvaluationError&) {
    return Verdict::error;
  }
}

bool CompiledExpression::holds(std::span<const std::uint16_t> digits) const {
  const Verdict verdict = check(digits);
  // Only the tree can report the error with its place.
  return verdict == Verdict::error ? impl_->expression.evaluate_boolean(impl_->with(digits)) : verdict == Verdict::yes;
}

bool CompiledExpression::cannot_hold(std::span<const std::uint16_t> digits, std::span<const bool> bound,
                                     bool failing_is_no) const {
  if (!impl_->program) return false;
  const auto range = [&](const Slot& slot) {
    if (!bound[slot.parameter]) return slot.all;
    const std::int64_t value = slot.values[digits[slot.parameter]];
    return Interval{value, value, false};
  };
  const Interval result = impl_->program->bound(impl_->program->root, range);
  return result.surely_zero() && (failing_is_no || !result.may_fail);
}

const std::vector<std::size_t>& CompiledExpression::parameters() const { return impl_->used; }

struct OpenExpression::Impl : Program {};

OpenExpression::OpenExpression(const Expression& expression, std::span<const std::string> open, const Bindings& fixed) {
  // Open names become parameters. Their lists of values are never read.
  std::vector<TuningParameter> parameters;
  for (const std::string& name : open) parameters.push_back({name, {Value(std::int64_t{0})}});
  auto program = Translator(parameters, fixed).translate(*ExpressionAccess::root(expression));
  if (!program) throw EvaluationError(expression.location(), in_quotes(expression.text()) + " has no value");
  impl_ = std::make_shared<const Impl>(Impl{std::move(*program)});
}

std::optional<std::int64_t> OpenExpression::evaluate(const std::int64_t* values) const {
  if (!impl_) return 0;
  ArithmeticProblem problem;
  const auto read = [&](const Slot& slot) { return values[slot.parameter]; };
  const std::int64_t value = impl_->run(impl_->root, read, problem);
  return problem.message ? std::nullopt : std::optional(value);
}

std::optional<double> OpenExpression::evaluate_number(const std::int64_t* values) const {
  if (!impl_) return 0;
  ArithmeticProblem problem;
  const auto read = [&](const Slot& slot) { return values[slot.parameter]; };
  const double value = impl_->run_real(impl_->root, read, problem);
  return problem.message ? std::nullopt : std::optional(value);
}

std::optional<OpenExpression::Range> OpenExpression::range(const std::int64_t* low, const std::int64_t* high) const {
  if (!impl_) return Range{};
  const auto range = [&](const Slot& slot) { return Interval{low[slot.parameter], high[slot.parameter], false}; };
  const Interval result = impl_->bound(impl_->root, range);
  if (result.may_fail) return std::nullopt;
  return Range{result.low, result.high};
}

}  // namespace tuner
